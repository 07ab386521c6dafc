"""How often the guard is right, over corpora that other people wrote: every figure in one run.

Read only, in process, no daemon, no disk beyond the corpora; nothing in a corpus is ever executed.
`python tests/accuracy/measure.py` prints the table of docs/accuracy.md. `--show NAME` lists the rows of
one figure that went wrong (to the terminal alone: rows are not ours to keep). `--save` and `--against`
keep the verdicts of a run and show what a change moved.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script: tests/ is the root

from accuracy.exceptions import EXCEPTIONS
from accuracy.owners import OWNERS
from corpora import rows
from latch_contracts.connectors import CONNECTORS
from latchd.offline import check_line
from latchd.policy import Policy

_POLICY: Final = Policy()


class Answer(msgspec.Struct, frozen=True):
    """One row with what was said about it: ``right`` is the measure's own judgement."""

    figure: str
    key: str
    text: str
    verdict: str
    rule: str | None  # what decided; the others are in ``rules``
    rules: tuple[str, ...]
    right: bool
    wanted: str


class Bar(msgspec.Struct, frozen=True):
    """A figure's bar: the share of rows that must be right."""

    figure: str
    title: str
    least: float


BARS: Final = (
    Bar("facts.attack", "facts: attacks found by a rule of their kind", 1.0),
    Bar("facts.benign", "facts: benign calls without any finding", 1.0),
    Bar("dcg.block", "dcg core: blocked rows not allowed", 0.97),
    Bar("dcg.allow", "dcg core: allowed rows not denied", 1.0),
    Bar("dcg-pack.block", "dcg packs: blocked rows not allowed", 0.90),
    Bar("dcg-pack.allow", "dcg packs: allowed rows not denied", 1.0),
    Bar("ccsn.block", "cc-safety-net, standard mode: blocked rows not allowed", 0.97),
    Bar("ccsn.allow", "cc-safety-net, standard mode: allowed rows not denied", 0.99),
    Bar("cases.a", "reports of destruction: the expert's verdict", 0.98),
    Bar("cases.a-deny", "reports of destruction: denials not allowed", 1.0),
    Bar("cases.b", "reports of false positives: the expert's verdict", 0.98),
    Bar("cases.c", "reports of secrets and egress: the expert's verdict", 0.98),
    Bar("nl2bash.not-denied", "commands people wrote: not denied", 0.98),
    Bar("nl2bash.not-asked", "commands people wrote: not asked about", 0.97),
)


def answers() -> Iterator[Answer]:
    """Every row of every corpus, judged under the built-in `balanced` policy."""
    yield from written_answers()
    yield from peoples_answers()


def written_answers() -> Iterator[Answer]:
    """The corpora that were written as tests: each row has its answer."""
    yield from _facts()
    yield from _dcg()
    yield from _ccsn()
    yield from _cases()


def share(found: Iterable[Answer], figure: str, *, argued: bool) -> float:
    """How many of a figure's rows are right; with ``argued``, exceptions are left out."""
    chosen = [
        answer.right
        for answer in found
        if answer.figure == figure and not (argued and answer.key in EXCEPTIONS)
    ]
    return sum(chosen) / len(chosen) if chosen else 0.0


def _judged(
    figure: str, key: str, row: dict[str, Any], wanted: str, rules: frozenset[str] | None = None
) -> Answer:
    said = check_line(row, _POLICY, row.get("connector", ""))
    found = tuple(dict.fromkeys(finding["rule"] for finding in said.get("findings", ())))
    verdict = str(said.get("verdict", "error: " + str(said.get("error"))))
    match wanted:
        case "found":
            right = bool(set(found) & (rules or frozenset()))
        case "nothing":
            right = not found and verdict == "allow"
        case "not allow":
            right = verdict in ("ask", "deny")
        case "not deny":
            right = verdict in ("allow", "ask")
        case "not ask":
            right = verdict in ("allow", "deny")
        case _:
            right = verdict == wanted
    text = str(row.get("command") or row.get("args") or row.get("event"))
    return Answer(figure, key, text, verdict, said.get("rule"), found, right, wanted)


def _facts() -> Iterator[Answer]:
    for row in rows("facts-corpus.jsonl"):
        given = row["input"]
        asked: dict[str, Any] = {"id": row["id"], "cwd": given["cwd"], "home": given["active_home"]}
        if given["tool"] == "shell":
            asked["command"] = given["command"]
        else:
            asked |= {"tool": given["tool"], "args": given["args"]}
        if given.get("dialect") in ("powershell", "cmd"):
            asked["dialect"] = given["dialect"]
        wanted = "found" if row["is_attack"] else "nothing"
        figure = "facts.attack" if row["is_attack"] else "facts.benign"
        yield _judged(figure, row["id"], asked, wanted, OWNERS.get(row["target_rule"], frozenset()))


