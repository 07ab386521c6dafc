"""Where something was found, how much is looked at, and how much is told."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from latch_contracts.events import Text
from latch_contracts.verdict import Disposition, Finding, Route, Severity
from latchd.text.detection import MAX_BYTES, MAX_FINDINGS, MAX_OF_ONE_RULE, Noticed, detect
from latchd.text.rule import HEX, WORD, made

TOKEN = "ghp_" + made(WORD, 36)
KEY = "dapi" + made(HEX, 32)


def where(noticed: Noticed) -> list[tuple[str, str, int, int]]:
    return [(one.rule, one.surface, one.start, one.end) for one in noticed.findings]


def test_a_finding_says_where_and_not_what() -> None:
    noticed = detect((Text("prompt", "fix it"), Text("result.stdout", f"é {TOKEN}\n")))

    assert noticed == Noticed(
        (
            Finding(
                rule="text.github-token",
                group="text-secret",
                severity=Severity.CRITICAL,
                reason="a GitHub token",
                route=Route.FALLBACK,
                disposition=Disposition.DETECT,
                surface="result.stdout",
                start=3,  # bytes: é has two
                end=43,
            ),
        ),
        examined=50,
    )
    assert TOKEN[4:] not in repr(noticed)


def test_nothing_is_found_in_nothing() -> None:
    assert detect(()) == Noticed()
    assert detect((Text("prompt", ""),)) == Noticed()


def test_of_a_long_text_the_head_and_the_tail_are_looked_at_and_the_rest_is_counted() -> None:
    filler = "lorem ipsum " * 60_000
    text = f"{TOKEN} {filler} {KEY} {filler} {TOKEN}"

    noticed = detect((Text("result", text),))

    assert where(noticed) == [
        ("text.github-token", "result", 0, 40),
        ("text.github-token", "result", len(text) - 40, len(text)),
    ]
    assert (noticed.examined, noticed.unexamined) == (MAX_BYTES, len(text) - MAX_BYTES)


def test_a_long_text_takes_nothing_from_a_short_one() -> None:
    noticed = detect((Text("result.stdout", "x " * MAX_BYTES), Text("result.stderr", TOKEN)))

    assert where(noticed) == [("text.github-token", "result.stderr", 0, 40)]
    assert noticed.unexamined == 2 * MAX_BYTES + 40 - MAX_BYTES


def test_a_rule_tells_of_so_many_places_and_an_event_of_so_many_findings() -> None:
    one_rule = detect((Text("result", f"{TOKEN}\n" * 100),))
    many = detect(tuple(Text(f"result.{n}", f"{TOKEN}\n{KEY}\n" * 8) for n in range(10)))

    assert len(one_rule.findings) == MAX_OF_ONE_RULE
    assert len(many.findings) == MAX_FINDINGS


def test_the_loudest_findings_are_kept() -> None:
    quiet = tuple(Text(f"quiet.{n}", "dob: 1984-03-12\n" * 8) for n in range(8))

    noticed = detect((*quiet, Text("last", TOKEN)))

    assert len(noticed.findings) == MAX_FINDINGS
    assert where(noticed)[-1] == ("text.github-token", "last", 0, 40)


def test_a_rule_that_is_switched_off_says_nothing() -> None:
    assert detect((Text("prompt", TOKEN),), frozenset({"text.github-token"})).findings == ()


def test_many_texts_are_bounded_too() -> None:
    noticed = detect(tuple(Text("result", "ab ") for _ in range(5000)))

    assert noticed.examined + noticed.unexamined == 15_000
    assert noticed.unexamined > 0


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300), st.text(max_size=300))
def test_whatever_stands_around_it_a_range_is_the_tokens_own(before: str, after: str) -> None:
    text = f"{before} {TOKEN} {after}"
    data = text.encode("utf-8", "replace")

    noticed = detect((Text("result", text),))

    assert TOKEN.encode() in {data[one.start : one.end] for one in noticed.findings}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=200), max_size=5))
def test_any_texts_are_looked_through_without_a_fault(found: list[str]) -> None:
    noticed = detect(tuple(Text("result", text) for text in found))

    assert noticed.examined == sum(len(text.encode("utf-8", "replace")) for text in found)
