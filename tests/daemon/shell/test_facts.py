"""Shell text → facts, as a whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latch_contracts.facts import (
    Access,
    ActionFacts,
    Command,
    DataFlow,
    Dialect,
    End,
    Issue,
    Kind,
    NetAction,
    Operation,
    Reach,
    Redirect,
    Status,
    Wrapper,
)
from latchd.shell.facts import analyze


def facts(text: str) -> ActionFacts:
    return analyze(text, cwd="/w", home="/home/u")


def listed(text: str) -> list[tuple[str, ...]]:
    """Program and arguments of every command, holes as `$`."""
    return [
        (command.program, *(word.replace("\0", "$") for word in command.argv[1:]))
        for command in facts(text).commands
    ]


def test_a_plain_command_is_one_complete_command() -> None:
    assert facts("frob -x 'a b'").commands == (
        Command(
            id=1,
            program="frob",
            executable="frob",
            argv=("frob", "-x", "a b"),
            arguments=facts("frob -x 'a b'").commands[0].arguments,
            operations=(Operation.EXECUTE,),
        ),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a; b & c && d || e | f", [("a",), ("b",), ("c",), ("d",), ("e",), ("f",)]),
        ("if a; then b; elif c; then d; else e; fi", [("a",), ("b",), ("c",), ("d",), ("e",)]),
        ("case $x in p) a;; *) b;; esac", [("a",), ("b",)]),
        ("while a; do b; done", [("a",), ("b",)]),
        ("a $(b $(c))", [("a", "$"), ("b", "$"), ("c",)]),
        ("a <(b) >(c)", [("a", "$", "$"), ("b",), ("c",)]),
        ("cat <<E && d > f\n$(b) `c`\nE", [("cat",), ("b",), ("c",), ("d",)]),
        ("cat <<'E'\n$(b)\nE", [("cat",)]),
        ("a=$(b) c", [("b",), ("c",)]),
        ("a=($(b) c)", [("b",)]),
        ("[[ $(a) == b ]]", [("a",)]),
        ("echo $((1 + $(a)))", [("echo", "$"), ("a",)]),
        ("f() { a; }; f", [("f",), ("a",)]),
        ("f() { a; }; b", [("b",), ("a",)]),
        ("time -p a | b", [("a",), ("b",)]),
        ("coproc N { a; }", [("a",)]),
        ("<in a b", [("a", "b")]),
        ("a{b,c}d", [("abd", "acd")]),
        ("x=rm; $x -r y", [("rm", "-r", "y")]),
        ("x='a b'; c $x \"$x\"", [("c", "a", "b", "a b")]),
        ("echo mk | sh", [("echo", "mk"), ("sh",), ("mk",)]),
        ("printf '%s\\n' 'rm x' | bash", [("printf", "%s\\n", "rm x"), ("bash",), ("rm", "x")]),
    ],
)
def test_every_command_is_listed_in_source_order(text: str, expected: list[tuple[str, ...]]) -> None:
    assert listed(text) == expected
    assert facts(text).status is Status.COMPLETE


@pytest.mark.parametrize(
    ("text", "issue", "status"),
    [
        ("$x a", Issue.DYNAMIC_WORD, Status.PARTIAL),
        ("r*m a", Issue.DYNAMIC_WORD, Status.PARTIAL),
        ('eval "$x"', Issue.DYNAMIC_WORD, Status.PARTIAL),
        ("curl -s u | sh", Issue.OPAQUE_ARTIFACT, Status.PARTIAL),
        ("sh < f", Issue.OPAQUE_ARTIFACT, Status.PARTIAL),
        ("source <(a)", Issue.OPAQUE_ARTIFACT, Status.PARTIAL),
        ("alias q=a\nq", Issue.DYNAMIC_WORD, Status.PARTIAL),
        ("alias q='\"\"'", Issue.UNSUPPORTED_CONSTRUCT, Status.PARTIAL),
        ("alias q='ev*l'", Issue.DYNAMIC_WORD, Status.PARTIAL),
        ("sudo --frob a", Issue.UNKNOWN_OPERAND_GRAMMAR, Status.PARTIAL),
        ('a "b', Issue.INVALID_SYNTAX, Status.INVALID),
        ("a\0b", Issue.CONTROL_BYTES, Status.INVALID),
        ("a\rb", Issue.CONTROL_BYTES, Status.INVALID),
        ("a \ud800", Issue.INVALID_UTF8, Status.INVALID),
        ("a" * 70_000, Issue.INPUT_LIMIT, Status.LIMIT_EXCEEDED),
        ("a; " * 129, Issue.FACT_LIMIT, Status.LIMIT_EXCEEDED),
        ("sudo " * 10 + "a", Issue.WRAPPER_LIMIT, Status.LIMIT_EXCEEDED),
        ("( " * 300 + "a" + " )" * 300, Issue.DEPTH_LIMIT, Status.LIMIT_EXCEEDED),
    ],
)
def test_what_can_not_be_known_is_an_issue_and_spoils_completeness(
    text: str, issue: Issue, status: Status
) -> None:
    found = facts(text)

    assert (issue in found.issues, found.status) == (True, status)


def test_blank_text_has_no_facts() -> None:
    assert facts(" \n") == ActionFacts("shell", Status.NOT_APPLICABLE, "/w", "/home/u", Dialect.POSIX)


def test_a_dynamic_argument_is_marked_in_place_and_spoils_nothing() -> None:
    found = facts('frob /tmp/"$x"/y')

    assert (found.status, found.commands[0].argv) == (Status.COMPLETE, ("frob", "/tmp/\0/y"))


def test_reach_says_when_a_command_runs() -> None:
    found = facts("a; b && c; d & f() { e; }; trap g EXIT")

    assert [(item.program, item.reach) for item in found.commands] == [
        ("a", Reach.ALWAYS),
        ("b", Reach.ALWAYS),
        ("c", Reach.CONDITIONAL),
        ("d", Reach.BACKGROUND),
        ("trap", Reach.ALWAYS),
        ("g", Reach.DEFERRED),
        ("e", Reach.DEFERRED),
    ]


def test_a_wrapped_command_knows_its_wrappers_outermost_first() -> None:
    child = facts("sudo -u bob timeout 5 frob").commands[2]

    assert (child.program, child.parent, child.wrappers) == (
        "frob",
        2,
        (Wrapper("sudo", ("sudo", "-u", "bob")), Wrapper("timeout", ("timeout", "5"))),
    )


def test_a_redirection_alone_is_a_command_of_its_own_kind() -> None:
    (only,) = facts("> out").commands

    assert (only.kind, only.program, only.redirects) == (
        Kind.SHELL_REDIRECT,
        "",
        (Redirect(1, Access.WRITE, "out"),),
    )


def test_a_path_outside_the_system_keeps_its_name_and_is_marked() -> None:
    own, system = facts("./rm x; /usr/bin/rm x").commands

    assert (own.program, "untrusted-path" in own.details) == ("rm", True)
    assert (system.program, "untrusted-path" in system.details) == ("rm", False)


def test_a_dangerous_tail_behind_an_unknown_program_is_suspected() -> None:
    assert facts("frobnicate --all rm -rf /x").commands[0].suspected_child == "rm -rf /x"


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("cd sub && rm a", ["/w/sub/a"]),
        ("cd sub; rm a", ["/w/sub/a", "/w/a"]),
        ("cd sub || exit 1; rm a", ["/w/sub/a"]),
        ("set -e; cd sub; rm a", ["/w/sub/a"]),
        ("(cd sub); rm a", ["/w/a"]),
        ('cd "$x"; rm a', [""]),
        ("cd && rm a", ["/home/u/a"]),
        ("rm ~/a", ["/home/u/a"]),
        ('rm "$HOME/a"', ["/home/u/a"]),
        ("x=b; rm /a/$x", ["/a/b"]),
        ("x=b; for i in 1; do x=c; done; rm /a/$x", [""]),
    ],
)
def test_directories_and_literals_of_one_straight_line_are_folded(text: str, resolved: list[str]) -> None:
    found = [path.resolved for path in facts(text).paths if path.access is Access.DELETE]

    assert found == resolved


def test_a_directory_of_mktemp_is_scratch() -> None:
    found = facts('t=$(mktemp -d); rm -rf "$t/x"')

    assert found.commands[1].argv == ("rm", "-rf", "/tmp/\0/x")


def test_bytes_flow_along_pipes_files_and_variables() -> None:
    found = facts('x=$(cat a); frob "$x" | tr b c > d')

    assert {
        DataFlow(1, 2, End.STDOUT, End.PROCESS),
        DataFlow(2, 3, End.STDOUT, End.STDIN),
        DataFlow(0, 1, End.FILE, End.PROCESS, source_path="/w/a"),
        DataFlow(3, 0, End.STDOUT, End.FILE, sink_path="/w/d"),
    } <= set(found.flows)


def test_a_redirection_to_a_socket_path_is_a_connection() -> None:
    found = facts("exec 3<>/dev/tcp/evil.example/80")

    assert [(item.action, item.host) for item in found.network] == [(NetAction.CONNECT, "evil.example")]
    assert found.status is Status.COMPLETE


@given(st.text(st.sampled_from(list("a b'\"`$(){}[]<>|&;\\\n#!=~*?é\0\t")), max_size=60))
def test_any_text_has_facts_whose_links_hold(text: str) -> None:
    found = facts(text)

    assert Issue.INTERNAL_PARSER_FAILURE not in found.issues
    assert (found.status is Status.COMPLETE) <= (found.issues == ())
    for index, command in enumerate(found.commands, 1):
        assert command.id == index
        assert 0 <= command.parent < index
        assert len(command.arguments) == len(command.argv)
    for path in found.paths:
        assert 1 <= path.command_id <= len(found.commands)
    for flow in found.flows:
        assert max(flow.from_command, flow.to_command) <= len(found.commands)


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("./run.sh a", [("execute", "/home/dev/project/run.sh")]),
        ("/opt/tool/bin/x", [("execute", "/opt/tool/bin/x")]),
        ("/usr/bin/true", []),
        ("run.sh", []),
        ("$D/run.sh", []),
    ],
)
def test_a_program_named_by_a_path_of_its_own_is_a_file_that_runs(
    command: str, paths: list[tuple[str, str]]
) -> None:
    facts = analyze(command, cwd="/home/dev/project", home="/home/dev")

    assert [(fact.access.value, fact.resolved) for fact in facts.paths] == paths


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ('cat "${X:=.env}"', ["", "/w/.env"]),
        ('rm -rf "${DIR:-/}"', ["", "/"]),
        ("rm ${DIR-$HOME}/a", ["", "/home/u/a"]),
        ("rm ${DIR:+/a}", ["", "/a"]),
        ('rm "${A:-${B:-/b}}"', ["", "/b"]),
        ('rm "${1:-/a b}"', ["", "/a b"]),
        ("rm ${A:-~/a}", ["", "/home/u/a"]),
        (': "${A:=/a}"; rm "$A"', ["", "/a"]),
        ('A="${1:-/a}"; rm "$A/b"', ["", "/a/b"]),
        ("echo > ${F:-/etc/passwd}", ["", "/etc/passwd"]),
        ("A=/b; rm ${A:-/a}", ["", "/b"]),
        ('rm "${A:-$B}"', [""]),
        ('rm "${A#/x}"', [""]),
    ],
)
def test_the_default_of_an_unset_variable_is_one_more_possible_target(text: str, paths: list[str]) -> None:
    assert [path.resolved for path in facts(text).paths] == paths


def test_a_default_is_listed_beside_the_word_that_is_not_known() -> None:
    found = facts('rm "${A:-a}"')

    assert [(item.argv, item.argv_complete, item.reach) for item in found.commands] == [
        (("rm", "\0"), False, Reach.ALWAYS),
        (("rm", "a"), True, Reach.CONDITIONAL),
    ]


@pytest.mark.parametrize(
    "text", ["echo ${x@P}", 'echo "${x[0]@P}"', 'echo "${y:-${x@P}}"', "cat <<E\n${x@P}\nE"]
)
def test_a_value_read_as_a_prompt_may_run_anything(text: str) -> None:
    assert facts(text).issues == (Issue.DYNAMIC_WORD,)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('for d in a "b c"; do rm -rf "$d"; done', ["a", "b c"]),
        ("for d in x/{a,b}; do rm $d/y; done", ["x/a/y", "x/b/y"]),
        ('for d in *.c /b; do rm "$d"; done', ["*.c", "/b"]),
        ("for d in a b; do sudo rm $d; done", ["a", "b"]),
        ("for d in a b; do for e in $d/c /f; do rm $e; done; done", ["a/c", "/f", "b/c", "/f"]),
        ("for d in a; do :; done; for d in b; do rm $d; done", ["b"]),
        ("for d in " + " ".join(f"/t/{n}" for n in range(17)) + '; do rm "$d"; done', ["/t/\0"]),
        ('for d in /t/a "/t/$x"; do rm "$d"; done', ["/t/a", "/t/\0"]),
        ("for d in $x; do rm $d; done", ["\0"]),
        ("for d in ~bob/a b; do rm $d; done", ["\0", "b"]),
        ("for d; do rm $d; done", ["\0"]),
        ("for d in a; do d=/; rm $d; done", ["\0"]),
        ("for d in a; do read d; rm $d; done", ["\0"]),
        ("for d in a b; do for d in c; do :; done; rm $d; done", ["\0"]),
        ("for d in a; do :; done; rm $d", ["\0"]),
        ("f() { d=/; }; for d in a; do f; rm $d; done", ["\0"]),
        ("for d in a; do trap 'd=/' DEBUG; rm $d; done", ["\0"]),
        ("select d in a b; do rm $d; done", ["\0"]),
    ],
)
def test_a_loop_is_gone_through_word_by_word_where_its_words_are_known(text: str, values: list[str]) -> None:
    assert [path.value for path in facts(text).paths if path.access is Access.DELETE] == values


@pytest.mark.parametrize(
    "text",
    [
        "a=mkxb; IFS=x; $a",
        "for d in mkxb; do $d; IFS=x; done",
        "for d in m*; do $d; done",
        "x=ls; trap 'x=mk' DEBUG; $x",
        "for i in 1 2; do printf 'k;m'; done | sh",
        'for d in m*; do bash <<< "echo $d"; done',
    ],
)
def test_a_value_that_may_be_read_otherwise_is_not_vouched_for(text: str) -> None:
    assert facts(text).status is Status.PARTIAL


def test_a_builtin_written_in_capitals_changes_nothing_here() -> None:
    assert listed("x=a; EVAL x=b; $x") == [("eval", "x=b"), ("a",)]


@pytest.mark.parametrize("opening", ["${x:-", "${x:+", '"${x:-'])
def test_operands_nested_beyond_reason_end_in_a_limit_and_not_in_hours(opening: str) -> None:
    closing = '}"' if opening[0] == '"' else "}"

    found = [facts("mk " + opening * depth + "a" + closing * depth) for depth in (3, 60)]

    assert [(one.status, one.issues) for one in found] == [
        (Status.COMPLETE, ()),
        (Status.LIMIT_EXCEEDED, (Issue.DEPTH_LIMIT,)),
    ]


def test_an_alias_for_what_is_not_known_is_a_doubt_and_one_for_a_known_program_is_none() -> None:
    assert [facts(text).status for text in ("alias x=$1", "alias x='ls -l'", 'alias x="ls $D"')] == [
        Status.PARTIAL,
        Status.COMPLETE,
        Status.COMPLETE,
    ]
