"""Files that code removes in languages without a reading of their own: lisps, vim, julia, groovy, swift.

A call that removes, with a path written out behind it; other calls are not looked at. Whether it goes down a
tree shows in the call's name, or can't be told and is taken to.
"""

from __future__ import annotations

import re
from typing import Final

from latch_contracts.facts import Access, Argument, Operation
from latchd.shell.grammar.description import Description, Target

_MOST: Final = 128  # removals that are read of one program
_PATH: Final = r"""(?:"(?P<double>(?:\\.|[^"\\\n]){1,512})"|'(?P<single>[^'\n]{1,512})')"""
_REMOVES: Final = re.compile(
    r"""(?:
        \((?P<one>delete-file|remove-file)\s{1,8}                             # emacs, sbcl, racket, guile
      | \((?:delete-directory(?:/files)?|delete-tree|(?:uiop:)?delete-directory-tree)\s{1,8}
      | (?<![\w.])call\s{1,8}delete\(\s{0,8}                                  # vim script
      | (?<![\w.])rm\(\s{0,8}                                                 # julia
      | new\s{1,8}File\(\s{0,8}(?=(?:"[^"\n]{1,512}"|'[^'\n]{1,512}')\s{0,8}\)\s{0,8}\.delete)  # groovy, java
      | removeItem\(\s{0,8}(?:atPath|at)\s{0,8}:\s{0,8}(?:URL\(fileURLWithPath:\s{0,8})?        # swift
      | (?<![\w-])(?P<tcl>file)\s{1,8}delete\s{1,8}(?:-force\s{1,8})?(?:--\s{1,8})?            # tcl
    )(?:(?P<bare>[/~.\w$][\w./~*+@%-]{0,512})|"""
    + _PATH
    + ")",
    re.VERBOSE,
)


def removals(code: Argument) -> Description:
    """What the code removes, as far as it is written out."""
    targets: list[Target] = []
    for number, found in enumerate(_REMOVES.finditer(code.value)):
        if number == _MOST:
            targets.append(Target(Access.DELETE, Argument("\0", expands=True), recursive=True))
            break
        path = found["bare"] or found["double"] or found["single"]
        if found["bare"] and (found["tcl"] is None or path.startswith("$")):
            path = "\0"  # a name: what it holds is known only when it runs
        word = Argument(path, expands="\0" in path)
        targets.append(Target(Access.DELETE, word, recursive=found["one"] is None))
    if not targets:
        return Description(known=True)
    return Description(known=True, operations=(Operation.EXECUTE, Operation.DELETE), targets=tuple(targets))
