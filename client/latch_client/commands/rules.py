"""`latchctl rules`: the rules in force here, one of them whole, and packs before they are put in place."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latch_client import batch, locate, offline
from latch_client.commands.policy import effective
from latch_client.errors import DONE, FAILED, USAGE, CommandError, UsageError
from latch_client.output import print_json, table, with_json
from latch_client.paint import printable
from latch_client.subparsers import Subparsers

if TYPE_CHECKING:
    from latchd.policy import Policy
    from latchd.rules.compiling import Entry
    from latchd.rules.generation import Generation


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "rules", help="list, check and try rules", description="Rules: those of latchd and those of packs."
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|show|validate|test")
    listed = verbs.add_parser(
        "list",
        help="list the rules in force here",
        description="Every rule, what is done about what it finds, and where it comes from.",
    )
    _with_place(listed)
    with_json(listed)
    listed.set_defaults(func=run_list)
    shown = verbs.add_parser(
        "show", help="show all that is known of one rule", description="One rule, whole."
    )
    shown.add_argument("id", metavar="ID", help="the rule's id, as records name it")
    _with_place(shown)
    with_json(shown)
    shown.set_defaults(func=run_show)
    validate = verbs.add_parser(
        "validate",
        help="say what is wrong with packs",
        description="Read packs as the daemon would and say what is wrong, as FILE:LINE: reason. Exit code 2 "
        "when something is. Without FILE your own packs are looked at.",
    )
    validate.add_argument("files", nargs="*", metavar="FILE", help="a pack")
    with_json(validate)
    validate.set_defaults(func=run_validate)
    test = verbs.add_parser(
        "test",
        help="run the examples of packs, or rows of your own",
        description="Run the examples that packs bring, or judge rows of JSON: "
        '{"command", "verdict"[, "rule"]}. Nothing is executed. Exit code 1 when one does not hold.',
    )
    test.add_argument("files", nargs="*", metavar="FILE", help="a pack; without any, the rules in force here")
    test.add_argument("--jsonl", metavar="FILE", help="judge the rows of this file instead (- = stdin)")
    _with_place(test)
    with_json(test)
    test.set_defaults(func=run_test)


def _with_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--project", default=".", metavar="DIR", help="where an agent would work (default: here)"
    )
    parser.add_argument(
        "--profile", choices=offline.PROFILES, metavar="NAME", help="as if this profile were set"
    )


def run_list(arguments: argparse.Namespace) -> int:
    policy, rules = in_force(arguments)
    told = [_told(entry, policy) for entry in rules.entries]
    if arguments.json:
        for row in told:
            print_json(row)
        return DONE
    rows = [("rule", "group", "severity", "answer", "from")]
    rows += [
        (row["id"], row["group"], row["severity"], row["action"] if row["enabled"] else "off", row["source"])
        for row in told
    ]
    print("\n".join(printable(line) for line in table(rows)))
    return DONE


def run_show(arguments: argparse.Namespace) -> int:
    policy, rules = in_force(arguments)
    entry = rules.entry(arguments.id)
    if entry is None:
        raise CommandError(f"there is no rule `{arguments.id}`{_meant(arguments.id, rules)}")
    whole = _told(entry, policy) | _whole(entry)
    if arguments.json:
        print_json(whole)
    else:
        print("\n".join(_drawn(whole)))
    return DONE


def run_validate(arguments: argparse.Namespace) -> int:
    from latchd.rules.lint import Fault, faults
    from latchd.rules.vetting import vetted

    own = f"{locate.places().config}/rules"
    paths: list[str] = arguments.files or _packs_of(own)
    found: list[Fault] = []
    for path in paths:
        pack = vetted(path, [other for other in _packs_of(own) if not _same(other, path)])
        if isinstance(pack, Fault):
            found.append(pack)
        else:
            found += [each for entry in pack.own for each in faults(pack.rules, entry)]
    if arguments.json:
        for each in found:
            print_json(
                {
                    "file": each.source,
                    "line": each.line,
                    "rule": each.rule or None,
                    "reason": each.why,
                    "weight": each.weight.value,
                }
            )
    else:
        print("\n".join(printable(str(each)) for each in found) or _praise(len(paths), own))
    return USAGE if found else DONE


def _praise(packs: int, directory: str) -> str:
    return f"{packs} packs, nothing is wrong" if packs else f"there is no pack in `{directory}`"


def run_test(arguments: argparse.Namespace) -> int:
    if arguments.jsonl is not None and arguments.files:
        raise UsageError("give either FILE or --jsonl")
    if arguments.jsonl is not None:
        policy, rules = in_force(arguments)
        return _rows(arguments, policy, rules)
    from latchd.rules.lint import examples

    entries = _tried(arguments.files) if arguments.files else _all(in_force(arguments)[1])
    ran = [example for rules, entry in entries for example in examples(rules, entry)]
    wrong = [example for example in ran if example.why]
    if arguments.json:
        for example in ran:
            print_json(example)
    else:
        for example in wrong:
            print(printable(f"`{example.rule}`: `{example.command}` {example.why}"))
        print(f"{len(ran)} examples of {len(entries)} rules, {len(wrong)} do not hold")
    return FAILED if wrong else DONE


def _tried(paths: list[str]) -> list[tuple[Generation, Entry]]:
    """The rules of packs, each with the rules it would judge with. Raises CommandError."""
    from latchd.rules.lint import Fault
    from latchd.rules.vetting import vetted

    found: list[tuple[Generation, Entry]] = []
    for path in paths:
        pack = vetted(path, [])
        if isinstance(pack, Fault):
            raise CommandError(str(pack))
        found += [(pack.rules, entry) for entry in pack.own]
    return found


def _all(rules: Generation) -> list[tuple[Generation, Entry]]:
    return [(rules, entry) for entry in rules.entries]


def _rows(arguments: argparse.Namespace, policy: Policy, rules: Generation) -> int:
    """Rows that say which verdict they want, and perhaps by which rule."""
    from latchd.offline import check_line

    counts = {"ran": 0, "wrong": 0}

    def answer(row: dict[str, Any]) -> dict[str, Any]:
        answered = check_line(row, policy, rules=rules)
        right = answered.get("verdict") == row.get("verdict") and row.get("rule", answered.get("rule")) in (
            answered.get("rule"),
            *(finding["rule"] for finding in answered.get("findings", ())),
        )
        counts["ran"] += 1
        counts["wrong"] += not right
        told = {"id": row.get("id"), "command": row.get("command"), "holds": right}
        wanted = {"wanted": row.get("verdict"), "rule": row.get("rule")}
        return told | wanted | {"got": answered.get("verdict"), "by": answered.get("rule")}

    batch.run(arguments.jsonl, answer)
    print(f"{counts['ran']} rows, {counts['wrong']} do not hold", file=sys.stderr)
    return FAILED if counts["wrong"] else DONE


def in_force(arguments: argparse.Namespace) -> tuple[Policy, Generation]:
    """The policy and the rules that would judge a call in the project. Raises CommandError."""
    from latchd.policy import PolicyError
    from latchd.projects import Projects

    places = locate.places()
    policy, _ = effective(Path(places.config_file), arguments.project)
    own = f"{places.config}/rules"
    mine = offline.standing(policy, own if Path(own).is_dir() else None)
    try:
        rules = Projects(policy, mine).rules_at(str(Path(arguments.project).resolve(strict=True)))
    except PolicyError as error:
        raise CommandError(str(error)) from error
    return offline.with_profile(policy, arguments.profile), rules


def _told(entry: Entry, policy: Policy) -> dict[str, Any]:
    rule = entry.rule
    return {
        "id": rule.id,
        "title": rule.title,
        "group": rule.group.value,
        "severity": rule.severity.value,
        "action": policy.answer(rule.group, rule.severity).value,
        "source": f"{entry.source}:{entry.line}" if entry.line else entry.source,
        "enabled": entry.enabled,
    }


def _whole(entry: Entry) -> dict[str, Any]:
    from latchd.rules.lint import said

    rule, declared = entry.rule, entry.declared
    told: dict[str, Any] = {
        **dict(zip(("message", "instead"), said(entry), strict=False)),
        "needs": sorted(rule.needs) if rule.needs is not None else None,
        "denies": list(rule.denies),
        "passes": list(rule.passes),
    }
    if declared is None:
        return told
    return told | {
        "expression": declared.expression or None,
        "pattern": declared.pattern,
        "binds": list(declared.binds),
        "safe_negative": declared.safe_negative or None,
        "owner": declared.owner or None,
        "confidence": declared.confidence,
        "tags": list(declared.tags),
        "programs": list(declared.programs),
        "operations": [operation.value for operation in declared.operations],
        "details": list(declared.details),
    }


def _drawn(whole: dict[str, Any]) -> Iterator[str]:
    """One rule for a person: a row for each thing that is said of it, a line for each example."""
    yield printable(f"{whole['id']}  {whole['title']}")
    rows: list[tuple[str, str]] = []
    for key, value in whole.items():
        if key in ("id", "title") or value in (None, []):
            continue
        if key in ("denies", "passes"):
            rows += [(key if not at else "", example) for at, example in enumerate(value)]
        else:
            rows.append((key.replace("_", " "), _spelled(value)))
    yield from (printable(line) for line in table(rows, indent="  "))


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownArgumentType]


def _packs_of(directory: str) -> list[str]:
    root = Path(directory)
    return sorted(str(path) for path in root.glob("*.yaml")) if root.is_dir() else []


def _same(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve()


def _meant(rule: str, rules: Generation) -> str:
    import difflib

    near = difflib.get_close_matches(rule, [entry.rule.id for entry in rules.entries], n=1)
    return f"; did you mean `{near[0]}`?" if near else ""
