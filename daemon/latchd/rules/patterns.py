"""RE2: patterns that packs bring. Linear in the text, whatever the pattern; the one importer of re2."""

from __future__ import annotations

import functools
from typing import Any, Final, Protocol

MAX_BYTES: Final = 2048  # of one pattern of a pack
_MAX_MEMORY: Final = (
    1 << 20
)  # bytes a compiled pattern may take; what needs more is refused when it is loaded


class Pattern(Protocol):
    def search(self, text: str) -> bool: ...


class PatternError(Exception):
    """The pattern can't be used; the text is one line."""


class _Re2:
    __slots__ = ("_compiled",)

    def __init__(self, source: str) -> None:
        # here, because most calls meet no pattern and pay nothing
        import re2  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]

        library: Any = re2
        options = library.Options()
        options.max_mem = _MAX_MEMORY
        options.log_errors = False
        try:
            self._compiled: Any = library.compile(source, options)
        except library.error as error:
            said: Any = error.args[0] if error.args else ""
            text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
            raise PatternError(f"{text[:1].lower()}{text[1:]}".replace("\n", " ")) from None

    def search(self, text: str) -> bool:
        return self._compiled.search(text) is not None


@functools.lru_cache(maxsize=4096)
def compiled(source: str) -> Pattern:
    """Raises PatternError."""
    return _Re2(source)


def fault(source: str) -> str:
    """What is wrong with a pattern; "" when nothing is."""
    try:
        compiled(source)
    except PatternError as error:
        return str(error)
    return ""
