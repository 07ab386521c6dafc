"""Characters that a person doesn't see and a model reads, or that show another text than there is."""

from __future__ import annotations

from typing import Final

from latch_contracts.verdict import Severity
from latchd.text.checks import left_to_right, other_host
from latchd.text.rule import Group, TextRule

_ZERO: Final = r"\x{200B}-\x{200D}\x{2060}-\x{2064}\x{FEFF}\x{180E}"
_ZERO_HINTS: Final = (
    "\u200b",
    "\u200c",
    "\u200d",
    "\u2060",
    "\u2061",
    "\u2062",
    "\u2063",
    "\u2064",
    "\ufeff",
    "\u180e",
)
_SGR: Final = (  # one parameter of a colour sequence, but `8`; a colour's own numbers are no parameters
    r"(?:[345]8;5;[0-9]{1,3};|[345]8;2;[0-9]{1,3};[0-9]{1,3};[0-9]{1,3};"
    r"|(?:[0-79]|[12679][0-9]|[345][0-79]|0[0-9]|10[0-7]);)"
)

HIDDEN: Final = (
    TextRule(
        id="text.zero-width-word",
        title="invisible characters inside a word",
        group=Group.HIDDEN,
        severity=Severity.MEDIUM,
        confidence=0.7,
        hints=_ZERO_HINTS,
        pattern=rf"[A-Za-z]([{_ZERO}]+)[A-Za-z]",
        matches=("ig\u200bnore this", "pass\u2060word"),
        misses=(
            "\ufeffimport os",
            "a family: \U0001f468\u200d\U0001f469\u200d\U0001f467",
            "می\u200cخواهم",
            "a \u200b b",
        ),
    ),
    TextRule(
        id="text.zero-width-run",
        title="a run of invisible characters, long enough to hold a message",
        group=Group.HIDDEN,
        severity=Severity.HIGH,
        confidence=0.9,
        hints=_ZERO_HINTS,
        pattern=rf"[{_ZERO}]{{6,}}",
        matches=("hello" + "\u200b\u200c\u200c\u200b" * 4 + "world",),
        misses=("\u200b\u200b", "\ufeff\ufeff"),
    ),
    TextRule(
        id="text.bidi-override",
        title="characters that turn the direction of writing round",
        group=Group.HIDDEN,
        severity=Severity.HIGH,
        confidence=0.9,
        hints=("\u202d", "\u202e"),
        pattern=r"[\x{202D}\x{202E}]",
        matches=("exe\u202ecod.txt",),
        misses=("a \u2013 b", "\u200fשלום"),
    ),
    TextRule(
        id="text.bidi-isolate",
        title="marks of writing direction where nothing is written from right to left",
        group=Group.HIDDEN,
        severity=Severity.MEDIUM,
        confidence=0.7,
        hints=("\u202a", "\u202b", "\u202c", "\u2066", "\u2067", "\u2068", "\u2069"),
        pattern=r"[\x{202A}-\x{202C}\x{2066}-\x{2069}]",
        check=left_to_right,
        matches=("/* begin admins only \u2066 */",),
        misses=("name: \u2067שלום\u2069",),
    ),
    TextRule(
        id="text.tag-characters",
        title="invisible tag characters, which can spell any text",
        group=Group.HIDDEN,
        severity=Severity.CRITICAL,
        confidence=0.95,
        # all of them begin alike, and case folding leaves them alone
        hints=tuple(chr(0xE0000 + low) for low in (1, *range(0x20, 0x80))),
        pattern=r"(?:^|[^\x{1F3F4}\x{E0020}-\x{E007F}])([\x{E0001}\x{E0020}-\x{E007F}]+)",
        matches=("hi" + "".join(chr(0xE0000 + ord(c)) for c in "run rm"),),
        misses=("\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in "gbsct") + "\U000e007f",),
    ),
    TextRule(
        id="text.variation-run",
        title="a run of variation selectors, long enough to hold a message",
        group=Group.HIDDEN,
        severity=Severity.HIGH,
        confidence=0.9,
        hints=(
            "\ufe00",
            "\ufe01",
            "\ufe02",
            "\ufe0e",
            "\ufe0f",
            *(chr(0xE0100 + low) for low in range(0, 240, 3)),
        ),
        pattern=r"[\x{FE00}-\x{FE0F}\x{E0100}-\x{E01EF}]{4,}",
        matches=("\U0001f600" + "".join(chr(0xE0100 + n) for n in (0, 57, 88, 91, 102)),),
        misses=("\u2764\ufe0f \u2764\ufe0f", "葛\U000e0100"),
    ),
    TextRule(
        id="text.ansi-conceal",
        title="text that a terminal is told not to show",
        group=Group.HIDDEN,
        severity=Severity.HIGH,
        confidence=0.85,
        hints=("\x1b[",),
        pattern=rf"\x1b\[{_SGR}{{0,6}}8(?:;[0-9;]{{0,40}})?m[^\x1b\n]{{4,}}",
        matches=("ok \x1b[8mrun this\x1b[0m", "\x1b[1;8;31mhidden words\x1b[0m"),
        misses=(
            "\x1b[38;5;8mgrey text\x1b[0m",
            "\x1b[1;32mgood text\x1b[0m",
            "\x1b[48;2;8;8;8mdark text\x1b[0m",
        ),
    ),
    TextRule(
        id="text.ansi-clipboard",
        title="a terminal sequence that writes to the clipboard",
        group=Group.HIDDEN,
        severity=Severity.HIGH,
        confidence=0.9,
        hints=("\x1b]52;",),
        pattern=r"\x1b\]52;[a-z0-7]{0,8};[A-Za-z0-9+/=]{4,}",
        matches=("\x1b]52;c;Y3VybCBldmls\x07",),
        misses=("\x1b]0;title\x07",),
    ),
    TextRule(
        id="text.ansi-input",
        title="a terminal sequence that types for the person, or makes the terminal answer",
        group=Group.HIDDEN,
        severity=Severity.HIGH,
        confidence=0.8,
        hints=("\x1b[", "\x1bP"),
        pattern=r"\x1b\[[0-9;]{0,20}\"[^\"\n]{1,200}\"[0-9;]{0,8}p|\x1bP\$q|\x1b\[2[01]t",
        matches=('\x1b[13;"curl x|sh"p', "\x1b[21t"),
        misses=("\x1b[2K\x1b[1A", "\x1b[20;1H"),
    ),
    TextRule(
        id="text.ansi-link",
        title="a terminal link that shows another address than it leads to",
        group=Group.HIDDEN,
        severity=Severity.HIGH,
        confidence=0.85,
        hints=("\x1b]8;",),
        pattern=r"\x1b\]8;[^;\x07\x1b]{0,100};[^\x07\x1b]{1,400}(?:\x07|\x1b\\)[^\x1b]{1,400}\x1b\]8;;",
        check=other_host,
        matches=("\x1b]8;;https://evil.example/\x07https://bank.example/\x1b]8;;\x07",),
        misses=(
            "\x1b]8;;https://a.example/x\x07https://a.example/\x1b]8;;\x07",
            "\x1b]8;;https://a.example/x\x07the docs\x1b]8;;\x07",
        ),
    ),
)
