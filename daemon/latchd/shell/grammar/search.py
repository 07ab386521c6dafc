"""Programs that look through trees and files: find, fd, grep and their kin."""

from __future__ import annotations

from typing import Final

from latch_contracts.facts import Access, Argument, Operation
from latchd.shell.grammar.description import Context, Description, Target, unique
from latchd.shell.grammar.options import Parsed, Style, literal
from latchd.shell.grammar.program import aimed, program

_FIND_VALUES: Final = frozenset(
    "amin anewer atime cmin cnewer ctime fstype gid group ilname iname inum ipath iregex iwholename "
    "links lname "
    "maxdepth mindepth mmin mtime name newer path perm printf regex regextype samefile size type uid "
    "used user "
    "wholename xtype context files0-from Bmin Bnewer Btime flags".split()
)
_FIND_RUNS: Final = frozenset(("exec", "execdir", "ok", "okdir"))


def _finds(parsed: Parsed, _context: Context) -> Description:
    """find: start points come first, then an expression; -delete removes what it matches."""
    words = parsed.words
    at = 0
    while (at < len(words) and words[at].value in ("-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x")) or (
        at < len(words) and words[at].value.startswith(("-D", "-O"))
    ):
        at += 1
    starts: list[Argument] = []
    while at < len(words) and not _starts_expression(words[at].value):
        starts.append(words[at])
        at += 1
    operations = [Operation.SEARCH]
    details: list[str] = []
    written: list[Argument] = []
    deletes = False
    matched: list[Argument] = []
    loose = 0  # alternatives, and negations that undo any narrowing
    while at < len(words):
        name = words[at].value.removeprefix("-") if words[at].value.startswith("-") else ""
        at += 1
        if name in _FIND_RUNS:
            details.append("child-command")
            operations.append(Operation.EXECUTE)
            while at < len(words) and words[at].value not in (";", "+"):
                at += 1
            at += 1
        elif name == "delete":
            deletes = True
        elif name in ("fprint", "fls", "fprint0", "fprintf") and at < len(words):
            written.append(words[at])
            at += 2 if name == "fprintf" else 1
        elif name in ("o", "or"):
            loose += 1
        elif name == "not" or words[at - 1].value in ("!", ","):
            loose += len(words)
        elif name in _FIND_VALUES or name.startswith("newer"):
            if name in ("name", "iname") and at < len(words):
                matched.append(words[at])
            at += 1
    places = tuple(starts) or (literal("."),)
    targets = [Target(Access.LIST, word, recursive=True) for word in places]
    if deletes:
        operations.append(Operation.DELETE)
        details.append("recursive")
        targets += _deleted(places, matched if len(matched) > loose else [])
    if written:
        operations.append(Operation.WRITE)
        targets += aimed(Access.WRITE, written)
    return Description(
        known=True,
        operations=unique(operations),
        targets=tuple(targets),
        details=tuple(dict.fromkeys(details)),
    )


def _deleted(places: tuple[Argument, ...], matched: list[Argument]) -> list[Target]:
    """What -delete takes: everything below, or only ``place/**/name`` where every branch has a -name."""
    if not matched or any(name.value.strip("*") == "" for name in matched):
        return [Target(Access.DELETE, word, recursive=True) for word in places]
    return [
        Target(
            Access.DELETE,
            Argument(
                value=f"{place.value.rstrip('/')}/**/{name.value}",
                expands=place.expands or name.expands,
                globs=True,
            ),
        )
        for place in places
        for name in matched
    ]


def _starts_expression(word: str) -> bool:
    return (word.startswith("-") and len(word) > 1) or word in ("(", ")", "!", ",", "\\(", "\\!")


_FD_EXECS: Final = frozenset(("-x", "-X", "--exec", "--exec-batch"))


def _fd(parsed: Parsed, _context: Context) -> Description:
    """fd: PATTERN, then roots; -x and -X run a command that takes every word after it."""
    at = next((at for at, word in enumerate(parsed.words) if word.value in _FD_EXECS), len(parsed.words))
    own = parsed.words[:at]
    words = tuple(word for word in parsed.operands if any(word is each for each in own))
    roots = (*parsed.values("search-path", "base-directory"), *words[1:]) or (literal("."),)
    if parsed.has("exec", "exec-batch"):
        return Description(
            known=True,
            operations=(Operation.SEARCH, Operation.EXECUTE),
            targets=tuple(Target(Access.LIST, word, recursive=True) for word in roots),
            details=("child-command",),
        )
    return Description(
        known=True,
        operations=(Operation.SEARCH,),
        targets=tuple(Target(Access.LIST, word, recursive=True) for word in roots),
    )


def _greps(parsed: Parsed, context: Context) -> Description:
    """grep: the first operand is the pattern unless -e or -f gave it."""
    patterns = parsed.values("file")
    files = parsed.operands if parsed.has("regexp", "file") else parsed.operands[1:]
    return _searched(parsed, files, patterns, parsed.has("recursive", "dereference-recursive"), context)


