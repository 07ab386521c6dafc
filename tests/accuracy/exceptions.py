"""Rows on which this guard differs from a corpus on purpose: by the corpus's own number, never its text.

Every kind is argued in docs/accuracy.md under the same name. The measure says which of them agree by now, so
that the list does not outlive its reasons.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_TABLE: Final = """
decode-and-run
    base64-bundled-input-missing-operand-partial-sibling base64-positional-input-pipeline
    base64-nonportable-ignore-garbage base64-nonportable-uppercase-decode
fetch-and-run
    wget-unknown-option-pipeline
upload-asked
    ordinary-read-and-egress
machine-mounted
    privileged-false-container-root-bind privileged-uppercase-false-container-root-bind
    privileged-numeric-false-container-root-bind privileged-invalid-container-root-bind
    privileged-final-false-container-root-bind
repository-metadata
    git-read-different-git-dir
history-is-credential
    history-read
write-outside-asked
    detector-log-maintenance structured-defenseclaw-log-write
secret-printed
    dcg-140
scratch-is-free
    ccsn-0250 ccsn-0258 ccsn-0268 ccsn-0554 ccsn-0694 ccsn-0796 ccsn-0797 ccsn-0806 ccsn-0807 ccsn-1726
    ccsn-2162 ccsn-2163 ccsn-2164
named-inside-is-free
    dcg-295 ccsn-0771 ccsn-0826 ccsn-0835 ccsn-0851
acts-on-nothing
    ccsn-1124 ccsn-0527 ccsn-1390 ccsn-2125
size-is-no-reason
    ccsn-1403 ccsn-2186
lines-are-arguments
    ccsn-1458 ccsn-1737
removal-outside
    ccsn-0141 ccsn-0142 ccsn-0146 ccsn-0160 ccsn-0163 ccsn-0164 ccsn-0285
project-root
    ccsn-0257 ccsn-0837
unknown-word-destroys
    ccsn-0384 ccsn-0386 ccsn-0859 ccsn-1959
function-body-may-run
    ccsn-0173 ccsn-0188 ccsn-0189
"""


def _rows() -> dict[str, str]:
    found: dict[str, str] = {}
    kind = ""
    for line in _TABLE.strip().splitlines():
        if line.startswith(" "):
            found |= dict.fromkeys(line.split(), kind)
        else:
            kind = line.strip()
    return found


EXCEPTIONS: Final[Mapping[str, str]] = MappingProxyType(_rows())
