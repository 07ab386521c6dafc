"""What a pattern can't say: that a value looks drawn at random, that a checksum fits, what stands around it.

Every check looks at the found part and at a bounded stretch around it, never at the whole text.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import json
import math
import re
from collections import Counter
from typing import Final

_PLACEHOLDERS: Final = re.compile(
    rb"(?i)example|your[-_]?|placeholder|change[-_]?me|redacted|dummy|sample|fake|masked|xxxx|\*\*\*|\.\.\."
    rb"|<|>|\$\{|\{\{|%\(|insert|replace|secret[-_]?here|todo|foobar|deadbeef"
)
_RUN: Final = re.compile(rb"(.)\1{5,}", re.DOTALL)
_UUID: Final = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX: Final = re.compile(rb"[0-9a-fA-F]+")
# Passwords that every tutorial uses: an URL with one of them tells nobody anything.
_TRIVIAL: Final = frozenset(
    b"password passwd pass pwd secret admin root user username test testing tester postgres mysql redis "
    b"mongo mongodb guest rabbitmq example changeme letmein 123456 12345678 1234 token pw p demo dev "
    b"development local app db database mypassword my-password mysecretpassword s3cret hunter2 passw0rd "
    b"password123 pass123 x-oauth-basic x-access-token oauth2 foo bar baz hostname port".split()
)
_AROUND: Final = 80  # bytes on either side that may say what a value is


def drawn(text: bytes, start: int, end: int) -> bool:
    """A token whose body looks drawn at random: no placeholder, no run, no alphabet counted up."""
    return looks_drawn(text[start:end])


def looks_drawn(value: bytes) -> bool:
    if _PLACEHOLDERS.search(value) or _RUN.search(value):
        return False
    body = value[-32:]  # issuers put what is fixed first
    counted = sum(1 for one, other in itertools.pairwise(body) if other - one == 1)
    return counted * 3 < len(body) and len(set(body)) * 3 >= min(len(body), 24)


def assigned(text: bytes, start: int, end: int) -> bool:
    """A value given to a secret's name: hex or base64 of enough surprise, and nothing that only looks so."""
    value = text[start:end].rstrip(b"=")
    if not looks_drawn(value) or _UUID.fullmatch(value):
        return False
    if _HEX.fullmatch(value):
        return len(value) >= 32 and entropy(value) >= 3.0
    mixed = any(65 <= c <= 90 for c in value) and any(97 <= c <= 122 for c in value)
    digits = sum(48 <= c <= 57 for c in value)
    # words put together (`getTokenFromRequest2`, a path) have few digits for their length
    return (
        mixed and digits * 16 >= len(value) and entropy(value) >= 3.8 and value.count(b"/") * 8 <= len(value)
    )


def entropy(value: bytes) -> float:
    """Bits per byte, by the value's own distribution."""
    length = len(value)
    return -sum(count / length * math.log2(count / length) for count in Counter(value).values())


def password(text: bytes, start: int, end: int) -> bool:
    """A password in an URL or a connection string that is neither a placeholder nor one of the tutorials'."""
    value = text[start:end]
    if value.lower() in _TRIVIAL or value.startswith((b"$", b"%", b"{", b"<", b"[", b":", b"*")):
        return False
    if _PLACEHOLDERS.search(value) or len(set(value)) < 4:
        return False
    before = text[max(0, start - _AROUND) : start - 1]
    user = re.split(rb"[/:=;]", before)[-1]
    return user.lower() != value.lower()


def jwt(text: bytes, start: int, end: int) -> bool:
    """The first part is the header of a JWT: a JSON object that names its algorithm."""
    header = _unbase64(text[start:end].split(b".", 1)[0])
    if header is None:
        return False
    try:
        value = json.loads(header)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "alg" in value


def basic(text: bytes, start: int, end: int) -> bool:
    """Base64 of `user:password`."""
    user, colon, secret = (_unbase64(text[start:end]) or b"").partition(b":")
    return bool(colon and user.isascii() and secret) and secret.lower() not in _TRIVIAL


def discord_bot(text: bytes, start: int, end: int) -> bool:
    """The first part is a number in base64: the bot's own id."""
    number = _unbase64(text[start:end].split(b".", 1)[0])
    return number is not None and 17 <= len(number) <= 20 and number.isdigit()


