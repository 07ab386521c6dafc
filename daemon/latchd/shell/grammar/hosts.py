"""Hosts as people and attackers spell them → one spelling and a scope.

Names are never looked up: a name has scope unknown unless it is localhost. Old IPv4 spellings (decimal,
octal, hexadecimal, fewer parts) are what the C library makes of them.
"""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import unquote

import msgspec

from latch_contracts.facts import Scope

_CARRIER_NAT: Final = ipaddress.ip_network("100.64.0.0/10")


class Peer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A peer word taken apart. ``host`` as written, ``normalized`` in its one spelling."""

    scheme: str = ""
    host: str = ""
    port: int = 0
    normalized: str = ""
    scope: Scope = Scope.UNKNOWN
    expands: bool = False


def peer(word: str) -> Peer:
    """Read a URL, ``user@host:path``, ``host:port``, ``host::module`` or a bare host. NUL = dynamic."""
    word = word.strip()
    scheme, separator, rest = word.partition("://")
    if not separator or not all(c.isalnum() or c in "+.-" for c in scheme):
        scheme, rest = "", word
    authority = _until(rest, "/?#") if scheme or not rest.startswith(("/", ".")) else ""
    if "\\" in authority:  # curl and browsers disagree on it; the text before it is what curl asks for
        authority = _until(authority, "\\")
    host, port = _host_and_port(authority.rpartition("@")[2])
    if "\0" in authority:
        return Peer(scheme.lower(), host, port, expands=True)
    normalized, scope = normalize(host)
    return Peer(scheme.lower(), host, port, normalized, scope)


def _until(text: str, stops: str) -> str:
    cut = min((at for at in map(text.find, stops) if at >= 0), default=len(text))
    return text[:cut]


def _host_and_port(text: str) -> tuple[str, int]:
    if text.startswith("["):
        host, _, tail = text[1:].partition("]")
        return host, _port(tail.removeprefix(":"))
    if text.count(":") > 1 and "::" in text and _address(text) is not None:
        return text, 0
    host, _, tail = text.partition(":")
    return host, _port(tail)


def _port(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and int(text) < 65536 else 0


def normalize(host: str) -> tuple[str, Scope]:
    """The one spelling of a host, and where it is. Percent escapes are undone as URL clients do."""
    name = unquote(host).strip().rstrip(".").lower()
    name = name.replace("。", ".").replace(".", ".").replace("。", ".")
    if name == "localhost" or name.endswith((".localhost", ".localdomain")):
        return name, Scope.LOOPBACK
    address = _address(name.partition("%")[0])
    if address is None:
        return name, Scope.UNKNOWN
    return str(address), _scope(address)


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    number = legacy_ipv4(name)
    if number is not None:
        return ipaddress.IPv4Address(number)
    try:
        address = ipaddress.IPv6Address(name)
    except ValueError:
        return None
    return address.ipv4_mapped or address


def legacy_ipv4(name: str) -> int | None:
    """What inet_aton makes of a text, as a number; None when it takes it for a name."""
    parts = name.split(".")
    if not 1 <= len(parts) <= 4:
        return None
    numbers: list[int] = []
    for part in parts:
        number = _integer(part)
        if number is None:
            return None
        numbers.append(number)
    *bytes_, last = numbers
    if any(byte > 255 for byte in bytes_) or last >= 256 ** (4 - len(bytes_)):
        return None
    total = last
    for place, byte in enumerate(bytes_):
        total += byte << (24 - 8 * place)
    return total


def _integer(part: str) -> int | None:
    """Decimal, 0-octal or 0x-hexadecimal."""
    if not part or not part.isascii() or not part[0].isdigit() or len(part) > 40:
        return None
    base = 16 if part[:2].lower() == "0x" else 8 if part[0] == "0" and len(part) > 1 else 10
    digits = part[2:] if base == 16 else part
    if "_" in digits:
        return None
    try:
        return int(digits or "0", base)
    except ValueError:
        return None


def _scope(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> Scope:
    if address.is_loopback or address.is_unspecified:  # connecting to 0.0.0.0 reaches this machine
        return Scope.LOOPBACK
    if address.is_link_local:
        return Scope.LINK_LOCAL
    if address.is_private or address.is_multicast or address.is_reserved:
        return Scope.PRIVATE
    if isinstance(address, ipaddress.IPv4Address) and address in _CARRIER_NAT:
        return Scope.PRIVATE
    return Scope.PUBLIC
