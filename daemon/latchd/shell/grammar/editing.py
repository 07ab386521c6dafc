"""Stream editors: sed and awk carry small programs that can write files and start commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Access, Argument, NetAction, Operation
from latchd.shell.grammar.description import Contact, Context, Description, Target, unique
from latchd.shell.grammar.inline import secret_name
from latchd.shell.grammar.options import Parsed, literal, piece
from latchd.shell.grammar.program import aimed, executes, program
from latchd.shell.grammar.removals import removals

_STDIN: Final = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))


def _from_stdin(files: Sequence[Argument], context: Context) -> bool:
    """Whether one of the files that hold commands is what comes through a pipe."""
    return context.piped and any(word.value in _STDIN for word in files)


def _seds(parsed: Parsed, context: Context) -> Description:
    """sed: the first operand is the script unless -e or -f gave it; -i rewrites every file."""
    scripts = list(parsed.values("expression"))
    files = parsed.operands
    if not parsed.has("expression", "file"):
        scripts, files = list(files[:1]), files[1:]
    operations: list[Operation] = []
    targets = [*aimed(Access.READ, parsed.values("file")), *aimed(Access.READ, files)]
    details: list[str] = []
    if parsed.has("in-place"):
        targets += aimed(Access.WRITE, files)
        details.append("in-place")
        operations.append(Operation.WRITE)
    for script in scripts:
        written, runs = sed_effects(script.value)
        targets += [Target(Access.WRITE, literal(name)) for name in written]
        operations += [Operation.WRITE] if written else []
        if runs and not parsed.has("sandbox"):
            operations.append(Operation.EXECUTE)
            details.append("inline-code")
        if script.expands:
            details.append("opaque-code")
    if parsed.has("file"):
        details.append("opaque-code")
    if _from_stdin(parsed.values("file"), context):
        operations += [Operation.EXECUTE, Operation.RUN_INPUT]
    if any(target.access is Access.READ for target in targets):
        operations.insert(0, Operation.READ)
    return Description(
        known=True,
        operations=unique(operations),
        targets=tuple(targets),
        details=tuple(dict.fromkeys(details)),
        reads_stdin=not files,
        writes_stdout=not parsed.has("in-place"),
    )


def sed_effects(script: str) -> tuple[list[str], bool]:
    """Files that a sed script writes (``w`` and ``s///w``), and whether it runs commands (``e``).

    Walks commands as sed does: addresses are skipped, delimiters and escapes honoured, text of a i c
    is passed over. What is not understood ends the walk.
    """
    written: list[str] = []
    runs = False
    at = 0
    while at < len(script):
        at = _skip_address(script, at)
        if at >= len(script):
            break
        command = script[at]
        at += 1
        if command in "sy":
            flags, at = _after_parts(script, at)
            if command == "s":
                runs = runs or "e" in flags.partition("w")[0]
                if "w" in flags:
                    written.append(flags.partition("w")[2].strip())
        elif command in "wW":
            end = _line_end(script, at)
            written.append(script[at:end].strip())
            at = end
        elif command == "e":
            runs = True
            at = _line_end(script, at)
        elif command in "aicrRbtT:":
            at = _line_end(script, at) if command in "aicrR:" else _statement_end(script, at)
        elif command == "#":
            at = _line_end(script, at)
    return [name for name in dict.fromkeys(written) if name], runs


def _skip_address(script: str, at: int) -> int:
    while at < len(script):
        mark = script[at]
        if mark in " \t\n;{},!$~+" or mark.isdigit():
            at += 1
        elif mark == "/" or (mark == "\\" and at + 1 < len(script)):
            delimiter = mark if mark == "/" else script[at + 1]
            at = _part_end(script, at + (1 if mark == "/" else 2), delimiter) + 1
            while at < len(script) and script[at] in "IM":
                at += 1
        else:
            return at
    return at


def _part_end(script: str, at: int, delimiter: str) -> int:
    """The place of the next unescaped delimiter; inside brackets it does not count."""
    bracket = False
    while at < len(script):
        mark = script[at]
        if mark == "\\":
            at += 2
            continue
        if mark == "[":
            bracket = True
        elif mark == "]":
            bracket = False
        elif mark == delimiter and not (bracket and "]" in script[at:] and delimiter not in "|,#"):
            return at
        at += 1
    return len(script)


def _after_parts(script: str, at: int) -> tuple[str, int]:
    """The flags after ``s/a/b/`` and where they end."""
    if at >= len(script):
        return "", at
    delimiter = script[at]
    middle = _part_end(script, at + 1, delimiter)
    end = min(_part_end(script, middle + 1, delimiter) + 1, len(script))
    stop = end
    while stop < len(script) and script[stop] not in ";}\n w":
        stop += 1
    if stop < len(script) and script[stop] == "w":
        stop = _line_end(script, stop)
    return script[end:stop], stop


def _line_end(script: str, at: int) -> int:
    end = script.find("\n", at)
    return len(script) if end < 0 else end


def _statement_end(script: str, at: int) -> int:
    while at < len(script) and script[at] not in ";}\n":
        at += 1
    return at


def _awks(parsed: Parsed, context: Context) -> Description:
    """awk: the first operand is the program unless -f; NAME=VALUE operands are no files."""
    code = [word.value for word in parsed.values("source")]
    files = parsed.operands
    expanding = any(word.expands for word in parsed.values("source"))
    if not parsed.has("file", "source", "exec"):
        code = [word.value for word in files[:1]]
        expanding = any(word.expands for word in files[:1])
        files = files[1:]
    named = tuple(word for word in files if not _is_assignment(word.value))
    effects = [awk_effects(text) for text in code]
    targets: list[Target] = [
        *aimed(Access.READ, parsed.values("file", "exec", "include")),
        *aimed(Access.READ, named),
    ]
    operations: list[Operation] = [Operation.READ] if targets else []
    if "inplace" in [word.value for word in parsed.values("include")]:
        targets = [*aimed(Access.READ, named), *aimed(Access.WRITE, named)]
        operations.append(Operation.WRITE)
    details: list[str] = ["opaque-code"] if expanding or parsed.has("file", "exec") else []
    contacts: list[Contact] = []
    if _from_stdin(parsed.values("file", "exec"), context):
        operations += [Operation.EXECUTE, Operation.RUN_INPUT]
    for operation, found in (pair for effect in effects for pair in effect):
        operations.append(operation)
        if operation is Operation.CONNECT:
            contacts.append(Contact(NetAction.CONNECT, literal(found)))
        elif found:
            access = Access.READ if operation is Operation.READ else Access.WRITE
            targets.append(Target(access, literal(found)))
        if operation is Operation.EXECUTE:
            details.append("inline-code")
    return Description(
        known=True,
        operations=unique(operations),
        targets=tuple(targets),
        contacts=tuple(contacts),
        details=tuple(dict.fromkeys(details)),
        reads_stdin=not named and not all(text.lstrip().startswith("BEGIN") for text in code),
    )


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


_ONE_VARIABLE: Final = re.compile(r"\bENVIRON\[\"([A-Za-z_]\w{0,63})\"\]")


def awk_effects(code: str) -> list[tuple[Operation, str]]:
    """Effects of an awk program: files printed to, commands, sockets, the environment.

    A word ``ENVIRON``, ``system(``, ``| getline`` or ``print … | "cmd"`` outside strings and regular
    expressions counts; a redirection counts when a string literal follows ``>``.
    """
    found: list[tuple[Operation, str]] = []
    bare, strings = _awk_parts(code)
    if bare.count("ENVIRON") > sum(not secret_name(name) for name in _ONE_VARIABLE.findall(code)):
        found.append((Operation.ENVIRONMENT_READ, ""))
    tight = bare.replace(" ", "").replace("\t", "")
    if "system(" in tight or "|getline" in tight or '|"' in tight or "|&" in tight:
        found.append((Operation.EXECUTE, ""))
    for before, text in strings:
        if text.startswith("/inet"):
            parts = text.split("/")
            found.append((Operation.CONNECT, ":".join(parts[4:6])))
        elif before.endswith(">") and not before.endswith(("=>",)):
            if text not in ("/dev/stderr", "/dev/stdout", "/dev/null"):
                found.append((Operation.WRITE, text))
        elif before.endswith("<") and "getline" in before:
            found.append((Operation.READ, text))
    return found


def _awk_parts(code: str) -> tuple[str, list[tuple[str, str]]]:
    """The code with strings emptied, and each string with the code ahead of it."""
    bare: list[str] = []
    strings: list[tuple[str, str]] = []
    at = 0
    while at < len(code):
        mark = code[at]
        if mark == "#":
            at = _line_end(code, at)
        elif mark == '"':
            end = at + 1
            while end < len(code) and code[end] != '"':
                end += 2 if code[end] == "\\" else 1
            strings.append(("".join(bare[-40:]).rstrip(), code[at + 1 : end]))
            bare.append('""')
            at = end + 1
        else:
            bare.append(mark)
            at += 1
    return "".join(bare), strings


_COMMAND: Final = re.compile(
    r"[:%\d,$]*(?P<verb>w|write|sav|saveas|r|read|e|edit|sp|split|vs|vsplit|tabe|tabedit|so|source)!?\s+"
    r"(?:>>\s*)?(?P<path>[^\s!|][^|]*)"
)
_WRITING: Final = frozenset(("w", "write", "sav", "saveas"))


def _by_command(word: Argument) -> tuple[Target, ...]:
    """The file that a command of vi names."""
    found = _COMMAND.match(word.value.strip())
    if found is None:
        return ()
    path = found["path"].strip()
    file = Argument(value=path, expands="\0" in path)
    return (Target(Access.WRITE if found["verb"] in _WRITING else Access.READ, file),)


def _edits(parsed: Parsed, context: Context) -> Description:
    """A person's editor: may write the files it is given; -c and + commands can run anything."""
    files = tuple(word for word in parsed.operands if not word.value.startswith("+"))
    runs = parsed.has("c", "command", "cmd", "eval", "execute", "e", "f", "l", "load") or len(files) < len(
        parsed.operands
    )
    base = executes(parsed, context)
    commands = (
        *parsed.values("c", "command", "cmd"),
        *(piece(word, 1) for word in parsed.operands if word.value.startswith("+")),
    )
    fed = _from_stdin(parsed.values("S", "script", "l", "load", "u"), context)
    evaluated = (*commands, *parsed.values("eval", "execute"))
    removed = tuple(target for word in evaluated for target in removals(word).targets)
    return Description(
        known=True,
        operations=(
            *base.operations,
            *((Operation.RUN_INPUT,) if fed else ()),
            *((Operation.DELETE,) if removed else ()),
        ),
        targets=(
            *(
                target
                for word in files
                for target in (Target(Access.READ, word), Target(Access.APPEND, word))
            ),
            *(target for word in commands for target in _by_command(word)),
            *removed,
        ),
        details=("opaque-code",) if runs else (),
    )


def _edits_lines(parsed: Parsed, context: Context) -> Description:
    """ed and ex: as the others, and what comes through a pipe are their commands."""
    described = _edits(parsed, context)
    if not context.piped or context.text is not None:
        return described
    return msgspec.structs.replace(
        described, operations=unique((*described.operations, Operation.RUN_INPUT)), reads_stdin=True
    )


def _patches(parsed: Parsed, _context: Context) -> Description:
    """patch: files named in the patch are rewritten; only the first operand is known here."""
    read = (*parsed.values("input"), *parsed.operands[1:2])
    dry = parsed.has("dry-run", "C")
    written: tuple[Argument, ...] = (*parsed.operands[:1], *parsed.values("output"))
    targets = (*aimed(Access.READ, read), *(() if dry else aimed(Access.WRITE, written)))
    return Description(
        known=True,
        operations=(Operation.READ,) if dry else (Operation.READ, Operation.WRITE),
        targets=targets,
        reads_stdin=not read,
    )


PROGRAMS: Final = (
    program(
        "sed gsed",
        "n,quiet,silent e,expression= f,file= E,r,regexp-extended i,in-place? l,line-length= "
        "s,separate u,unbuffered "
        "z,null-data posix debug sandbox b,binary follow-symlinks a",
        _seds,
        {
            "sed s/a/b/ f": "read read:f",
            "sed -i s/a/b/ f g": "read write read:f read:g write:f write:g +in-place >none",
            "sed -i.bak -e s/a/b/ f": "read write read:f write:f +in-place >none",
            "sed -n 's/a/b/w out' f": "read write read:f write:out",
            "sed 1e f": "read execute read:f +inline-code",
            "sed 's/x/date/e' f": "read execute read:f +inline-code",
            "sed -n -e /a/p -e '$p'": "<stdin",
            "sed -f prog f": "read read:prog read:f +opaque-code",
            "sed 's|/etc/w|e|g' f": "read read:f",
            "| sed -f - f": "read execute run_input read:f +opaque-code",
        },
    ),
    program(
        "awk gawk mawk nawk original-awk goawk",
        "~ F,field-separator= v,assign= f,file= e,source= E,exec= i,include= l,load= m= W=",
        _awks,
        {
            "awk '{print $1}' f": "read read:f",
            "awk -F: -v x=1 '{print x}' y=2 f": "read read:f",
            "awk 'BEGIN{system(\"rm x\")}'": "execute +inline-code",
            "awk '{print > \"out\"}' f": "read write read:f write:out",
            "awk 'BEGIN{print ENVIRON[\"HOME\"]}'": "",
            "awk 'BEGIN{print ENVIRON[\"API_KEY\"]}'": "environment_read",
            "awk 'BEGIN{for (v in ENVIRON) print ENVIRON[v]}'": "environment_read",
            "awk -f p.awk f": "read read:p.awk read:f +opaque-code",
            "awk '$3 > 5' f": "read read:f",
            "| awk -f - f": "read execute run_input read:f +opaque-code",
            "awk 'BEGIN{s=\"/inet/tcp/0/example.com/80\"; print | s}'": "connect connect@example.com:80",
        },
    ),
    program(
        "vi vim nvim view nano pico emacs micro helix hx kak joe mcedit code subl gedit",
        "~ c= cmd= S= u= eval= f= l= load= execute= e script=",
        _edits,
        {
            "vim a": "execute read:a append:a",
            "vim -c :q a": "execute read:a append:a +opaque-code",
            "vim -c ':w! ~/x' a": "execute read:a append:a write:~/x +opaque-code",
            "vim '+r .env' -c q": "execute read:.env +opaque-code",
            "nano +5 a": "execute read:a append:a +opaque-code",
            "| emacs --script /dev/stdin": "execute run_input",
            "emacs --batch --eval '(delete-directory \"/x\" t)'": "execute delete delete:/x/** +opaque-code",
            'vim -c \'call delete("/x", "rf")\'': "execute delete delete:/x/** +opaque-code",
        },
    ),
    program(
        "ex ed red",
        "~ c= cmd= S= u= p,prompt= s,quiet,silent",
        _edits_lines,
        {
            "ed a": "execute read:a append:a",
            "ex -sc 'w! ~/x' a": "execute read:a append:a write:~/x +opaque-code",
            "| ed -s a": "execute run_input read:a append:a <stdin",
        },
    ),
    program(
        "patch gpatch",
        "~ p,strip= i,input= o,output= d,directory= F,fuzz= r,reject-file= B,prefix= Y= z,suffix= "
        "D,ifdef= dry-run C",
        _patches,
        {
            "patch -p1": "read write <stdin",
            "patch -p1 -i fix.diff": "read write read:fix.diff",
            "patch a fix.diff": "read write read:fix.diff write:a",
            "patch --dry-run -p0": "read <stdin",
        },
    ),
)
