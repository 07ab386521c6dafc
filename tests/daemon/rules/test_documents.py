"""YAML without its surprises."""

from __future__ import annotations

import pytest

from latchd.rules.documents import DocumentError, read


def test_values_are_what_they_look_like_and_know_their_lines() -> None:
    document = read("a: 1\nb: [x, 'true', true, 0.5]\nc:\n  - d: no\n    e: |\n      two\n      lines\n")

    assert document.value == {
        "a": 1,
        "b": ["x", "true", True, 0.5],
        "c": [{"d": "no", "e": "two\nlines\n"}],
    }
    assert [document.line(path) for path in ("$", "$.b", "$.c[0].d", "$.c[0].e", "$.c[0].x", "$.b[9]")] == [
        1,
        2,
        4,
        5,
        4,
        2,
    ]


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("a: &x 1\nb: 2", 1, "anchors are not admitted"),
        ("a: 1\nb: *x", 2, "aliases are not admitted"),
        ("a: !!str 1", 1, "tags are not admitted"),
        ("a: !!python/object/apply:os.system [ls]", 1, "tags are not admitted"),
        ("a: 1\na: 2", 2, "`a` is there twice"),
        ("a: 1\n---\nb: 2", 2, "a file holds one document"),
        ("1: a", 1, "a key is a plain word"),
        ("a:\nb: 1", 1, "a value is missing"),
        ("a: null", 1, "a value is missing"),
        ("a: [", 2, "the text is no YAML: did not find expected node content"),
        (
            "a: \0",
            1,
            "the text is no YAML: unacceptable character #x0000: control characters are not allowed",
        ),
        ("[" * 20 + "]" * 20, 1, "the document is nested more than 8 deep"),
    ],
)
def test_what_yaml_can_do_and_a_pack_needs_not_is_refused(text: str, line: int, why: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(text)

    assert (caught.value.line, caught.value.why) == (line, why)
