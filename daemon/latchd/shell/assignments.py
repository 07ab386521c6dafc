"""Assignments: what they run, what they make known, and which names must never be trusted."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.code_values import CODE_NAMES
from latchd.shell.lex import Flag, Style, lex
from latchd.shell.listing import Listing, Scope
from latchd.shell.parse import Node, Program, from_bytes_view
from latchd.shell.substituted import folded
from latchd.shell.variables import Value, Variables
from latchd.shell.words import assigned, read_words

_UNSEEN_CODE: Final = re.compile(r"(BASH_ENV|ENV|BASH_FUNC_.*)\Z")  # files or functions the next shell runs
LOADER_NAMES: Final = re.compile(
    r"(PATH|LD_\w+|DYLD_\w+|PYTHONPATH|PYTHONSTARTUP|PERL5LIB|PERL5OPT|RUBYOPT|RUBYLIB|NODE_OPTIONS|NODE_PATH|JAVA_TOOL_OPTIONS)\Z"
)
_BRANCHES: Final = frozenset(
    {
        "if_statement",
        "for_statement",
        "while_statement",
        "c_style_for_statement",
        "case_statement",
        "function_definition",
    }
)
_SETTERS: Final = frozenset(
    "read mapfile readarray printf getopts local let unset wait declare typeset export readonly".split()
)
_UNSEEN: Final = frozenset({"eval", "source", "."})
_EMPTY: Final = re.compile(r"\((\s|\\\n)*\)\Z")
_NAME = re.compile(r"[A-Za-z_]\w*")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\+?=")
_DORMANT = re.compile(r"\$\(|`|\$\{")


def assignments(program: Program, node: Node) -> list[Node]:
    """Those children of a node that set a name for bash. From `1a=2` on, all are words of a command."""
    found: list[Node] = []
    for child in node.children:
        if child.kind != "variable_assignment":
            continue
        if not _NAME.match(program.text, child.start, child.end):
            break
        found.append(child)
    return found


def assign(listing: Listing, program: Program, node: Node, scope: Scope, variables: Variables) -> str:
    """Take over one assignment; the name it sets."""
    text = program.text
    value_node = next((child for child in node.children if child.field == "value"), None)
    name_node = node.children[0] if node.children else node
    name = _name(text, name_node)
    subscript = name_node.kind == "subscript"
    if subscript:
        inner = lex(text, name_node.start, name_node.end, program.spans, Style.ARITHMETIC)
        listing.heed(inner)
        listing.evaluates = True
        listing.codes(program, inner.codes, scope, variables)
    appends = any(child.kind == "+=" for child in node.children)
    if value_node is None:
        variables.assign(name, Value(()) if not appends and not subscript else Value())
        return name
    if value_node.kind == "array":
        lexed = lex(text, value_node.start, value_node.end, program.spans, Style.LOOSE)
        listing.heed(lexed)
        sources = listing.codes(program, lexed.codes, scope, variables)
        items = None if subscript else _items(program, value_node, variables)
        if appends and items is not None:
            before = variables.values.get(name)
            items = None if before is None or before.items is None else before.items + items
            sources += before.sources if before is not None else ()
        variables.assign(name, Value(None, sources, items=items))
    else:
        lexed = lex(text, value_node.start, node.end, program.spans)
        listing.heed(lexed)
        sources = listing.codes(program, lexed.codes, scope, variables)
        found = assigned(folded(listing, program, lexed, variables), variables)
        whole = not appends and not subscript
        default = found.default if whole else None
        variables.assign(name, Value(found.pieces if whole else None, found.sources + sources, default))
    if any(piece.flag is not Flag.PLAIN and _DORMANT.search(piece.text) for piece in lexed.pieces):
        literal_text = from_bytes_view("".join(piece.text for piece in lexed.pieces))
        listing.dormant.append((literal_text, scope))
    _special(listing, name, lexed, scope, variables)
    return name


def _items(program: Program, node: Node, variables: Variables) -> tuple[Argument, ...] | None:
    """The words of `(a b)`; None where one may be an index with a value, or is not surely read."""
    inner = [child for child in node.children if child.kind not in ("(", ")")]
    if not inner:
        return () if _EMPTY.match(program.text, node.start, node.end) else None
    around = program.text[node.start : inner[0].start] + program.text[inner[-1].end : node.end]
    if not _EMPTY.match(around) or any(program.text.startswith("[", child.start) for child in inner):
        return None
    return read_words(program, inner, variables)


def _name(text: str, node: Node) -> str:
    match = _NAME.match(text, node.start, node.end)
    return match.group() if match else ""


def _special(listing: Listing, name: str, lexed: object, scope: Scope, variables: Variables) -> None:
    if name == "IFS":
        variables.folds = False
        variables.values = {}
        variables.volatile |= {"IFS"}
    elif name == "BASH_ALIASES":
        listing.any_alias = True
    elif _UNSEEN_CODE.match(name):
        listing.note(Issue.OPAQUE_ARTIFACT)
    elif CODE_NAMES.match(name):
        value = variables.lookup(name)
        if value is None or value.pieces is None:
            if name in ("PROMPT_COMMAND", "PS0", "PS4"):
                listing.note(Issue.DYNAMIC_WORD)
            return
        code = "".join(piece.text for piece in value.pieces)
        if name in ("PS0", "PS4"):
            listing.dormant.append((from_bytes_view(code), scope))
            listing.evaluates = True
        elif name not in ("TAR_OPTIONS", "MANOPT"):
            inner = msgspec.structs.replace(
                scope.within(Reach.DEFERRED), nesting=scope.nesting + 1, pipeline=0
            )
            listing.text(code, inner, variables.bare())


def volatile_names(program: Program) -> tuple[frozenset[str], frozenset[str], bool]:
    """Names that this text may change out of line, those that `for` sets, and whether any can be trusted.

    A name that `for` sets is among the first where something else changes it too.
    """
    if "$" not in program.text:
        return frozenset(), frozenset(), True
    names: set[str] = set()
    looped: set[str] = set()
    certain = True
    waiting: list[tuple[Node, bool, frozenset[str]]] = [(program.root, False, frozenset())]
    text = program.text
    while waiting:
        node, branch, around = waiting.pop()
        kind = node.kind
        branch = branch or kind in _BRANCHES
        if kind == "variable_assignment" and branch and node.children:
            names.add(_name(text, node.children[0]))
        elif kind == "for_statement":
            own = {_name(text, child) for child in node.children if child.field == "variable"}
            names |= own & around
            looped |= own
            around |= own
        elif kind in ("arithmetic_expansion", "c_style_for_statement") or (
            kind == "compound_statement" and node.children and node.children[0].kind == "(("
        ):
            region = text[
                node.start : node.end if kind != "c_style_for_statement" else node.children[-1].start
            ]
            if re.search(r"[^=!<>]=[^=]|<<=|>>=|\+\+|--", region):
                names.update(_NAME.findall(region))
        elif kind == "expansion" and re.match(r"\$\{\w+(\[[^\]]*\])?:?=", text[node.start : node.end]):
            names.update(_NAME.findall(text, node.start, node.end)[:1])
        elif kind in ("command", "declaration_command", "unset_command"):
            words = [text[child.start : child.end].translate(_UNQUOTE) for child in node.children]
            if "trap" in words:
                names.update(name for word in words for name in _ASSIGNED.findall(word))
            if not _SETTERS.isdisjoint(words):
                plain = words if kind == "command" or "unset" in words else []
                names.update(name for word in plain for name in _NAME.findall(word))
                if kind == "declaration_command" and any(
                    re.match(r"[-+]\w*[nilucA]", word) for word in words
                ):
                    certain = False
            if branch and not _UNSEEN.isdisjoint(words):
                certain = False
        waiting += [(child, branch, around) for child in node.children]
    return frozenset(names), frozenset(looped), certain


_OUT_OF_SIGHT: Final = re.compile(
    r"\b(?:eval|source|alias|unset|read|getopts|mapfile|readarray|select|coproc)\b|\bprintf\s+-v|(?:\A|[\s;&|({])\.\s"
)


def settled_names(text: str) -> frozenset[str]:
    """Names that a text with a trap assigns once, where nothing can assign them but in plain sight."""
    if "trap" not in text or _OUT_OF_SIGHT.search(text):
        return frozenset()
    names = _ASSIGNED.findall(text)
    return frozenset(name for name in names if names.count(name) == 1 and f"{name}[" not in text)


_UNQUOTE = str.maketrans("", "", "\\'\"")


def prefix_details(names: tuple[str, ...]) -> tuple[str, ...]:
    """The detail words of assignments that stand before a command."""
    return ("sets-loader",) if any(LOADER_NAMES.match(name) for name in names) else ()


_CALLS: Final = re.compile(r"(set|shift|eval|source|\.)\Z")


def moves_parameters(program: Program, node: Node) -> bool:
    """Whether a branch or loop below the node may change $1 and the others of this very shell."""
    text = program.text
    if "$" not in text:
        return False
    waiting = [(child, node.kind in _BRANCHES) for child in node.children]
    while waiting:
        current, branch = waiting.pop()
        if current.kind == "function_definition":
            continue  # it has parameters of its own
        branch = branch or current.kind in _BRANCHES
        if branch and current.kind == "command":
            words = (text[child.start : child.end].translate(_UNQUOTE) for child in current.children)
            if any(map(_CALLS.match, words)):
                return True
        waiting += [(child, branch) for child in current.children]
    return False
