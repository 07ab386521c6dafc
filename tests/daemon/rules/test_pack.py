"""Packs: whole or refused whole, with file, line and reason."""

from __future__ import annotations

import pytest

from latch_contracts.verdict import Severity
from latchd.guard.groups import Group
from latchd.rules.bundled import ENGINE
from latchd.rules.compiling import entries
from latchd.rules.pack import MAX_FILE, PackError, group_of, parse
from rule_cases import pack

PACK = b"""version: 1
category: mine
rules:
  - id: mine.deploy
    title: a deployment is begun
    severity: high
    confidence: 0.9
    pattern: ^deploytool
    tags: [deployment]
    message: this deploys
    instead: let the person do it
"""


def test_a_pack_is_read_with_the_defaults_of_what_it_does_not_say() -> None:
    (rule,) = parse(PACK, "mine.yaml").pack.rules

    assert (rule.id, rule.severity, rule.enabled, rule.group, rule.binds) == (
        "mine.deploy",
        Severity.HIGH,
        True,
        None,
        ("command",),
    )
    assert group_of(rule) is Group.BY_SEVERITY


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (PACK.replace(b"high", b"huge"), ":6: `rules[0].severity` is wrong: invalid enum value 'huge'"),
        (PACK + b"    colour: red\n", ":12: `colour` is no field that is known here"),
        (PACK.replace(b"    tags: [deployment]\n", b""), ":4: `tags` is missing in `rules[0]`"),
        (PACK.replace(b"^deploytool", b"(x"), ":8: `mine.deploy`: the pattern is wrong: missing ): (x"),
        (PACK.replace(b"0.9", b"'0.9'"), ":7: `rules[0].confidence` is wrong: expected `float`, got `str`"),
        (PACK.replace(b"0.9", b"1.5"), ":7: `rules[0].confidence` is wrong: expected `float` <= 1.0"),
        (PACK.replace(b"version: 1", b"version: 2"), ":1: `version` is wrong: invalid enum value 2"),
        (PACK + b"    group: floor\n", ":12: `rules[0].group` is wrong: invalid enum value 'floor'"),
        (
            PACK + b"    group: self-protection\n",
            ":12: `rules[0].group` is wrong: invalid enum value 'self-protection'",
        ),
        (
            PACK + b"    tool_call_only: false\n",
            ":12: `rules[0].tool_call_only` is wrong: invalid enum value False",
        ),
        (
            PACK + b"    details: [cluster-los]\n",
            ":12: `mine.deploy`: `cluster-los` is no detail that a grammar gives",
        ),
        (
            PACK + b"    operations: [destroy]\n",
            ":12: `rules[0].operations[0]` is wrong: invalid enum value 'destroy'",
        ),
        (
            PACK + b"    programs: [/bin/x]\n",
            ":12: `mine.deploy`: `/bin/x` is no program's name in lower case",
        ),
        (
            PACK.replace(b"this deploys", b"This deploys."),
            ":10: `mine.deploy`: `message` is one sentence on one line, without a stop",
        ),
        (
            PACK + b"    safe_negative: 'true'\n",
            ":12: `mine.deploy`: `safe_negative` without an `expression` decides nothing",
        ),
        (
            PACK + b"    owner: a.b\n    expression: 'true'\n",
            ":12: `mine.deploy`: a rule with an `owner` is asked through it and has no `expression`",
        ),
        (
            PACK.replace(b"mine.deploy", b"Mine"),
            ":4: `rules[0].id` is spelt like `area.name`, lower case with hyphens",
        ),
        (b"", ":1: `the file` is wrong: expected `object`, got `null`"),
        (b"version: 1\n\xff", ":2: the file is not UTF-8"),
        (b"#" * (MAX_FILE + 1), f":1: the file has {MAX_FILE + 1} bytes, the limit is {MAX_FILE}"),
    ],
)
def test_a_slip_of_the_pen_is_refused_where_it_stands(content: bytes, says: str) -> None:
    with pytest.raises(PackError) as caught:
        parse(content, "d/mine.yaml")

    assert str(caught.value) == f"d/mine.yaml{says}"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        (
            {"expression": "f.comands.exists(c, true)"},
            "`mine.deploy`: expression 1:2: `comands` is no field of a facts",
        ),
        (
            {"expression": "true", "safe_negative": "1"},
            "`mine.deploy`: safe_negative 1:1: a rule says true or false, and this is no condition",
        ),
        ({"owner": "mine.other"}, "`mine.deploy`: `mine.other` is no rule of this file with an expression"),
        (
            {"expression": " || ".join(['f.commands.exists(c, c.argv.exists(a, a.matches("x")))'] * 8)},
            "`mine.deploy`: the expression may cost 125407 steps on an ordinary call, the limit is 100000",
        ),
    ],
)
def test_an_expression_that_can_not_be_used_is_refused_with_its_place(
    fields: dict[str, str], says: str
) -> None:
    with pytest.raises(PackError) as caught:
        list(entries([pack(fields)], ENGINE))

    assert caught.value.why == says
