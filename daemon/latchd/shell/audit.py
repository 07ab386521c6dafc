"""Does the tree tell all that bash would run? Checks of structure; words are checked as they are read.

A clean parse proves nothing: whole commands hide in bytes that no leaf covers, behind keywords taken
for names, in comments that are none. Any doubt is an issue, and facts with an issue are not complete.
"""

from __future__ import annotations

import re
from typing import Final

from latch_contracts.facts import Issue
from latchd.shell.parse import Node, Program, Refusal, reparse
from latchd.shell.prepare import MARK

RESERVED: Final = frozenset(
    "if then else elif fi do done case esac while until for select function { } [[ ]] in".split()
)
_ONE_LINE: Final = frozenset(
    "command declaration_command unset_command file_redirect herestring_redirect redirected_statement"
    " variable_assignments".split()
)
_KEYWORDS: Final = RESERVED | {"!", "[", "]", "time", "coproc"}
_APART: Final = frozenset(" \t\n;&|()<>")  # what may touch a keyword; with anything else it is a word
WORDS: Final = frozenset(
    {
        "word", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation", "number",
        "expansion", "simple_expansion", "arithmetic_expansion", "brace_expression", "regex",
        "extglob_pattern", "test_operator", "variable_name", "special_variable_name", "file_descriptor",
        "command_substitution", "process_substitution", "subscript",
    }
)  # fmt: skip
_REPARSED_BYTES: Final = 128 * 1024  # each round parses the whole text anew, and a real one needs two
_PREFIX = re.compile(
    r"(?:time(?=\s)(?:[ \t]+-p(?=\s))?(?:[ \t]+--(?=\s))?|!(?=\s)"
    r"|coproc(?=\s)(?:[ \t]+[A-Za-z_]\w*(?=[ \t]+[{(]))?)"
)


def without_prefixes(program: Program) -> tuple[Program | Refusal, frozenset[int]]:
    """The program with `time`, `!` and `coproc` blanked where the tree took them for programs.

    Also gives the places after a `coproc`: what starts there runs in the background.
    """
    background: set[int] = set()
    for _ in range(max(2, min(8, _REPARSED_BYTES // (len(program.text) + 1)))):
        text = program.text
        found = [name for name in _names(program.root) if _is_prefix(text, name.start)]
        if not found:
            return program, frozenset(background)
        for name in found:
            match = _PREFIX.match(text, name.start)
            if match is None:
                continue
            text = text[: match.start()] + " " * (match.end() - match.start()) + text[match.end() :]
            if match.group().startswith("coproc"):
                place = match.end()
                while place < len(text) and text[place] in " \t":
                    place += 1
                background.add(place)
        again = reparse(program, text)
        if isinstance(again, Refusal):
            return again, frozenset(background)
        program = again
    return Refusal(Issue.WRAPPER_LIMIT), frozenset(background)


def _is_prefix(text: str, at: int) -> bool:
    if not _PREFIX.match(text, at):
        return False
    return not (text.startswith("time", at) and text[:at].rstrip(" \t\n").endswith("|&"))  # a program there


def _names(root: Node) -> list[Node]:
    """Unquoted command names that stand first in their command, keyword-like ones only."""
    found: list[Node] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.kind == "command" and node.children and node.children[0].kind == "command_name":
            name = node.children[0]
            if name.end - name.start in (1, 4, 6) and len(name.children) == 1:
                found.append(name)
        waiting += node.children
    return found


def doubts(program: Program) -> list[Issue]:
    """What is wrong with the tree as a whole."""
    issues: list[Issue] = []
    if program.has_error:
        issues.append(Issue.INVALID_SYNTAX)
    if not program.sure or not _tree_is_whole(program):
        issues.append(Issue.PARSER_SILENCE)
    return issues


def _tree_is_whole(program: Program) -> bool:
    marks = 0
    regions = [program.root]
    while regions:
        region = regions.pop()
        start, end = (0, len(program.text)) if region is program.root else (region.start, region.end)
        found = _region_marks(program.text, region, regions, start, end)
        if found is None:
            return False
        marks += found
    return marks == len(program.heredocs)


def _region_marks(text: str, region: Node, regions: list[Node], at: int, end: int) -> int | None:
    """How many here-documents stand in a region; None if its leaves don't cover its text.

    Code inside words is not looked at but added to ``regions``.
    """
    marks = 0
    waiting = [(region, False)]
    while waiting:
        node, arithmetic = waiting.pop()
        kind = node.kind
        if kind == "word" and not node.children:  # most nodes by far
            if text[at : node.start].strip(" \t\n"):
                return None
            at = max(at, node.end)
            continue
        if kind == "heredoc_redirect" or (kind == "command_name" and text[node.start : node.end] in RESERVED):
            return None
        if kind == "comment" and not _is_comment(text, node, arithmetic):
            return None
        if kind in _ONE_LINE and _has_newline(text, node):
            return None
        if kind in _KEYWORDS and not node.named and not _is_keyword(text, node):
            return None
        if kind == "file_redirect":
            marks += any(
                child.field == "destination" and text.startswith(MARK, child.start) for child in node.children
            )
        is_word = kind in WORDS and node is not region
        if is_word:
            regions += _substitutions(node)
        if is_word or not node.children:
            if text[at : node.start].strip(" \t\n"):
                return None
            at = max(at, node.end)
        else:
            inside = arithmetic or kind == "c_style_for_statement" or node.children[0].kind == "(("
            waiting += [(child, inside) for child in reversed(node.children)]
    return None if text[at:end].strip(" \t\n") else marks


def _has_newline(text: str, node: Node) -> bool:
    """Whether a newline stands between the parts of what a newline ends."""
    pairs = zip(node.children, node.children[1:], strict=False)
    return any("\n" in text[one.end : other.start] for one, other in pairs)


def _is_keyword(text: str, node: Node) -> bool:
    """Whether the shell would take what the tree took for a keyword as one: it stands apart."""
    before, after = text[node.start - 1 : node.start], text[node.end : node.end + 1]
    return (not before or before in _APART or before == "`") and (
        not after or after in _APART or after == "`"
    )


def _substitutions(node: Node) -> list[Node]:
    """The outermost substitutions in a word."""
    found: list[Node] = []
    waiting = [node]
    while waiting:
        child = waiting.pop()
        if child.kind in ("command_substitution", "process_substitution"):
            found.append(child)
        else:
            waiting += child.children
    return found


def _is_comment(text: str, node: Node, arithmetic: bool) -> bool:
    before = text[node.start - 1] if node.start else "\n"
    if "\n" in text[node.start : node.end].rstrip("\n"):
        return False
    return (
        before in " \t\n;&|()`" and not arithmetic and text[max(0, node.start - 2) : node.start - 1] != "\\"
    )