def _dcg() -> Iterator[Answer]:
    for number, row in enumerate(rows("dcg-corpus.jsonl")):
        if row["note"] is None:
            name = ("dcg-pack" if row["needs_pack"] else "dcg") + "." + row["expect"]
            wanted = "not allow" if row["expect"] == "block" else "not deny"
            yield _judged(name, f"dcg-{number}", {"command": row["command"]}, wanted)


def _ccsn() -> Iterator[Answer]:
    for row in rows("ccsn-corpus.jsonl"):
        modes = {mode for mode, on in row["mode"].items() if on} - {"metadata_ok"}
        if not row["portable"] or modes:
            continue
        asked = {"cwd": row["cwd"] or "/home/dev/project"}
        if row.get("command"):
            asked["command"] = row["command"]
        elif not row.get("target"):
            continue  # a call without any argument is the floor's to refuse
        else:
            asked |= {"tool": row["tool"], "args": {"file_path": row.get("target")}}
        wanted = "not allow" if row["expect"] == "block" else "not deny"
        yield _judged(f"ccsn.{row['expect']}", row["id"], asked, wanted)


def _cases() -> Iterator[Answer]:
    for row in rows("cases.jsonl"):
        if row["kind"] not in "abc" or row.get("doubtful") or row.get("setup"):
            continue
        asked = {"id": row["id"], "cwd": row.get("cwd") or "/home/dev/proj", "home": "/home/dev"}
        given = row["input"]
        if "command" in given:
            asked["command"] = given["command"]
        elif "event" in given and row["connector"].replace("-", "") in CONNECTORS:
            asked |= {"event": given["event"], "connector": row["connector"]}
        else:
            continue
        wanted = row["right"]["verdict"].replace("detect", "allow")
        yield _judged(f"cases.{row['kind']}", row["id"], asked, wanted)
        if row["kind"] == "a" and wanted == "deny":
            yield _judged("cases.a-deny", row["id"], asked, "not allow")


def peoples_answers() -> Iterator[Answer]:
    """Commands that people wrote and nobody judged: each row counts once for denials, once for questions."""
    for row in rows("nl2bash.jsonl"):
        denied = _judged("nl2bash.not-denied", row["id"], {"command": row["command"]}, "not deny")
        yield denied
        yield msgspec.structs.replace(
            denied, figure="nl2bash.not-asked", wanted="not ask", right=denied.verdict != "ask"
        )


def _table(found: list[Answer]) -> Iterator[str]:
    for bar in BARS:
        chosen = [answer.right for answer in found if answer.figure == bar.figure]
        plain = share(found, bar.figure, argued=False)
        argued = share(found, bar.figure, argued=True)
        mark = "✓" if plain >= bar.least else "≈" if argued >= bar.least else "✗"
        count = f"{sum(chosen):5}/{len(chosen):<5} {plain:7.2%}  argued {argued:7.2%}  (bar {bar.least:.0%})"
        yield f"{mark} {bar.figure:20} {count}  {bar.title}"


def _moved(found: list[Answer], before: dict[str, str]) -> Iterator[str]:
    for answer in found:
        old = before.get(f"{answer.figure}/{answer.key}")
        if old is not None and old != _said(answer):
            sign = "+" if answer.right else "-"
            yield f"{sign} {answer.figure}/{answer.key}: {old} -> {_said(answer)}\n      {answer.text[:200]}"


def _said(answer: Answer) -> str:
    return f"{answer.verdict} {','.join(answer.rules)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="append", default=[], metavar="FIGURE", help="list its wrong rows")
    parser.add_argument("--save", metavar="FILE", help="keep every verdict of this run")
    parser.add_argument("--against", metavar="FILE", help="show what changed since that run")
    parser.add_argument("--rules", action="store_true", help="count verdicts by rule, people's commands")
    arguments = parser.parse_args()
    began = time.monotonic()
    found = list(answers())
    for figure in arguments.show:
        for answer in found:
            if answer.figure == figure and not answer.right:
                print(f"{answer.key} [{_said(answer)}] wanted {answer.wanted}\n      {answer.text}")
    if arguments.against:
        print(*_moved(found, json.loads(Path(arguments.against).read_text("utf-8"))), sep="\n")
    if arguments.save:
        kept = {f"{answer.figure}/{answer.key}": _said(answer) for answer in found}
        Path(arguments.save).write_text(json.dumps(kept), "utf-8")
    if arguments.rules:
        people = [answer for answer in found if answer.figure == "nl2bash.not-denied"]
        for verdict in ("deny", "ask"):
            counted = Counter(str(answer.rule) for answer in people if answer.verdict == verdict)
            print(verdict, *(f"{rule}: {count}" for rule, count in counted.most_common()), sep="\n  ")
    print(*_table(found), sep="\n")
    if agreeing := sorted({answer.key for answer in found if answer.right} & EXCEPTIONS.keys()):
        print("exceptions that agree by now:", *agreeing)
    print(f"{len(found)} rows in {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
