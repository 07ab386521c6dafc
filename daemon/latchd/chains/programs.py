"""Which programs make their output, or a file, of their input: tables, and what is asked of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from latch_contracts.facts import Command, Operation

# Output made of input: copied, packed, encoded, filtered. Counters, hashes and listers are not here.
_CARRIERS: Final = frozenset(
    "cat tac nl head tail less more bat batcat tee sponge pv rev fold fmt column expand unexpand cut tr sort "
    "uniq paste join shuf strings iconv sed gsed awk gawk mawk nawk grep egrep fgrep rg jq yq envsubst "
    "cp gcp mv gmv install ginstall dd rsync ln link scp tar gtar bsdtar zip unzip 7z 7za 7zr cpio ar "
    "gzip gunzip zcat pigz bzip2 bunzip2 bzcat xz unxz xzcat lzma zstd unzstd zstdcat lz4 compress "
    "uncompress base64 base32 basenc xxd od hexdump hd uuencode uudecode openssl gpg gpg2 age split csplit "
    "echo printf xargs read".split()
)
LINKERS: Final = frozenset(("ln", "link", "gln"))
# What these write beside their input when no other name is given.
ENDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "gzip": (".gz",),
    "pigz": (".gz",),
    "bzip2": (".bz2",),
    "xz": (".xz",),
    "lzma": (".lzma",),
    "zstd": (".zst",),
    "lz4": (".lz4",),
    "compress": (".Z",),
    "gpg": (".gpg", ".asc"),
    "gpg2": (".gpg", ".asc"),
}
_COUNTING: Final = frozenset("-c --count -l -L -q --quiet --silent --files-with-matches".split())
_PUBLIC_HALVES: Final = frozenset("-pubout -pubkey dgst req x509 -fingerprint".split())
_SEARCHERS: Final = frozenset("grep egrep fgrep rg".split())


def carries(command: Command) -> bool:
    """Whether its output is made of its input."""
    words = command.argv[1:]
    if Operation.LIST in command.operations or command.program not in _CARRIERS:
        return False
    if command.program in _SEARCHERS:
        return not _COUNTING.intersection(words)
    return command.program != "openssl" or not _PUBLIC_HALVES.intersection(words)


def copies(command: Command) -> bool:
    """Whether its target is what its source was, wherever that may be."""
    return Operation.COPY in command.operations or Operation.MOVE in command.operations
