"""Programs other than rm that take files away: npm's removers, desktop bins, finders of duplicates."""

from __future__ import annotations

import itertools
from typing import Final

from latch_contracts.facts import Access, Operation
from latchd.shell.grammar.description import Context, Description
from latchd.shell.grammar.options import Parsed
from latchd.shell.grammar.program import aimed, program

_NOTHING: Final = Description(known=True)


def _removes_tree(parsed: Parsed, _context: Context) -> Description:
    """rimraf and its like: every operand goes, with all below it."""
    return Description(
        known=True,
        operations=(Operation.DELETE,),
        targets=aimed(Access.DELETE, parsed.operands, recursive=True),
        details=("recursive",),
        writes_stdout=False,
    )


def _del_cli(parsed: Parsed, context: Context) -> Description:
    return _NOTHING if parsed.has("dry-run") else _removes_tree(parsed, context)


def _desktop(parsed: Parsed, _context: Context) -> Description:
    """gio, kioclient: the first word says what is done with the others; a bin keeps what it takes."""
    verb = parsed.operands[0].value if parsed.operands else ""
    if verb not in ("trash", "remove", "del", "rm"):
        return _NOTHING
    kept = (Operation.MOVE,) if verb == "trash" else ()
    return Description(
        known=True,
        operations=(*kept, Operation.DELETE),
        targets=aimed(Access.DELETE, parsed.operands[1:], recursive=verb == "del"),
        writes_stdout=False,
    )


def _duplicates(parsed: Parsed, _context: Context) -> Description:
    """Lists, unless it is told to delete: then any file below its operands may go."""
    words = [word.value for word in parsed.words]
    after = dict(itertools.pairwise(words))
    deletes = parsed.has("delete") or after.get("-deleteduplicates", "false") == "true"
    if not deletes or parsed.has("dry-run"):
        return Description(known=True, operations=(Operation.READ,))
    places = tuple(word for word in parsed.operands if word.value not in ("true", "false"))
    return Description(
        known=True,
        operations=(Operation.DELETE,),
        targets=aimed(Access.DELETE, places, recursive=True),
        details=("recursive",),
    )


def _aged(parsed: Parsed, _context: Context) -> Description:
    """tmpwatch, tmpreaper: the first operand is an age, the others are emptied of what is older."""
    if parsed.has("test"):
        return _NOTHING
    return Description(
        known=True,
        operations=(Operation.DELETE,),
        targets=aimed(Access.DELETE, parsed.operands[1:], recursive=True),
        details=("recursive",),
    )


PROGRAMS: Final = (
    program(
        "rimraf",
        "~ g,glob impl= preserve-root no-preserve-root v,verbose i,interactive tmp= max-retries= backoff=",
        _removes_tree,
        {
            "rimraf dist lib": "delete delete:dist/** delete:lib/** +recursive >none",
            "rimraf --help": "preview",
        },
    ),
    program(
        "del-cli",
        "~ f,force d,dry-run",
        _del_cli,
        {"del-cli dist": "delete delete:dist/** +recursive >none", "del-cli -d dist": ""},
    ),
    program(
        "gio kioclient kioclient5 kioclient6",
        "~ f,force empty list noninteractive",
        _desktop,
        {
            "gio trash a": "move delete delete:a >none",
            "gio remove -f a": "delete delete:a >none",
            "gio info a": "",
        },
    ),
    program("gvfs-rm", "~ f,force", _removes_tree, {"gvfs-rm a": "delete delete:a/** +recursive >none"}),
    program(
        "fdupes jdupes rdfind",
        "~ r,recurse d,delete N,noprompt S,size m,summarize q n dryrun,dry-run",
        _duplicates,
        {
            "fdupes -rdN a": "delete delete:a/** +recursive",
            "rdfind -deleteduplicates true a": "delete delete:a/** +recursive",
            "fdupes -r a": "read",
        },
    ),
    program(
        "tmpwatch tmpreaper",
        "~ a,all f,force m,mtime c,ctime u,atime t,test q,quiet v,verbose x,exclude= d,nodirs protect=",
        _aged,
        {"tmpreaper 7d a": "delete delete:a/** +recursive", "tmpwatch -t 24 a": ""},
    ),
)
