"""Files that a text writes and then runs itself: `echo … > x.sh; bash x.sh`.

The script gate reads a file before the call runs, so it can't see what the call itself will write. What is
known of such a file is listed where it is run; where nothing is, something may run that nobody listed.
Files are told apart by their last name alone: two of one name are both taken to be run.
"""

from __future__ import annotations

import posixpath
from typing import Final

from latch_contracts.facts import Access, Argument, Issue
from latchd.shell.child import program_name
from latchd.shell.listing import Listing, Raw, Scope
from latchd.shell.outputs import output_text
from latchd.shell.parse import code_text
from latchd.shell.variables import Variables
from latchd.shell.wrappers import SHELLS

MAX_CONTENTS: Final = 8  # different contents of one name that are followed
_LOADERS: Final = frozenset({"source", "."})


def note_writes(listing: Listing, raw: Raw, *, block: bool = False) -> None:
    """Take over what a command leaves in files; of a ``block`` it is not known what that is."""
    for redirect in raw.redirects:
        if redirect.access in (Access.WRITE, Access.APPEND) and redirect.target:
            known = not block and redirect.fd in (1, -1) and bool(raw.words)
            text = output_text(raw.words, raw.stdin) if known else None
            _write(listing, redirect.target, text, appends=redirect.access is Access.APPEND)
    if not raw.words:
        return
    name = program_name(raw.words[0].value)
    operands = [word.value for word in raw.words[1:] if not word.value.startswith("-")]
    if name == "tee":
        for target in operands:
            _write(listing, target, raw.stdin.text, appends=len(operands) + 1 < len(raw.words))
    elif name in ("cp", "mv", "ln", "install") and len(operands) == 2:
        for text in list(listing.written.get(_name(operands[0]), ())):
            _write(listing, operands[1], text, appends=False)


def _write(listing: Listing, target: str, text: str | None, *, appends: bool) -> None:
    name = _name(target)
    contents = listing.written.setdefault(name, [])
    if appends and contents and contents[-1] is not None and text is not None:
        contents[-1] += text
    elif len(contents) < MAX_CONTENTS:
        contents.append(text)
    else:
        contents[0] = None
    if name in listing.scripts:  # run before, in a loop or a function perhaps again
        listing.note(Issue.OPAQUE_ARTIFACT)


def list_script(listing: Listing, raw: Raw, scope: Scope, variables: Variables) -> tuple[int, ...]:
    """List the commands of a script that this very text has written."""
    script = _script(raw)
    if script is None:
        return ()
    name = _name(script.value)
    listing.scripts.add(name)
    ids: tuple[int, ...] = ()
    for text in list(listing.written.get(name, ())):
        if text is None or (text.startswith("#!") and "sh" not in text.partition("\n")[0]):
            listing.note(Issue.OPAQUE_ARTIFACT)
        else:
            ids += listing.text(text, scope, variables.copy())
    return ids


def _script(raw: Raw) -> Argument | None:
    """The word that names the file whose text a command runs."""
    first, *rest = raw.words
    if "/" in first.value:
        return first
    name = program_name(first.value)
    if name not in SHELLS and first.value not in _LOADERS:
        return None
    takes_value = False
    for word in rest:
        if takes_value:
            takes_value = False
        elif word.value[:1] in ("-", "+") and len(word.value) > 1:
            if word.value != "--" and not word.value.startswith("--"):
                if "c" in word.value and word.value[0] == "-" and name in SHELLS:
                    return None
                takes_value = word.value[-1] in "oO"
            takes_value = takes_value or word.value in ("--rcfile", "--init-file")
        else:
            return word
    return None


def _name(path: str) -> str:
    return posixpath.basename(code_text(path))
