"""One command → the commands it runs because its words (or its literal stdin) say so.

Every wrapper is read by its own options. Where they are not understood the best guess is still
listed, but the facts are no longer complete.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.interpreters import embedded
from latchd.shell.listing import Input
from latchd.shell.redirects import code_text
from latchd.shell.wrappers import DANGEROUS, SHELLS, WRAPPERS, Options, Tail

HOLE: Final = Argument("\0", expands=True, globs=True)


class Child(msgspec.Struct, frozen=True):
    """A command inside a command: words, or shell text (bytes view) when ``words`` is None."""

    words: tuple[Argument, ...] | None = None
    code: str = ""
    head: int = 1  # words of the outer command that are the wrapper's own
    reach: Reach = Reach.ALWAYS
    remote: bool = False
    straight: bool = False  # runs in the very shell: eval, source, command, builtin
    reads: Input | None = None  # its stdin, when not the wrapper's own
    wraps: bool = True


class Unwrapped(msgspec.Struct, frozen=True):
    children: tuple[Child, ...] = ()
    issues: tuple[Issue, ...] = ()
    runs_input: bool = False
    suspected: str = ""
    details: tuple[str, ...] = ()
    forgets: bool = False  # code that was not seen ran in this shell


NOTHING: Final = Unwrapped()


def program_name(word: str) -> str:
    """Lower-cased basename."""
    return posixpath.basename(word).lower()


def unwrap(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    """What else runs when this command runs. ``words`` has the program first, a known one."""
    name = program_name(words[0].value)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(words, stdin)
    if name in SHELLS:
        return _shell(words, stdin)
    options = WRAPPERS.get(name)
    if options is not None:
        return _wrapper(words, options, stdin)
    found = embedded(name, words, stdin.text if stdin.given else None)
    children = tuple(Child(code=code, reach=Reach.CONDITIONAL, wraps=False) for code in found.codes)
    return Unwrapped(children, (Issue.OPAQUE_ARTIFACT,) if found.opaque else ())


def suspected_tail(words: Sequence[Argument]) -> str:
    """The tail of an unknown program's words that would be dangerous by itself, or nothing."""
    for index, word in enumerate(words[1:], 1):
        if word.expands or program_name(word.value) not in DANGEROUS or index + 1 >= len(words):
            continue
        return " ".join(item.value for item in words[index:])[:512]
    return ""


def _join(words: Sequence[Argument]) -> str:
    return code_text(" ".join(word.value for word in words))


def _quoted(words: Sequence[Argument]) -> str:
    return " ".join("\x01" if "\0" in word.value else shlex.quote(code_text(word.value)) for word in words)


class _Parsed(msgspec.Struct, frozen=True):
    start: int  # index of the command; len(words) if there is none
    codes: tuple[Argument, ...] = ()
    stopped: bool = False
    unknown: bool = False


def parse_options(words: Sequence[Argument], options: Options, first: int = 1) -> _Parsed:
    """Read a wrapper's options and operands."""
    codes: list[Argument] = []
    operands = options.operands
    unknown = False
    index = first
    while index < len(words):
        value = words[index].value
        if value == "--":
            index += 1
            break
        if value == "-" and not operands and options.assigns:
            index += 1
            continue
        if value in options.stops:
            return _Parsed(len(words), tuple(codes), stopped=True)
        if value.startswith("--"):
            name, equals, rest = value[2:].partition("=")
            flag = _match(name, options.long_flags)
            takes = _match(name, options.long_values) or f"--{name}" in options.codes
            if f"--{name}" in options.codes:
                codes.append(
                    Argument(rest, expands=words[index].expands) if equals else _at(words, index + 1)
                )
            unknown |= not (flag or takes or options.any_long)
            index += 1 if equals or flag or not takes else 2
        elif value.startswith("-") and len(value) > 1:
            step, code, known = _short(words, index, options)
            codes += code
            unknown |= not known
            index += step
        elif options.assigns and "=" in value:
            index += 1
        elif operands and not (codes and options.operands == 1 and index + 1 == len(words)):
            operands -= 1
            index += 1
        else:
            break
    return _Parsed(min(index, len(words)), tuple(codes), unknown=unknown)


