"""Simple commands: words into a raw command, then everything that it runs in turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument, End, Issue, Kind, Reach, Wrapper
from latchd.shell.assignments import assign, assignments, prefix_details
from latchd.shell.builtins import apply_builtin, evaluates
from latchd.shell.child import HOLE, Child, Unwrapped, gone_to, is_open, program_name, quoted, suspected_tail
from latchd.shell.lex import Code, Style, lex
from latchd.shell.listing import SOME_INPUT, Edge, Input, Listing, Raw, Scope
from latchd.shell.outputs import output_text
from latchd.shell.parse import Node, Program
from latchd.shell.redirects import Redirected, is_descriptor, read_redirects
from latchd.shell.shells import is_stream
from latchd.shell.substituted import printed, read
from latchd.shell.unwrap import unwrap
from latchd.shell.variables import Value, Variables
from latchd.shell.words import Word, read_word
from latchd.shell.wrappers import SHELLS
from latchd.shell.written import list_script, note_writes

MAX_WRAPPERS: Final = 8
MAX_WORDS: Final = 1024
MAX_ALL_WORDS: Final = 4096  # of all commands: nested code is read word by word at each level
MAX_HEAD: Final = 32  # words of a wrapper that are kept with its child
_REDIRECTS: Final = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})
_STRAIGHT: Final = frozenset({"eval", "source", ".", "command", "builtin"})
_CHANGERS: Final = frozenset({"set", "shift", "eval", "source", "."})
_DORMANT = re.compile(r"\$\(|`|\$\{")


class Call(msgspec.Struct):
    """A simple command on its way to the listing."""

    arguments: tuple[Argument, ...]
    codes: tuple[Code, ...] = ()
    streams: dict[int, Code | str] = {}  # words that are `<(…)`, by their place: the code, or what it gives
    redirected: Redirected = msgspec.field(default_factory=Redirected)
    sources: tuple[int, ...] = ()
    details: tuple[str, ...] = ()
    remote: bool = False
    name_is_bare: bool = True  # could be an alias


def command(
    listing: Listing,
    program: Program,
    node: Node,
    redirects: Sequence[Node],
    scope: Scope,
    variables: Variables,
) -> tuple[int, ...]:
    """A `command` node with the redirections that stand beside it."""
    own = [child for child in node.children if child.kind in _REDIRECTS]
    redirected = read_redirects(listing, program, [*own, *redirects], variables)
    settings = assignments(program, node)
    spans = [
        (child.start, child.end)
        for child in node.children
        if child.kind not in _REDIRECTS and child not in settings
    ]
    spans = _few(listing, _words(program.text, spans + redirected.extra))
    words = read(listing, program, spans, variables)
    prefix = variables.copy()
    names = tuple(assign(listing, program, child, scope, prefix) for child in settings)
    details = prefix_details(names)
    seen = variables.copy()
    ids = emit(listing, program, _call(listing, words, redirected, details), scope, variables)
    text = program.text[node.start : max(redirect.end for redirect in (node, *redirects))]
    if "${" not in text and all(value.default is None for value in seen.values.values()):
        return ids
    seen.defaults = True
    others = read(listing, program, spans, seen)
    again = read_redirects(listing, program, [*own, *redirects], seen)
    other = msgspec.structs.replace(_call(listing, others, again, details), codes=())
    return ids + _with_defaults(listing, listing.commands[ids[0] - 1], other, scope, seen)


def _with_defaults(
    listing: Listing, raw: Raw, other: Call, scope: Scope, variables: Variables
) -> tuple[int, ...]:
    """The command once more as it is where ${X:-word} is the word, if that is another one."""
    redirects = tuple(other.redirected.redirects)
    if (other.arguments, redirects) == (raw.words, raw.redirects) or not listing.affords(1):
        return ()
    maybe = scope.within(Reach.CONDITIONAL)
    return emit(listing, None, other, maybe, variables.copy())


def words(
    listing: Listing, program: Program, redirected: Redirected, scope: Scope, variables: Variables
) -> tuple[int, ...]:
    """A command whose words all stand behind a redirection: `<in program`."""
    spans = _few(listing, _words(program.text, redirected.extra))
    found = read(listing, program, spans, variables)
    return emit(listing, program, _call(listing, found, redirected, ()), scope, variables)


def declaration(
    listing: Listing,
    program: Program,
    node: Node,
    redirects: Sequence[Node],
    scope: Scope,
    variables: Variables,
) -> tuple[int, ...]:
    """export, declare, local, readonly, typeset, unset: builtins with a syntax of their own."""
    own = [child for child in node.children if child.kind in _REDIRECTS]
    redirected = read_redirects(listing, program, [*own, *redirects], variables)
    spans = [(child.start, child.end) for child in node.children if child.kind not in _REDIRECTS]
    found: list[Word] = []
    for start, end in _few(listing, _words(program.text, spans + redirected.extra)):
        array = re.match(r"[A-Za-z_]\w*(\[[^\]]*\])?\+?=\(", program.text[start:end])
        if array:
            lexed = lex(program.text, start, end, program.spans, Style.LOOSE)
            found.append(
                Word((Argument(program.text[start : start + array.end()] + "\0)", expands=True),), lexed)
            )
        else:
            found.append(read_word(program.text, start, end, program.spans, variables))
    call = _call(listing, found, redirected, ())
    quiet = variables.copy()
    flags = [word.value for word in call.arguments if word.value.startswith("-")]
    local = bool(call.arguments) and call.arguments[0].value == "local"  # fails outside of a function
    readonly = bool(call.arguments) and (
        call.arguments[0].value == "readonly" or any("r" in flag for flag in flags)
    )
    ids = emit(listing, program, call, scope, variables)
    sources = tuple(
        edge.source for edge in listing.edges if edge.target == ids[0] and edge.end is End.PROCESS
    )
    for child in node.children:
        if child.kind == "variable_assignment":
            aside = listing.aside()  # the code of the values is listed once, below the command
            assign(aside, program, child, scope, quiet)
            listing.take_doubts(aside)
            name = program.text[child.start : child.end].partition("=")[0]
            value = quiet.values.get(name)
            if value is not None:
                pieces, items = (None, None) if local else (value.pieces, value.items)
                variables.assign(name, Value(pieces, sources, value.default, items))
            if readonly:
                variables.volatile |= {name}  # it keeps this value whatever is assigned later
    return ids


def bracket(
    listing: Listing, program: Program, node: Node, scope: Scope, variables: Variables
) -> tuple[int, ...]:
    """`[ … ]` is a command; its words are read from the text because the tree makes them a formula."""
    lexed = lex(program.text, node.start, node.end, program.spans, Style.LOOSE)
    listing.heed(lexed)
    call = Call((Argument("["), Argument("\0", expands=True, globs=True)), lexed.codes)
    return emit(listing, program, call, scope, variables)


def _words(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans with no blank between them are one word of the shell; a number at a redirection is none."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return [
        (start, end)
        for start, end in joined
        if text[end : end + 1] not in ("<", ">") or not is_descriptor(text[start:end])
    ]


def _few(listing: Listing, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """As many words as a command may have, and all commands together; more are a limit exceeded."""
    most = min(MAX_WORDS, MAX_ALL_WORDS - listing.words)
    if len(spans) > most:
        listing.note(Issue.FACT_LIMIT)
    listing.words += min(len(spans), most)
    return spans[:most]


def _call(listing: Listing, found: list[Word], redirected: Redirected, details: tuple[str, ...]) -> Call:
    arguments: list[Argument] = []
    codes: list[Code] = []
    sources: list[int] = []
    streams: dict[int, Code | str] = {}
    for word in found:
        listing.heed(word.lexed)
        if len(word.lexed.codes) == len(word.lexed.pieces) == 1 and word.lexed.codes[0].process == "<":
            streams[len(arguments)] = word.lexed.codes[0]
        arguments += word.arguments
        codes += word.lexed.codes
        sources += word.sources
        if word.overflow:
            listing.note(Issue.FACT_LIMIT)
    bare = bool(found) and bool(found[0].bare)
    if len(arguments) > MAX_WORDS:
        listing.note(Issue.FACT_LIMIT)
    return Call(
        tuple(arguments[:MAX_WORDS]),
        tuple(codes),
        streams,
        redirected,
        tuple(dict.fromkeys(sources)),
        details,
        name_is_bare=bare,
    )


def emit(
    listing: Listing, program: Program | None, call: Call, scope: Scope, variables: Variables
) -> tuple[int, ...]:
    """List a command, the code in its words, and what it runs; ids that share its stdin and stdout."""
    redirected = call.redirected
    raw = Raw(
        listing.next_id,
        call.arguments,
        scope,
        variables.places,
        stdin=redirected.stdin or scope.stdin,
        redirects=tuple(redirected.redirects),
        details=call.details,
        wrappers=scope.wrappers,
        remote=call.remote,
    )
    for place, stream in call.streams.items():
        if isinstance(stream, str):
            raw.streams[place] = stream
        elif program is not None and (text := printed(listing, program, stream, variables)) is not None:
            raw.streams[place] = text
    if not call.arguments and not call.codes:
        raw.kind = Kind.SHELL_REDIRECT
    number = listing.add(raw)
    below = msgspec.structs.replace(scope, parent=number, pipeline=0)
    if program is not None:
        _codes(listing, program, call, number, below, variables)
    listing.edges += [Edge(source, number, End.PROCESS) for source in call.sources]
    if not call.arguments:
        if raw.kind is Kind.PROCESS:
            listing.note(Issue.DYNAMIC_WORD)
        return (number,)
    note_writes(listing, raw)
    first = call.arguments[0]
    if not first.expands and not first.globs and not program_name(first.value):
        listing.note(Issue.UNSUPPORTED_CONSTRUCT)  # `a/` is a directory or nothing
        return (number,)
    if is_open(first):
        listing.note(Issue.DYNAMIC_WORD)
        raw.suspected = suspected_tail(call.arguments)
        return (number,)
    if program is not None and not call.name_is_bare and first.value in _CHANGERS:
        listing.note(Issue.DYNAMIC_WORD)  # it was not seen for what it is ahead of loops and branches
    _dormant(listing, call.arguments, scope)
    ids: tuple[int, ...] = (number,)
    body = listing.bodies.get(first.value)
    if body is not None and f"alias {first.value}" not in scope.calls:
        _alias_use(listing, first.value, body, raw, scope, variables)
    if first.value in listing.functions:
        if first.value in scope.calls:
            listing.functions[first.value].whole = False
        else:
            ids += _function_call(listing, first.value, raw, scope, variables)
    return ids + _children(listing, raw, scope, variables)


def _codes(
    listing: Listing, program: Program, call: Call, number: int, below: Scope, variables: Variables
) -> None:
    raw = listing.commands[number - 1]
    for code in (*call.codes, *call.redirected.codes):
        fed = _fed(raw, within=code in call.codes) if code.process == ">" else SOME_INPUT
        inner = listing.codes(program, (code,), below, variables, fed)
        if code.process == ">":
            listing.edges += [Edge(number, target, End.STDIN) for target in inner]
        else:
            listing.edges += [Edge(source, number, End.PROCESS) for source in inner]


def _fed(raw: Raw, *, within: bool) -> Input:
    """What a `>(…)` of the command gets: as one of its words, or behind a redirection."""
    if not raw.words:
        return SOME_INPUT
    if within:
        return Input(True, raw.stdin.text) if program_name(raw.words[0].value) == "tee" else SOME_INPUT
    plain = len(raw.redirects) == 1 and raw.redirects[0].fd == 1
    return Input(True, output_text(raw.words, raw.stdin)) if plain else SOME_INPUT


def _alias_use(listing: Listing, name: str, body: str, raw: Raw, scope: Scope, variables: Variables) -> None:
    """What the name of an alias stands for where a shell replaces it, with the words behind it."""
    inner = msgspec.structs.replace(
        scope.within(Reach.CONDITIONAL),
        parent=raw.id,
        pipeline=0,
        nesting=scope.nesting + 1,
        calls=scope.calls | {f"alias {name}"},
        stdin=raw.stdin.shared(),
    )
    listing.text(f"{body} {quoted(raw.words[1:])}", inner, variables.copy())


def _function_call(
    listing: Listing, name: str, raw: Raw, scope: Scope, variables: Variables
) -> tuple[int, ...]:
    function = listing.functions[name]
    inner = msgspec.structs.replace(
        scope,
        parent=raw.id,
        calls=scope.calls | {name},
        stdin=raw.stdin.shared(),
        enclosing=(*scope.enclosing, *raw.redirects),
        nesting=scope.nesting + 1,
    )
    if any(map(is_stream, raw.words[1:])):  # the body may run what a command writes there
        listing.note(Issue.OPAQUE_ARTIFACT)
    if inner.nesting > 12:
        listing.note(Issue.DEPTH_LIMIT)
        return ()
    function.called = True
    state = variables.copy()
    zero = HOLE if variables.parameters is None else variables.parameters[0]
    state.call((zero, *raw.words[1:]))
    function.whole = function.whole and state.parameters is not None
    ids = listing.run(function.program, function.body, inner, state)
    own = variables.parameters
    variables.meet(variables.bare())
    variables.parameters = own
    return ids


def _children(listing: Listing, raw: Raw, scope: Scope, variables: Variables) -> tuple[int, ...]:
    found = _of_stream(raw, unwrap(raw.words, raw.stdin))
    for issue in found.issues:
        listing.note(issue)
    raw.runs_input = found.runs_input
    raw.suspected = found.suspected
    raw.details += found.details
    ids: tuple[int, ...] = ()
    if raw.words[0].value in ("mapfile", "readarray"):  # its code gets a number and a line as words
        found = msgspec.structs.replace(
            found,
            children=tuple(
                msgspec.structs.replace(child, code=child.code + " \x01") for child in found.children
            ),
        )
    if found.children and len(scope.wrappers) >= MAX_WRAPPERS:
        listing.note(Issue.WRAPPER_LIMIT)
        return ()
    for child in found.children:
        ids += _child(listing, raw, child, scope, variables)
    inner = msgspec.structs.replace(
        scope, parent=raw.id, nesting=scope.nesting + 1, stdin=raw.stdin.shared(), pipeline=0
    )
    ids += list_script(listing, raw, inner, variables.bare())
    if found.forgets:
        variables.forget_all()
    apply_builtin(listing, raw, scope, variables)
    return ids


def _of_stream(raw: Raw, found: Unwrapped) -> Unwrapped:
    """What a shell runs whose script is `<(…)`, where that is known."""
    place, text = found.stream, raw.streams.get(found.stream)
    if not place or text is None:
        return found
    parameters = None if found.forgets else raw.words[place:]
    issues = tuple(issue for issue in found.issues if issue is not Issue.OPAQUE_ARTIFACT)
    child = Child(code=text, head=place, parameters=parameters)
    return msgspec.structs.replace(found, children=(child,), issues=issues)


def _child(listing: Listing, raw: Raw, child: Child, scope: Scope, variables: Variables) -> tuple[int, ...]:
    wrappers = scope.wrappers
    if child.wraps:
        head = tuple(word.value for word in raw.words[: min(child.head, MAX_HEAD)])
        wrappers = (*wrappers, Wrapper(raw.words[0].value, head))
    inner = msgspec.structs.replace(
        scope.within(child.reach),
        parent=raw.id,
        wrappers=wrappers,
        stdin=child.reads or raw.stdin,
        enclosing=(*scope.enclosing, *raw.redirects),
    )
    # only the builtin by its exact name runs in this very shell: EVAL and /usr/bin/command do not
    straight = child.straight and raw.words[0].value in _STRAIGHT
    state = variables if straight else variables.copy()
    if child.remote or raw.remote:
        state.places = ()
    elif child.directories:
        state.places = gone_to(child, variables.places, variables.home)
    places = state.places
    if child.words is not None:
        if not child.words:
            return ()
        return emit(
            listing,
            None,
            Call(
                child.words,
                streams=_handed_on(raw, child.words),
                remote=child.remote or raw.remote,
                name_is_bare=False,
            ),
            inner,
            state,
        )
    if _globs_into(raw, child):
        listing.note(Issue.DYNAMIC_WORD)
    if not straight:
        state = variables.bare()
        state.values = variables.lasting() if raw.words[0].value == "trap" else {}
        state.places = () if child.reach is Reach.DEFERRED else places
        state.home = "" if child.remote or "HOME" in variables.values else variables.home
        state.folds = not child.remote
        state.call(child.parameters)
    before = len(listing.commands)
    inner = msgspec.structs.replace(inner, nesting=inner.nesting + 1, stdin=inner.stdin.shared())
    ids = listing.text(child.code, inner, state)
    if child.remote or raw.remote:
        for item in listing.commands[before:]:
            item.remote = True
    return ids if child.reach is not Reach.DEFERRED else ()


def _handed_on(raw: Raw, words: Sequence[Argument]) -> dict[int, Code | str]:
    """The streams among words that a wrapper gives to its command."""
    return {
        index: text
        for place, text in raw.streams.items()
        for index, word in enumerate(words)
        if word is raw.words[place]
    }


def _globs_into(raw: Raw, child: Child) -> bool:
    """Whether the name of a file that a pattern finds becomes part of the code."""
    if child.quotes or not child.code:
        return False
    used: Sequence[Argument] = raw.words[1:]
    if program_name(raw.words[0].value) in SHELLS:
        used = raw.words[child.head : child.head + 1]
    patterns = [word.value for word in used if word.globs and "\0" not in word.value]
    if child.wraps:
        return bool(patterns)
    code = child.code.encode("latin-1", "replace").decode("utf-8", "replace")
    return any(value in code or code in value for value in patterns)


def _dormant(listing: Listing, arguments: Sequence[Argument], scope: Scope) -> None:
    """Names that a builtin evaluates, and literal text that arithmetic may evaluate later."""
    listing.evaluates = listing.evaluates or evaluates(arguments)
    listing.dormant += [(word.value, scope) for word in arguments[1:] if _DORMANT.search(word.value)]


def output_of(listing: Listing, ids: tuple[int, ...]) -> Input:
    """What the commands of a pipeline's stage write: the literal text if it is known."""
    if len(ids) != 1:
        return SOME_INPUT
    raw = listing.commands[ids[0] - 1]
    if any(item.fd in (1, -1) for item in raw.redirects) or raw.kind is not Kind.PROCESS:
        return SOME_INPUT
    if raw.streams.keys() == {1} and len(raw.words) == 2 and program_name(raw.words[0].value) == "cat":
        return Input(True, raw.streams[1])
    return Input(True, output_text(raw.words, raw.stdin))
