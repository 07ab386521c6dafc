"""Programs that run a command once per item: xargs, find, fd, parallel."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.child import HOLE, NOTHING, Child, Unwrapped, joined
from latchd.shell.listing import Input
from latchd.shell.options import parse_options
from latchd.shell.wrappers import Options

_XARGS = Options(
    "0rtpxo", "IELnPsda", "eil",
    frozenset({"null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty", "show-limits",
        "eof", "replace", "max-lines"}),
    frozenset({"arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"}),
    stops=frozenset({"--help", "--version"}),
)  # fmt: skip


def xargs(words: Sequence[Argument], stdin: Input) -> Unwrapped:
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
            long = word.value.startswith("--")
            pattern = word.value.partition("=")[2] if long else word.value[2:]
            pattern = pattern or "{}"
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


def find(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
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


def fd(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    for index, word in enumerate(words):
        if word.value in ("-x", "-X", "--exec", "--exec-batch") and index + 1 < len(words):
            child = [_filled(item, "{}", (HOLE,)) for item in words[index + 1 :] if item.value != ";"]
            if not any("{" in item.value for item in words[index + 1 :]):
                child.append(HOLE)
            return Unwrapped((Child(tuple(child), head=index + 1, reach=Reach.CONDITIONAL),))
    return NOTHING


_PARALLEL_VALUES = frozenset(
    "-j -n -N -a -I -S -d -C -P -L -s -X --jobs --arg-file --sshlogin --colsep --delay --timeout --retries"
    " --joblog --tmpdir --results --load --max-args --nice --halt".split()
)


def parallel(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    index = 1
    while index < len(words) and words[index].value.startswith("-") and words[index].value != "--":
        index += 2 if words[index].value in _PARALLEL_VALUES else 1
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
    text, count = re.subn(r"\{[^{}]*\}", '"$_"', joined(template))
    return Unwrapped((Child(code=text if count else text + ' "$_"', head=index, reads=Input(True)),))