def _at(words: Sequence[Argument], index: int) -> Argument:
    return words[index] if index < len(words) else Argument("")


def _match(name: str, known: frozenset[str]) -> bool:
    return name in known or (len(name) > 2 and any(item.startswith(name) for item in known))


def _short(words: Sequence[Argument], index: int, options: Options) -> tuple[int, list[Argument], bool]:
    """Words taken by a cluster of short options, the code among them, and whether all are known."""
    word = words[index]
    value = word.value
    if options.numbers and value[1:].isdigit():
        return 1, [], True
    for place, char in enumerate(value[1:], 1):
        rest = value[place + 1 :]
        if f"-{char}" in options.codes:
            code = Argument(rest, expands=word.expands) if rest else _at(words, index + 1)
            return (1 if rest else 2), [code], True
        if char in options.attached and char not in options.flags:
            return 1, [], True
        if char in options.values:
            return (1 if rest else 2), [], True
        if char not in options.flags:
            return 1, [], False
    return 1, [], True


def _wrapper(words: Sequence[Argument], options: Options, stdin: Input) -> Unwrapped:
    if options.after:
        place = next((i for i, word in enumerate(words) if word.value == options.after), -1)
        if place < 0:
            return Unwrapped(suspected=suspected_tail(words))
        return (
            Unwrapped((Child(tuple(words[place + 1 :]), head=place + 1),))
            if place + 1 < len(words)
            else NOTHING
        )
    parsed = parse_options(words, options)
    if parsed.stopped:
        return NOTHING
    issues = (Issue.UNKNOWN_OPERAND_GRAMMAR,) if parsed.unknown else ()
    tail = tuple(words[parsed.start :])
    children: list[Child] = []
    name = program_name(words[0].value)
    if parsed.codes:
        extra = " " + _quoted(tail) if name == "env" and tail else ""
        children += [Child(code=code_text(code.value) + extra, head=parsed.start) for code in parsed.codes]
        tail = ()
    if name == "flock" and tail and tail[0].value in ("-c", "--command"):
        children.append(Child(code=_join(tail[1:2]), head=parsed.start))
        tail = ()
    if (
        name in ("runuser", "su")
        and tail
        and not (name == "runuser" and any(w.value.startswith("-u") for w in words))
    ):
        return Unwrapped((*children, *_shell((Argument("sh"), *tail), stdin).children), issues)
    if tail and options.tail is Tail.SHELL:
        children.append(Child(code=_join(tail), head=parsed.start, remote=options.remote))
    elif tail:
        straight = name in ("command", "builtin")
        children.append(Child(tail, head=parsed.start, remote=options.remote, straight=straight))
    elif not children and name in ("su", "chroot", "nsenter", "unshare", "script", "runuser") and stdin.given:
        return _input(stdin, issues)
    if (
        name == "sudo"
        and not tail
        and any(re.match(r"-\w*[si]|--(shell|login)", w.value) for w in words[1:])
        and stdin.given
    ):
        return _input(stdin, issues)
    return Unwrapped(tuple(children), issues, suspected=suspected_tail(words) if parsed.unknown else "")


def _input(stdin: Input, issues: tuple[Issue, ...] = ()) -> Unwrapped:
    """A shell that takes its program from stdin."""
    if stdin.text is not None:
        return Unwrapped((Child(code=stdin.text, reads=Input(True)),), issues, runs_input=True)
    return Unwrapped(issues=(*issues, Issue.OPAQUE_ARTIFACT), runs_input=True)


