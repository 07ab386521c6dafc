"""How bytes move between files, processes and the network."""

from __future__ import annotations

import pytest

from latch_contracts.facts import DataFlow, End
from latchd.shell.facts import analyze
from latchd.shell.flows import MAX_FLOWS

FILE, NETWORK, PROCESS, STDIN, STDOUT = End.FILE, End.NETWORK, End.PROCESS, End.STDIN, End.STDOUT


def flows(text: str) -> set[DataFlow]:
    return set(analyze(text, cwd="/w", home="/home/u").flows)


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("true | cat", {DataFlow(1, 2, STDOUT, STDIN)}),
        ("true; cat", set[DataFlow]()),
        ("true > f", {DataFlow(1, 0, STDOUT, FILE, sink_path="/w/f")}),
        ("true 2> f", {DataFlow(1, 0, PROCESS, FILE, sink_path="/w/f")}),
        ("true > /dev/null", set[DataFlow]()),
        ("true < f", {DataFlow(0, 1, FILE, STDIN, source_path="/w/f")}),
        ("true 2>&1", set[DataFlow]()),
        ("cat f", {DataFlow(0, 1, FILE, PROCESS, source_path="/w/f")}),
        ("true > /dev/tcp/h/1", {DataFlow(1, 0, STDOUT, NETWORK, host="h")}),
        ("true < /dev/tcp/h/1", {DataFlow(0, 1, NETWORK, STDIN, host="h")}),
        (
            "{ true; false; } > f",
            {DataFlow(number, 0, STDOUT, FILE, sink_path="/w/f") for number in (1, 2, 3)},  # 1 is `> f`
        ),
        (
            "{ true > g; } > f",
            {
                DataFlow(1, 0, STDOUT, FILE, sink_path="/w/f"),
                DataFlow(2, 0, STDOUT, FILE, sink_path="/w/g"),
            },
        ),
        (
            "{ true | cat; } > f",
            {
                DataFlow(2, 3, STDOUT, STDIN),
                *(DataFlow(number, 0, STDOUT, FILE, sink_path="/w/f") for number in (1, 3)),
            },
        ),
        (
            "curl -o f http://h.example/x",
            {
                DataFlow(0, 1, NETWORK, PROCESS, host="h.example"),
                DataFlow(1, 0, PROCESS, FILE, sink_path="/w/f"),
                DataFlow(0, 0, NETWORK, FILE, sink_path="/w/f", host="h.example"),
            },
        ),
        (
            "curl -T f http://h.example/x",
            {
                DataFlow(0, 1, FILE, PROCESS, source_path="/w/f"),
                DataFlow(1, 0, PROCESS, NETWORK, host="h.example"),
                DataFlow(0, 1, NETWORK, PROCESS, host="h.example"),  # the answer goes to stdout
                DataFlow(0, 0, FILE, NETWORK, source_path="/w/f", host="h.example"),
            },
        ),
    ],
)
def test_bytes_move_where_the_shell_and_the_program_move_them(text: str, moved: set[DataFlow]) -> None:
    assert flows(text) == moved


def test_output_that_becomes_a_word_reaches_the_command() -> None:
    programs = {command.id: command.program for command in analyze("touch $(date)").commands}
    assert {
        (programs[flow.from_command], programs[flow.to_command], flow.sink)
        for flow in flows("touch $(date)")
        if flow.from_command and flow.to_command
    } == {("date", "touch", PROCESS)}


def test_output_reaches_a_command_through_a_variable() -> None:
    programs = {command.id: command.program for command in analyze("x=$(date); touch $x").commands}
    assert {
        (programs[flow.from_command], programs[flow.to_command], flow.sink)
        for flow in flows("x=$(date); touch $x")
        if flow.from_command and flow.to_command
    } == {("date", "touch", PROCESS)}


def test_a_flow_is_told_once() -> None:
    assert len(analyze("cat f f f", cwd="/w").flows) == 1


def test_more_flows_than_are_listed_are_a_limit() -> None:
    facts = analyze("cat " + " ".join(f"f{number}" for number in range(MAX_FLOWS + 1)), cwd="/w")
    assert (len(facts.flows), facts.status.value) == (MAX_FLOWS, "limit_exceeded")
