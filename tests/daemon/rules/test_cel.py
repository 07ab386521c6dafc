"""Expressions: what is admitted, what is refused and where, and that an error is never a yes."""

from __future__ import annotations

import pytest

from latchd.guard.work import MAX_STEPS_RULE
from latchd.rules.cel import CelEngine
from latchd.rules.checked import Call, Const, Node
from latchd.rules.engine import (
    MAX_DEPTH,
    MAX_NODES,
    MAX_PATTERN,
    BudgetSpent,
    CompileError,
    EvaluationError,
    View,
)
from latchd.rules.fixture import FIXTURE
from latchd.rules.subset import NotAdmitted, admit

ENGINE = CelEngine()


def view(**facts: object) -> View:
    return View({**FIXTURE.facts, **facts}, FIXTURE.sizes)


@pytest.mark.parametrize(
    "source",
    [
        "true",
        'f.status == "complete" && f.tool != "x" || !f.commands.exists(c, c.acts)',
        'f.commands.exists(c, c.program in ["a", "b"] && c.argv.exists(a, a.startsWith("--force")))',
        'f.commands.exists(c, "delete" in c.operations && c.id == 1)',
        'f.commands.exists(c, f.paths.exists(p, p.command_id == c.id && p.place == "project-root"))',
        'f.paths.exists(p, "credential" in p.labels || p.name.endsWith(".pem") || p.value.contains("/x/"))',
        'f.commands.exists(c, c.line.matches("^a (?:b|c)$"))',
        "f.commands.exists(c, c.program == c.executable)",
    ],
)
def test_what_a_rule_may_say_compiles_and_has_a_truth_value(source: str) -> None:
    assert ENGINE.compile(source).holds(FIXTURE) in (True, False)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("f.commands.exists(c, c.x)", "1:23: `x` is no field of a command"),
        ("g.x", "1:2: undeclared reference to 'g.x'"),
        ('f.tool == "a', "1:11: syntax error: token recognition error at: '\"a'"),
        ("f.commands.all(c, c.acts)", "1:15: of the macros only `exists` is admitted"),
        ("f.commands.exists_one(c, c.acts)", "1:22: of the macros only `exists` is admitted"),
        (
            "f.commands.filter(c, c.acts).exists(d, d.acts)",
            "1:18: of the macros only `exists` is admitted",
        ),
        ("has(f.tool)", "1:4: `has` is not admitted; every field is always there"),
        ("f.commands.exists(c,\n  c.id + 1 == 2)", "2:8: arithmetic is not admitted in a rule"),
        ('f.tool < "a"', "1:8: ordering is not admitted in a rule"),
        ("f.commands[0].acts", "1:11: indexing is not admitted in a rule"),
        ("f.commands.size() == 1", "1:16: `size` is not admitted in a rule"),
        ("true ? true : false", "1:6: a choice (`? :`) is not admitted in a rule"),
        ("null == null", "1:1: only bool, int and string literals are admitted"),
        ("1.0 == 1.0", "1:1: only bool, int and string literals are admitted"),
        ('b"a" == b"a"', "1:1: only bool, int and string literals are admitted"),
        ('{"a": 1} == {"a": 1}', "1:1: maps and messages are not admitted"),
        ("f.tool", "1:2: a rule says true or false, and this is no condition"),
        ('"x" in f.commands', "1:5: only single values can be compared"),
        ("f.commands.exists(c, c.program == 3)", "1:32: a string is compared with a int"),
        ('f.commands.exists(c, c.reach == "alwys")', "1:30: `alwys` is no value that can stand here"),
        (
            'f.commands.exists(c, "cluster-los" in c.details)',
            "1:36: `cluster-los` is no value that can stand here",
        ),
        ("f.commands.exists(c, c.reach == c.effect)", "1:30: these two never hold the same words"),
        ("f.commands.exists(c, c.line.matches(c.program))", "1:38: `matches` takes a literal pattern"),
        ('f.tool.matches("(")', "1:16: the pattern is wrong: missing ): ("),
        ('f.tool.matches("(?=a)")', "1:16: the pattern is wrong: invalid perl operator: (?="),
        (
            f'f.tool.matches("{"a" * (MAX_PATTERN + 1)}")',
            "1:16: a pattern in an expression has at most 512 bytes",
        ),
        (
            "f.commands.exists(c, f.paths.exists(p, c.argv.exists(a, a == p.value)))",
            "1:53: `exists` may stand in 1 other, no deeper",
        ),
        ('["a"].exists(x, x == "a")', "1:13: `exists` runs over a list of the facts"),
        ("type(f) == type(f)", "1:5: `type` is not admitted in a rule"),
        ("||".join(["1==1"] * 2000), f"the expression has more than {MAX_NODES} parts"),
        ("true" + " " * 17_000, "1:1: the expression has more than 16384 bytes"),
    ],
)
def test_what_a_rule_may_not_say_is_refused_with_its_place(source: str, says: str) -> None:
    with pytest.raises(CompileError) as caught:
        ENGINE.compile(source)

    assert str(caught.value).endswith(says)


def test_nesting_is_bounded() -> None:
    tree: Node = Const(1, value=True)
    for _ in range(MAX_DEPTH):
        tree = Call(1, "!_", (tree,))

    with pytest.raises(CompileError, match="recursion limit exceeded"):
        ENGINE.compile("(" * 80 + "true" + ")" * 80)
    with pytest.raises(NotAdmitted, match="more than 64 deep"):
        admit(tree, lambda _: "")


def test_an_error_is_no_answer_although_python_takes_its_value_for_true() -> None:
    program = ENGINE.compile("f.commands.exists(c, c.acts)")

    with pytest.raises(EvaluationError, match="Key not found"):
        program.holds(view(commands=[{"id": 1}]))


def test_a_value_that_is_no_truth_is_no_answer() -> None:
    program = ENGINE.compile("f.commands.exists(c, c.acts)")

    with pytest.raises(EvaluationError):
        program.holds(view(commands=[{"acts": "yes"}]))


def test_the_librarys_own_limit_is_a_spent_budget() -> None:
    program = ENGINE.compile('f.commands.exists(c, f.paths.exists(p, p.value == "x" && p.name != "x"))')
    many = [{"value": "x", "name": "x"}] * 200

    with pytest.raises(BudgetSpent, match="budget exceeded"):
        program.holds(view(commands=[{"id": 1}] * 200, paths=many))


def test_what_an_evaluation_can_cost_is_known_before_it_is_begun() -> None:
    own = ENGINE.compile('f.commands.exists(c, c.argv.exists(a, a == "x"))')
    crossed = ENGINE.compile('f.commands.exists(c, f.paths.exists(p, p.value == "x"))')
    sizes = {"commands": 10, "commands.argv": 100, "paths": 50}

    # 3 nodes once, 3 for each command, 3 for each word of all commands together
    assert own.steps(sizes) == 3 + 3 * 10 + 3 * 100
    # here every path is looked at for every command
    assert crossed.steps(sizes) == 3 + 3 * 10 + 4 * 10 * 50
    assert (
        ENGINE.compile('f.commands.exists(c, c.argv.exists(a, a.matches("x")))').steps(sizes)
        == 3 + 3 * 10 + 163 * 100
    )
    assert own.steps({"commands": 128, "commands.argv": 131_072, "paths": 256}) > MAX_STEPS_RULE