def _shell(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    """bash, sh and kin: -c text, a script, or stdin."""
    index = 1
    from_stdin = command = noexec = False
    issues: tuple[Issue, ...] = ()
    while index < len(words):
        value = words[index].value
        if value in ("--help", "--version"):
            return NOTHING
        if value in ("--rcfile", "--init-file"):
            issues = (Issue.OPAQUE_ARTIFACT,)
            index += 2
        elif value in ("-", "--"):
            index += 1
            break
        elif value == "--command":
            command = True
            index += 1
        elif value.startswith("--"):
            index += 1
        elif value[:1] in ("-", "+") and len(value) > 1:
            letters = value[1:]
            command |= "c" in letters and value[0] == "-"
            from_stdin |= "s" in letters
            noexec |= "n" in letters and value[0] == "-"
            index += 1 + sum(letters.count(letter) for letter in "oO")
        else:
            break
    rest = words[index:]
    if noexec:
        return Unwrapped(issues=issues)
    if command:
        if not rest:
            return Unwrapped(issues=issues)
        return Unwrapped((Child(code=code_text(rest[0].value), head=index),), issues)
    if rest and not from_stdin:
        if rest[0].value in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            return _input(stdin, issues)
        if rest[0].value == "\0" and rest[0].quote.value == "none" and not rest[0].globs:
            issues = (*issues, Issue.OPAQUE_ARTIFACT)  # <(…): its output is the program
            return Unwrapped(issues=issues, runs_input=True)
        return Unwrapped(issues=issues)
    return _input(stdin, issues) if stdin.given or from_stdin else Unwrapped(issues=issues)


def _eval(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    rest = words[2:] if len(words) > 1 and words[1].value == "--" else words[1:]
    return Unwrapped((Child(code=_join(rest), straight=True),)) if rest else NOTHING


def _source(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    rest = [word for word in words[1:] if word.value != "--"]
    if not rest:
        return NOTHING
    if rest[0].value in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        found = _input(stdin)
        return msgspec.structs.replace(found, forgets=True)
    if rest[0].value == "\0":
        return Unwrapped(issues=(Issue.OPAQUE_ARTIFACT,), runs_input=True, forgets=True)
    return Unwrapped(forgets=True)


def _trap(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    rest = [word for word in words[1:] if word.value != "--"]
    if len(rest) < 2 or rest[0].value in ("-", "", "-l", "-p") or rest[0].value.isdigit():
        return NOTHING
    return Unwrapped((Child(code=code_text(rest[0].value), reach=Reach.DEFERRED, wraps=False),))


_XARGS = Options(
    "0rtpxo", "IELnPsda", "eil",
    frozenset({"null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty", "show-limits", "eof", "replace", "max-lines"}),
    frozenset({"arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"}),
    stops=frozenset({"--help", "--version"}),
)  # fmt: skip


def _xargs(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    parsed = parse_options(words, _XARGS)
    if parsed.stopped:
        return NOTHING
    issues = (Issue.UNKNOWN_OPERAND_GRAMMAR,) if parsed.unknown else ()
    tail = words[parsed.start :] or (Argument("echo"),)
    own = words[1 : parsed.start]
    pattern = ""
    for index, word in enumerate(own):
        if word.value.startswith("-I"):
            pattern = word.value[2:] or (own[index + 1].value if index + 1 < len(own) else "")
        elif word.value.startswith(("-i", "--replace")):
            pattern = word.value.partition("=")[2] or word.value[2:].lstrip("-replace") or "{}"
    given = _xargs_words(stdin.text, own) if stdin.text is not None else (HOLE,)
    if pattern:
        child = tuple(_filled(word, pattern, given) for word in tail)
    else:
        child = (*tail, *given)
    return Unwrapped((Child(child, head=parsed.start, reads=Input(True)),), issues)


def _xargs_words(text: str, own: Sequence[Argument]) -> tuple[Argument, ...]:
    if own or "\x01" in text or len(text) > 4096:
        return (HOLE,)
    try:
        return tuple(Argument(word) for word in shlex.split(text))
    except ValueError:
        return (HOLE,)


def _filled(word: Argument, pattern: str, given: Sequence[Argument]) -> Argument:
    if pattern not in word.value:
        return word
    only = given[0].value if len(given) == 1 else "\0"
    value = word.value.replace(pattern, only)
    return Argument(value, word.quote, word.expands or "\0" in value, word.globs)


def _find(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    """find -exec and kin; `{}` stands for something below the starting points."""
    roots: list[Argument] = []
    index = 1
    while index < len(words) and words[index].value in ("-H", "-L", "-P"):
        index += 1
    while index < len(words) and not re.match(r"-.|[(!]\Z", words[index].value):
        roots.append(words[index])
        index += 1
    children: list[Child] = []
    while index < len(words):
        if words[index].value not in ("-exec", "-execdir", "-ok", "-okdir"):
            index += 1
            continue
        end = index + 1
        while (
            end < len(words)
            and words[end].value != ";"
            and not (words[end].value == "+" and words[end - 1].value == "{}")
        ):
            end += 1
        child: list[Argument] = []
        for word in words[index + 1 : end]:
            if word.value == "{}":
                child += [
                    Argument(root.value.rstrip("/") + "/\0", root.quote, True, True)
                    for root in roots or [Argument(".")]
                ]
            else:
                child.append(_filled(word, "{}", (HOLE,)))
        if child:
            children.append(Child(tuple(child), head=index + 1, reach=Reach.CONDITIONAL))
        index = end + 1
    return Unwrapped(tuple(children))


def _fd(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    for index, word in enumerate(words):
        if word.value in ("-x", "-X", "--exec", "--exec-batch") and index + 1 < len(words):
            child = [_filled(item, "{}", (HOLE,)) for item in words[index + 1 :] if item.value != ";"]
            if not any("{" in item.value for item in words[index + 1 :]):
                child.append(HOLE)
            return Unwrapped((Child(tuple(child), head=index + 1, reach=Reach.CONDITIONAL),))
    return NOTHING


def _parallel(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    index = 1
    valued = {"-j", "-n", "-N", "-a", "-I", "-S", "-d", "-C", "-P", "-L", "-s", "-X", "--jobs", "--arg-file", "--sshlogin", "--colsep",
              "--delay", "--timeout", "--retries", "--joblog", "--tmpdir", "--results", "--load", "--max-args", "--nice", "--halt"}  # fmt: skip
    while index < len(words) and words[index].value.startswith("-") and words[index].value != "--":
        index += 2 if words[index].value in valued else 1
    end = index
    while end < len(words) and not re.match(r":::", words[end].value):
        end += 1
    template = words[index:end]
    if not template:
        return (
            Unwrapped(issues=(Issue.OPAQUE_ARTIFACT,), runs_input=True)
            if stdin.given or end < len(words)
            else NOTHING
        )
    # what it puts in is quoted by it: an unknown word, never code
    text, count = re.subn(r"\{[^{}]*\}", '"$_"', _join(template))
    return Unwrapped((Child(code=text if count else text + ' "$_"', head=index, reads=Input(True)),))


_DOCKER_VALUES = frozenset(
    "-e -u -w -v -p -h -l -m -c -a --env --user --workdir --volume --publish --name --network --net --hostname --label --memory"
    " --cpus --entrypoint --env-file --mount --add-host --device --cap-add --cap-drop --restart --platform --ip --dns --log-driver"
    " --log-opt --security-opt --shm-size --tmpfs --ulimit --volumes-from --pid --ipc --userns --gpus --runtime --pull --link"
    " --expose --group-add --cidfile --detach-keys -H --host --context --config -n --namespace -f --file --project-name"
    " --container --kubeconfig --cluster --as --profile --index --log-level --project-directory".split()
)


def _container(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    """docker|podman exec/run, compose exec/run, kubectl exec/debug."""
    index, verb, entry = 1, "", ""
    is_kubectl = program_name(words[0].value) in ("kubectl", "oc")
    operands = 0
    while index < len(words):
        value = words[index].value
        if value == "--" and verb:
            index += 1
            break
        if value.startswith("-"):
            name, equals, rest = value.partition("=")
            if name == "--entrypoint":
                entry = rest if equals else _at(words, index + 1).value
            short = (
                re.match(r"-[a-zA-Z]+\Z", name)
                and not name.startswith("--")
                and "-" + name[-1] in _DOCKER_VALUES
            )
            if is_kubectl and name in ("-p", "-f", "-h", "-l", "-a", "-m", "-u", "-w", "-v", "-e"):
                short = None
            index += 2 if not equals and (name in _DOCKER_VALUES or short) else 1
            continue
        if not verb:
            verb = value if value in ("exec", "run", "debug") else ""
            if not verb and value not in ("compose", "container"):
                return NOTHING
        elif operands == 0:
            operands = 1
        else:
            break
        index += 1
    if not verb or (is_kubectl and verb == "run" and "--" not in [word.value for word in words]):
        return NOTHING
    tail = tuple(words[index:])
    if entry:
        tail = (Argument(entry), *tail)
    if tail:
        return Unwrapped((Child(tail, head=index, remote=True),))
    return NOTHING


_SSH = Options(
    "46AaCfGgKkMNnqsTtVvXxYy", "BbcDEeFIiJLlmOopQRSWw", operands=1, tail=Tail.SHELL, remote=True,
    codes=frozenset(), stops=frozenset({"-V"}),
)  # fmt: skip


def _ssh(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    parsed = parse_options(words, _SSH)
    children: list[Child] = []
    for index, word in enumerate(words[1 : parsed.start], 1):
        setting = word.value[2:] if word.value.startswith("-o") and len(word.value) > 2 else ""
        setting = setting or (word.value if words[index - 1].value == "-o" else "")
        match = re.match(
            r"\s*(ProxyCommand|LocalCommand|KnownHostsCommand)\s*[= ]\s*(.*)",
            setting,
            re.IGNORECASE | re.DOTALL,
        )
        if match:
            children.append(Child(code=code_text(match.group(2)), head=parsed.start))
    # options may stand after the host too
    start = parsed.start
    while start < len(words) and words[start].value.startswith("-") and len(words[start].value) > 1:
        step, _, _ = _short(words, start, _SSH)
        start += step
    tail = words[start:]
    issues = (Issue.UNKNOWN_OPERAND_GRAMMAR,) if parsed.unknown else ()
    if tail:
        children.append(Child(code=_join(tail), head=start, remote=True))
    elif stdin.given and stdin.text is not None and not any(w.value in ("-N", "-n") for w in words):
        children.append(Child(code=stdin.text, head=start, remote=True, reads=Input(True)))
    return Unwrapped(tuple(children), issues)


_GIT_VALUES = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env"}
)
_GIT_CODE = re.compile(
    r"(core\.(pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass)|pager\..*|sequence\.editor|diff\.external"
    r"|diff\..*\.(command|textconv)|merge(tool)?\..*\.(driver|cmd)|difftool\..*\.cmd|filter\..*\.(clean|smudge|process)"
    r"|credential(\..*)?\.helper|gpg(\..*)?\.program|uploadpack\.packobjectshook|remote\..*\.(uploadpack|receivepack))=(.*)\Z",
    re.IGNORECASE | re.DOTALL,
)


def _git(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    children: list[Child] = []
    index = 1
    aliases: dict[str, str] = {}
    while index < len(words) and words[index].value.startswith("-"):
        value = words[index].value
        if value == "-c" and index + 1 < len(words):
            setting = words[index + 1].value
            name, _, body = setting.partition("=")
            if name.lower().startswith("alias."):
                aliases[name[6:]] = body
            match = _GIT_CODE.match(setting)
            if match:
                code = match.groups()[-1].removeprefix("!")
                if not name.lower().endswith("hookspath") and code not in ("", "true", "false"):
                    children.append(Child(code=code_text(code), reach=Reach.CONDITIONAL, wraps=False))
        index += 2 if value in _GIT_VALUES else 1
    verb = _at(words, index).value
    rest = words[index + 1 :]
    issues: tuple[Issue, ...] = ()
    if verb in aliases:
        body = aliases[verb]
        if body.startswith("!"):
            children.append(Child(code=code_text(body[1:]) + " " + _quoted(rest), head=index + 1))
        else:
            parts = tuple(Argument(part, expands="\0" in part) for part in body.split())
            children.append(Child((Argument("git"), *parts, *rest), head=index + 1))
    if verb == "bisect" and rest and rest[0].value == "run":
        children.append(Child(tuple(rest[1:]), head=index + 2, reach=Reach.CONDITIONAL))
    elif verb == "submodule":
        place = next((i for i, word in enumerate(rest) if word.value == "foreach"), -1)
        body_words = [
            word for word in rest[place + 1 :] if word.value not in ("--recursive", "--quiet", "-q")
        ]
        if place >= 0 and body_words:
            children.append(Child(code=_join(body_words), head=index + 2, reach=Reach.CONDITIONAL))
    elif verb in (
        "rebase",
        "filter-branch",
        "difftool",
        "mergetool",
        "grep",
        "clone",
        "fetch",
        "pull",
        "push",
        "ls-remote",
        "archive",
    ):
        children += _git_options(verb, rest)
    return Unwrapped(tuple(children), issues)


_GIT_OPTION_CODE: Final = {
    "rebase": ("-x", "--exec"),
    "filter-branch": ("--tree-filter", "--index-filter", "--env-filter", "--msg-filter", "--commit-filter", "--parent-filter",
                      "--tag-name-filter", "--setup"),
    "difftool": ("-x", "--extcmd"),
    "grep": ("-O", "--open-files-in-pager"),
    "clone": ("-u", "--upload-pack"), "fetch": ("--upload-pack",), "pull": ("--upload-pack",),
    "push": ("--receive-pack", "--exec"), "ls-remote": ("--upload-pack", "--exec"), "archive": ("--exec",),
}  # fmt: skip


def _git_options(verb: str, rest: Sequence[Argument]) -> list[Child]:
    children: list[Child] = []
    names = _GIT_OPTION_CODE.get(verb, ())
    for index, word in enumerate(rest):
        name, equals, value = word.value.partition("=")
        code = ""
        if word.value in names and word.value != "-O":
            code = _at(rest, index + 1).value
        elif equals and name in names:
            code = value
        elif (verb in ("rebase", "difftool") and word.value.startswith("-x") and len(word.value) > 2) or (verb == "grep" and word.value.startswith("-O")):
            code = word.value[2:]
        if code:
            children.append(Child(code=code_text(code), reach=Reach.CONDITIONAL, wraps=False))
    return children


_TMUX = re.compile(
    r"new(-session|-window)?\Z|neww\Z|split-window\Z|splitw\Z|respawn-(pane|window)\Z|run(-shell)?\Z|if-shell\Z|popup\Z|display-popup\Z"
)


def _tmux(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    index = next((i for i, word in enumerate(words) if i and _TMUX.match(word.value)), -1)
    if index < 0:
        return NOTHING
    place = index + 1
    while place < len(words) and words[place].value.startswith("-"):
        place += (
            2
            if words[place].value[-1] in "sntFcexyTlbSdp" and words[place].value not in ("-d", "-b", "-P")
            else 1
        )
    tail = words[place:]
    return Unwrapped((Child(code=_join(tail), head=place, reach=Reach.BACKGROUND),)) if tail else NOTHING


def _screen(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    index = 1
    while index < len(words) and words[index].value.startswith("-"):
        value = words[index].value
        index += 2 if re.match(r"-(S|c|e|h|p|s|t|T|\w*S)\Z", value) else 1
    tail = tuple(words[index:])
    return Unwrapped((Child(tail, head=index, reach=Reach.BACKGROUND),)) if tail else NOTHING


_SPECIAL: Final[dict[str, Callable[[Sequence[Argument], Input], Unwrapped]]] = {
    "eval": _eval,
    "source": _source,
    ".": _source,
    "trap": _trap,
    "xargs": _xargs,
    "find": _find,
    "gfind": _find,
    "fd": _fd,
    "fdfind": _fd,
    "parallel": _parallel,
    "docker": _container,
    "podman": _container,
    "nerdctl": _container,
    "docker-compose": _container,
    "kubectl": _container,
    "oc": _container,
    "ssh": _ssh,
    "autossh": _ssh,
    "git": _git,
    "tmux": _tmux,
    "screen": _screen,
}