def _unbase64(value: bytes) -> bytes | None:
    padded = value.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    try:
        return base64.b64decode(padded + b"=" * (-len(padded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


# Numbers that payment providers publish for tests.
_TEST_CARDS: Final = frozenset(
    b"4242424242424242 4111111111111111 4012888888881881 4000056655665556 4000000000000002 5555555555554444 "
    b"5105105105105100 2223003122003222 5200828282828210 378282246310005 371449635398431 378734493671000 "
    b"6011111111111117 6011000990139424 3530111333300000 4222222222222 4000000000000077".split()
)
_CARD_WORD: Final = re.compile(rb"(?i)\b(?:card|visa|mastercard|amex|discover|credit|debit|pan|cc)(?:\b|_)")

_GROUP_BEFORE: Final = re.compile(rb"[0-9A-Fa-f]*[0-9][0-9A-Fa-f]*[\s,;-]$")
_GROUP_AFTER: Final = re.compile(rb"[\s,;-][0-9A-Fa-f]{0,4}[0-9]")


def card(text: bytes, start: int, end: int) -> bool:
    """A number whose check digit fits, that is no published test number, and is set or named as a card."""
    shown = text[start:end]
    digits = shown.translate(None, b" -")
    if digits in _TEST_CARDS or len(set(digits)) < 5 or not _luhn(digits):
        return False
    if shown != digits:  # set in groups, and those are no part of a longer list of numbers
        return not (_GROUP_BEFORE.search(text[max(0, start - 8) : start]) or _GROUP_AFTER.match(text, end))
    return bool(_CARD_WORD.search(text[max(0, start - _AROUND) : start]))


def _luhn(digits: bytes) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = digit - 48
        total += value if place % 2 == 0 else value * 2 - 9 * (value > 4)
    return total % 10 == 0


def iban(text: bytes, start: int, end: int) -> bool:
    """The check digits fit (ISO 13616), and it is none of the examples that every page shows."""
    value = text[start:end].replace(b" ", b"").upper()
    if not 15 <= len(value) <= 34 or value in _TEST_IBANS:
        return False
    number = "".join(str(int(chr(c), 36)) for c in value[4:] + value[:4])
    return int(number) % 97 == 1


_TEST_IBANS: Final = frozenset(
    b"GB82WEST12345698765432 DE89370400440532013000 GB29NWBK60161331926819 FR1420041010050500013M02606 "
    b"NL91ABNA0417164300 BE68539007547034 ES9121000418450200051332 CH9300762011623852957".split()
)


def ssn(text: bytes, start: int, end: int) -> bool:
    """A number that can have been given out, and is none of the published ones."""
    area, group, serial = text[start:end].split(b"-")
    if area in (b"000", b"666") or area >= b"900" or group == b"00" or serial == b"0000":
        return False
    return text[start:end] not in (
        b"123-45-6789",
        b"078-05-1120",
        b"219-09-9999",
        b"111-11-1111",
        b"111-22-3333",
    )


_PERSONAL_COLUMN: Final = re.compile(
    rb"(?i)\b(?:ssn|social_?security\w*|passport\w*|dob|date_?of_?birth|birth_?date|e?_?mail\w*"
    rb"|phone\w*|mobile"
    rb"|first_?name|last_?name|full_?name|surname|street|address\w*|zip\w*|postal\w*|iban|card_?number|salary"
    rb"|mrn|patient\w*|gender|national_?id|tax_?id)\b"
)


def personal_columns(text: bytes, start: int, end: int) -> bool:
    """A header line with at least three columns about a person."""
    return len({name.lower() for name in _PERSONAL_COLUMN.findall(text[start:end])}) >= 3


_RTL: Final = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")


def left_to_right(text: bytes, start: int, end: int) -> bool:
    """No Hebrew or Arabic letter is near, which would be a reason to steer the direction of writing."""
    around = text[max(0, start - _AROUND) : end + _AROUND].decode("utf-8", "ignore")
    return not _RTL.search(around.replace("\ufeff", ""))


_LINK: Final = re.compile(
    rb"\x1b\]8;[^;\x07\x1b]*;(?:\w+://)?([^/\x07\x1b]+)[^\x07\x1b]*(?:\x07|\x1b\\)([^\x1b]+)"
)
_SHOWN_HOST: Final = re.compile(rb"^\s*(?:https?://)([^/\s]+)")


def other_host(text: bytes, start: int, end: int) -> bool:
    """A terminal link whose visible text is the address of another host than it leads to."""
    link = _LINK.match(text[start:end])
    shown = _SHOWN_HOST.match(link[2]) if link else None
    return bool(link and shown and link[1].lower() != shown[1].lower())


_COMMENT: Final = 500  # bytes of a comment that are read for what it says
_COMMANDED: Final = re.compile(
    rb"(?i)\b(?:run|execute|call|invoke|use|perform|send|upload|delete|push|commit|install"
    rb"|do (?:this|it|so))\b"
)
_TO_MODEL: Final = re.compile(
    rb"(?i)\b(?:ai|llm|assistant|agent|claude|copilot|chatgpt|gpt|codex|gemini|language model)s?\b"
)
_ORDER: Final = re.compile(
    rb"(?i)\b(?:must|ignore|execute|run (?:the|this)|send|upload|exfiltrate|(?:do not|don't) tell"
    rb"|instead of)\b"
)


def commanded(text: bytes, start: int, end: int) -> bool:
    """The same line tells to do something, before or in what was found."""
    line = text[max(0, start - 140) : end].rpartition(b"\n")[2]
    return bool(_COMMANDED.search(line))


def speaks_to_model(text: bytes, start: int, end: int) -> bool:
    """The comment that is opened here names a model, and after that gives an order."""
    comment = text[end : end + _COMMENT].partition(b"-->")[0]
    named = _TO_MODEL.search(comment)
    return bool(named and _ORDER.search(comment, named.end()))
