"""What small filters make of a literal text: base64 -d, base32 -d, xxd -r -p, rev, tr, gzip -dc.

`echo … | base64 -d | sh` runs a program that stands in the call, only spelled in another way. Where a
filter is used in any way that is not followed here to the letter, nothing is known.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Sequence
from typing import Final

from latch_contracts.facts import Argument
from latchd.shell.parse import HOLE

MAX_OUTPUT: Final = 65_536
_RANGE = re.compile(r"(.)-(.)")


def decoded(name: str, words: Sequence[Argument], text: str) -> str | None:
    """The output for literal input, both in the bytes view; None if it is not known."""
    filter_ = _FILTERS.get(name)
    if filter_ is None or HOLE in text or len(text) > MAX_OUTPUT or any(word.expands for word in words[1:]):
        return None
    try:
        found = filter_([word.value for word in words[1:]], text)
    except (ValueError, binascii.Error, zlib.error):
        return None
    return found if found is None or len(found) <= MAX_OUTPUT else None


def _base64(options: list[str], text: str) -> str | None:
    if options not in (
        ["-d"],
        ["--decode"],
        ["-D"],
        ["-di"],
        ["-d", "-i"],
        ["--decode", "-i"],
        ["-d", "-w0"],
    ):
        return None
    return base64.b64decode("".join(text.split()), validate=True).decode("latin-1")


def _base32(options: list[str], text: str) -> str | None:
    if options not in (["-d"], ["--decode"]):
        return None
    return base64.b32decode("".join(text.split())).decode("latin-1")


def _openssl(options: list[str], text: str) -> str | None:
    wanted = (
        {"base64", "-d"},
        {"enc", "-base64", "-d"},
        {"base64", "-d", "-A"},
        {"enc", "-base64", "-d", "-A"},
    )
    return _base64(["-d"], text) if set(options) in wanted else None


def _xxd(options: list[str], text: str) -> str | None:
    if options not in (["-r", "-p"], ["-p", "-r"], ["-rp"], ["-pr"], ["-r", "-ps"], ["-ps", "-r"]):
        return None
    return bytes.fromhex("".join(text.split())).decode("latin-1")


def _rev(options: list[str], text: str) -> str | None:
    if options or not text.isascii():
        return None
    return "".join(line.rstrip("\n")[::-1] + "\n" * line.endswith("\n") for line in text.splitlines(True))


def _tr(options: list[str], text: str) -> str | None:
    sets = [item for item in options if not item.startswith("-") or len(item) == 1]
    if any("[" in item or "\\" in item or not item.isascii() for item in sets) or not text.isascii():
        return None
    if options[:1] == ["-d"] and len(options) == 2:
        return text.translate(dict.fromkeys(map(ord, _letters(options[1]))))
    if len(options) != 2 or len(sets) != 2:
        return None
    source, target = _letters(sets[0]), _letters(sets[1])
    if not target:
        return None
    target += target[-1] * (len(source) - len(target))
    table: dict[int, str] = {}
    for before, after in zip(source, target, strict=False):
        table[ord(before)] = after
    return text.translate(table)


def _letters(text: str) -> str:
    return _RANGE.sub(
        lambda match: "".join(map(chr, range(ord(match.group(1)), ord(match.group(2)) + 1))), text
    )


def _gunzip(options: list[str], text: str) -> str | None:
    if any(option not in ("-d", "-c", "-dc", "-cd", "-") for option in options):
        return None
    reader = zlib.decompressobj(wbits=31)
    data = reader.decompress(text.encode("latin-1"), MAX_OUTPUT + 1)
    return data.decode("latin-1") if reader.eof and not reader.unused_data else None


_FILTERS: Final[dict[str, Callable[[list[str], str], str | None]]] = {
    "base64": _base64,
    "gbase64": _base64,
    "base32": _base32,
    "openssl": _openssl,
    "xxd": _xxd,
    "rev": _rev,
    "tr": _tr,
    "gunzip": _gunzip,
    "zcat": _gunzip,
    "gzip": lambda options, text: _gunzip(options, text) if "d" in "".join(options) else None,
}