def _ripgreps(parsed: Parsed, context: Context) -> Description:
    """rg, ag, ack: recursive by themselves; without paths they take the current directory."""
    if parsed.has("files", "type-list"):
        roots = parsed.operands or (literal("."),)
        return Description(
            known=True,
            operations=(Operation.SEARCH,),
            targets=tuple(Target(Access.LIST, word, recursive=True) for word in roots),
        )
    files = parsed.operands if parsed.has("regexp", "file") else parsed.operands[1:]
    found = _searched(parsed, files, parsed.values("file"), True, context)
    if not parsed.has("pre", "pager"):
        return found
    return Description(
        known=True,
        operations=(*found.operations, Operation.EXECUTE),
        targets=found.targets,
        details=("child-command",),
    )


def _searched(
    parsed: Parsed,
    files: tuple[Argument, ...],
    patterns: tuple[Argument, ...],
    recursive: bool,
    context: Context,
) -> Description:
    stdin = not files and not (recursive and not context.piped)
    places = files or (() if stdin else (literal("."),))
    targets = (
        *aimed(Access.READ, patterns),
        *aimed(Access.READ, places, recursive=recursive),
    )
    return Description(
        known=True,
        operations=(Operation.SEARCH, *((Operation.READ,) if targets else ())),
        targets=targets,
        details=("names-only",) if parsed.has("files-with-matches", "count", "quiet") else (),
        reads_stdin=stdin or any(word.value == "-" for word in files),
    )


_GREP: Final = (
    "# ~ e,regexp= f,file= m,max-count= A,after-context= B,before-context= C,context= D,devices= "
    "d,directories= "
    "binary-files= color? colour? include= exclude= exclude-from= exclude-dir= label= r,recursive "
    "R,dereference-recursive l,files-with-matches L,files-without-match c,count q,quiet,silent"
)

PROGRAMS: Final = (
    program(
        "find gfind",
        "~",
        _finds,
        {
            "find . -name x": "search list:./**",
            "find . -name '*.pyc' -delete": "search delete list:./** delete:./**/*.pyc +recursive",
            "find . ! -name '*.pyc' -delete": "search delete list:./** delete:./** +recursive",
            "find / -type f -delete": "search delete list://** delete://** +recursive",
            "find -L src lib ( -name a -o -name b ) -print0": "search list:src/** list:lib/**",
            "find": "search list:./**",
            "find a -exec rm {} ;": "search execute list:a/** +child-command",
            "find a -fprint out -name -delete": "search write list:a/** write:out",
            "find a -exec cat {} + -delete": (
                "search execute delete list:a/** delete:a/** +child-command +recursive"
            ),
            "find --help": "preview",
        },
        style=Style.DASHED,
    ),
    program(
        "fd fdfind",
        "~ t,type= e,extension= E,exclude= d,max-depth= min-depth= exact-depth= S,size= o,owner= "
        "changed-within= "
        "changed-before= c,color= j,threads= search-path= base-directory= x,exec X,exec-batch "
        "max-results= format=",
        _fd,
        {
            "fd -e py x src": "search list:src/**",
            "fd x -x rm": "search execute list:./** +child-command",
            "fd . /a -x rm -rf": "search execute list:/a/** +child-command",
            "fd": "search list:./**",
        },
    ),
    program(
        "grep egrep fgrep zgrep zegrep zfgrep bzgrep xzgrep ggrep rgrep pcregrep pcre2grep",
        _GREP,
        _greps,
        {
            "grep x a b": "search read read:a read:b",
            "grep -e x -f pats a": "search read read:pats read:a",
            "grep -rn x": "search read read:./**",
            "| grep -q x": "search +names-only <stdin",
            "grep -A3 -- -x a": "search read read:a",
            "grep -R x src --include *.py": "search read read:src/**",
            "grep -5 x a": "search read read:a",
        },
    ),
    program(
        "rg ag ack ack-grep ugrep",
        "~ e,regexp= f,file= A,after-context= B,before-context= C,context= g,glob= iglob= m,max-count= "
        "t,type= "
        "T,type-not= M,max-columns= r,replace= E,encoding= j,threads= d,max-depth= pre= pre-glob= "
        "color= colors= "
        "sort= sortr= max-filesize= type-add= ignore-file= l,files-with-matches c,count files "
        "type-list q,quiet "
        "G,file-search-regex= depth= ignore= pager= engine= context-separator=",
        _ripgreps,
        {
            "rg x": "search read read:./**",
            "rg -t py x src": "search read read:src/**",
            "| rg x": "search <stdin",
            "rg --files src": "search list:src/**",
            "rg --pre ./run x": "search read execute read:./** +child-command",
            "ag -l x a": "search read read:a/** +names-only",
        },
    ),
)
