"""Programs that run a command once per item: xargs, find, fd, parallel."""

from __future__ import annotations

import itertools
import math
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.child import HOLE, NOTHING, Child, Unwrapped, joined
from latchd.shell.directories import directories, moved
from latchd.shell.listing import NO_INPUT, Input
from latchd.shell.options import parse_options
from latchd.shell.parse import code_text
from latchd.shell.program_code import inline_code
from latchd.shell.wrappers import Options, names

_XARGS = Options(
    "0rtpxo", "IELnPsdaJRS", "eil",
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
        if word.value.startswith(("-I", "-J")):
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
            where = _directory_of_found(roots) if words[index].value in ("-execdir", "-okdir") else ()
            children.append(Child(tuple(child), head=index + 1, reach=Reach.CONDITIONAL, directories=where))
        index = end + 1
    return Unwrapped(tuple(children))


def _directory_of_found(roots: Sequence[Argument]) -> tuple[Argument, ...]:
    """Where -execdir runs: at the starting point or below it."""
    return tuple(roots) if len(roots) < 2 else (HOLE,)


def fd(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    for index, word in enumerate(words):
        if word.value in ("-x", "-X", "--exec", "--exec-batch") and index + 1 < len(words):
            child = [_filled(item, "{}", (HOLE,)) for item in words[index + 1 :] if item.value != ";"]
            if not any("{" in item.value for item in words[index + 1 :]):
                child.append(HOLE)
            return Unwrapped((Child(tuple(child), head=index + 1, reach=Reach.CONDITIONAL),))
    return NOTHING


MAX_ROWS: Final = 16  # jobs that are listed one by one
_SOURCE = re.compile(r":::\+?\Z|::::\+?\Z")
_PATTERN = re.compile(r"[\w./*?-]+\Z")
_UNKNOWN: Final = '"$_"'  # an unknown word, never code
_PARALLEL: Final = Options(
    values="jnNaISdCPLsEJ",
    long_values=names(
        "jobs max-procs arg-file arg-file-sep argfilesep arg-sep argsep basefile bf block block-size"
        " block-timeout bt colsep compress-program decompress-program delay delimiter env eof filter halt"
        " halt-on-error header joblog jl limit load max-args max-chars max-lines-per-job max-replace-args"
        " memfree memsuspend nice process-slot-var profile recend recstart replace results res return"
        " retries rpl rsync-opts semaphore-name id semaphore-timeout st shard group-by sshdelay ssh sshlogin"
        " sshloginfile slf tagstring tempdir tmpdir template tmpl timeout transferfile tf trc trim wd workdir"
        " sql sqlmaster sqlworker sqlandworker dbmaster dbworker limit total-jobs total"
    ),
    directory=names("--wd --workdir"),
)
_PREVIEWS: Final = names("--dry-run --dryrun")
_PERL: Final = re.compile(r"\{=(.*?)=\}", re.DOTALL)


def parallel(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    """GNU parallel: the template is code for a shell, what it puts in is quoted by it.

    With no template the values themselves are the code.
    """
    index = 1
    while index < len(words) and words[index].value.startswith("-") and words[index].value != "--":
        index += 2 if _takes_next(words[index].value) else 1
    own = words[:index]
    index += index < len(words) and words[index].value == "--"
    end = index
    while end < len(words) and not _SOURCE.match(words[end].value):
        end += 1
    sources = _parallel_sources(words[end:])
    template = joined(words[index:end])
    computed = tuple(_computed(words[index:end]))
    if any(word.value in _PREVIEWS for word in own):
        return Unwrapped(computed)  # the perl in a template runs all the same
    where = directories(words, len(own), _PARALLEL)
    where = (HOLE,) if where and where[-1].value == "..." else where
    if not template:
        found = _parallel_code(sources, end, stdin)
        return msgspec.structs.replace(found, children=moved(found.children, where))
    mark = _value(own, "I", "replace")
    if mark and mark != "{}":
        template = template.replace("{}", '"{""}"').replace(mark, "{}")
    split = bool(_value(own, "C", "colsep"))  # {1} is a part of the value then
    rows = [] if split else _rows(sources)
    texts = dict.fromkeys(_parallel_text(template, row) for row in rows) if rows else {}
    if not texts:
        texts = {_parallel_text(template, (HOLE,)): None}
    children = [
        Child(code=text, head=index, reads=NO_INPUT if sources else Input(True), quotes=True)
        for text in texts
    ]
    return Unwrapped((*moved(children, where), *computed))


def _takes_next(word: str) -> bool:
    """Whether an option of parallel has its value in the word behind it."""
    if word.startswith("--"):
        return word[2:] in _PARALLEL.long_values
    letter = next((at for at, char in enumerate(word) if at and char in _PARALLEL.values), 0)
    return letter == len(word) - 1


def _value(own: Sequence[Argument], short: str, long: str) -> str:
    """The value of an option of parallel, empty without one."""
    for index, word in enumerate(own[1:], 1):
        value = word.value
        if value in (f"-{short}", f"--{long}"):
            return own[index + 1].value if index + 1 < len(own) else ""
        if value.startswith(f"--{long}="):
            return value.partition("=")[2]
        if value.startswith(f"-{short}") and len(value) > 2:
            return value[2:]
    return ""


def _computed(template: Sequence[Argument]) -> Iterator[Child]:
    """What the perl of `{= … =}` starts."""
    for match in _PERL.finditer(" ".join(word.value for word in template)):
        words = (Argument("perl"), Argument("-e"), Argument(match.group(1), expands="\0" in match.group(1)))
        for code in inline_code("perl", words, None).codes:
            yield Child(code=code, reach=Reach.CONDITIONAL, wraps=False)


class _Source(msgspec.Struct, frozen=True):
    values: tuple[Argument, ...] | None  # None = lines of a file, not seen
    linked: bool = False  # goes along with the source before it


def _parallel_sources(words: Sequence[Argument]) -> tuple[_Source, ...]:
    found: list[_Source] = []
    kind, values = "", list[Argument]()
    for word in (*words, Argument(":::")):
        if not _SOURCE.match(word.value):
            values.append(word)
            continue
        if kind:
            seen = None if kind.startswith("::::") else tuple(values)
            found.append(_Source(seen, kind.endswith("+")))
        kind, values = word.value, []
    return tuple(found)


def _rows(sources: Sequence[_Source]) -> list[tuple[Argument, ...]]:
    """One tuple of values per job; none where there are more than are listed or a file gives them."""
    columns: list[list[tuple[Argument, ...]]] = []
    for source in sources:
        values = source.values
        if values is None or any(word.expands and word.globs for word in values):
            return []
        if source.linked and columns:
            longest = max(len(columns[-1]), len(values))
            if not values or longest > MAX_ROWS:
                return []
            last = columns[-1]
            columns[-1] = [(*last[i % len(last)], values[i % len(values)]) for i in range(longest)]
        elif values:
            columns.append([(value,) for value in values])
    if not columns or math.prod(len(column) for column in columns) > MAX_ROWS:
        return []
    return [tuple(word for part in parts for word in part) for parts in itertools.product(*columns)]


def _parallel_text(template: str, row: Sequence[Argument]) -> str:
    def put(match: re.Match[str]) -> str:
        place = match.group(1)
        if not place:
            return " ".join(_shown(word) for word in row)
        number = int(place) if place.isdigit() else 0
        return _shown(row[number - 1]) if 0 < number <= len(row) else _UNKNOWN

    template, computed = re.subn(r"\{=.*?=\}", lambda _: _UNKNOWN, template)
    text, count = re.subn(r"\{([^{}\s,]*)\}", put, template)
    return text if count or computed else " ".join([template, *map(_shown, row)])


def _shown(word: Argument) -> str:
    if "\0" in word.value:
        return _UNKNOWN
    if word.globs:
        return word.value if _PATTERN.match(word.value) else _UNKNOWN
    return code_text(shlex.quote(word.value))


def _parallel_code(sources: Sequence[_Source], end: int, stdin: Input) -> Unwrapped:
    rows = _rows(sources)
    if rows and not any(word.globs for row in rows for word in row):
        return Unwrapped(tuple(Child(code=joined(row), head=end, reads=NO_INPUT) for row in rows))
    if sources or stdin.given:
        return Unwrapped(issues=(Issue.OPAQUE_ARTIFACT,), runs_input=True)
    return NOTHING
