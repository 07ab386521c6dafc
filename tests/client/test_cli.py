"""The command line as a whole: what is listed, what is imported, how mistakes read, what shells complete."""

from __future__ import annotations

import argparse
import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import latch_client
import latch_contracts
from corpora import REPOSITORY
from latch_client import cli
from latch_client.cli import COMMANDS, main
from latch_client.commands import completion, status
from latch_client.commands.completion import Command, Option
from wire_server import places_in

SOURCES = os.pathsep.join(
    str(Path(package.__path__[0]).parent) for package in (latch_client, latch_contracts)
)

TABLE = [
    Command("tail", "show records", (Option(("--kind",), "only [one]: a's", True, ("gap", "fault")),), ()),
    Command("policy", "the policy", (Option(("-h", "--help"), "help", False),), ("show",)),
]


def python(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": SOURCES, "HOME": "/nonexistent"} | environ,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_list_can_be_built_and_run(name: str) -> None:
    parser = cli.parser_of(name)

    assert name in parser.format_help()


def test_help_lists_every_command_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--help"])
    lines = capsys.readouterr().out.splitlines()

    assert (code, lines[0]) == (0, "usage: latchctl COMMAND [options]")
    assert [line.split()[0] for line in lines[2:-2]] == list(COMMANDS)


def test_no_command_at_all_is_a_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    code = main([])

    assert (code, capsys.readouterr().err.splitlines()[0]) == (2, "usage: latchctl COMMAND [options]")


def test_a_mistyped_command_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert (main(["statsu"]), capsys.readouterr().err) == (
        2,
        "latchctl: there is no command `statsu`; did you mean `status`; see `latchctl --help`\n",
    )


def test_a_wrong_option_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert (main(["status", "--jsno"]), capsys.readouterr().err) == (
        2,
        "latchctl: unrecognized arguments: --jsno; see `latchctl status --help`\n",
    )


def test_options_may_not_be_shortened(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tail", "--no-fol"]) == 2
    capsys.readouterr()


def test_a_command_tells_its_own_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tail", "--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: latchctl tail ")


def test_a_choice_imports_that_command_alone() -> None:
    code = (
        "import sys; from latch_client import cli; cli.parser_of('tail'); "
        "print(*sorted(m for m in sys.modules if m.startswith(('latch_client.commands.', 'latchd'))))"
    )

    assert python(code).stdout.split() == ["latch_client.commands.history", "latch_client.commands.tail"]


def test_no_command_needs_the_daemon_before_it_was_chosen() -> None:
    code = (
        "import sys; from latch_client import cli; [cli.parser_of(name) for name in cli.COMMANDS]; "
        "print(*sorted(m for m in sys.modules if m.startswith(('latchd', 'trio', 'apsw', 'tree_sitter'))))"
    )

    assert python(code).stdout.split() == []


def test_no_home_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("HOME", "XDG_STATE_HOME", "LATCHD_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)

    assert (main(["status"]), capsys.readouterr().err) == (
        1,
        "latchctl: neither LATCHD_STATE_DIR, XDG_STATE_HOME nor HOME names an absolute directory\n",
    )


def test_what_the_system_refuses_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_: argparse.Namespace) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", "/x\x1b")

    monkeypatch.setattr(status, "run", refuse)

    assert (main(["status"]), capsys.readouterr().err) == (1, "latchctl: `/x\\x1b`: permission denied\n")


def test_a_reader_that_left_is_no_failure() -> None:
    code = (
        "import os, sys; from latch_client import cli; r, w = os.pipe(); os.dup2(w, 1); os.close(w); "
        "os.close(r); sys.exit(cli.main(['--help']))"
    )
    done = python(code)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_that_knows_ascii_alone_gets_escapes() -> None:
    code = "import sys; from latch_client import cli; cli._survive_encoding(sys.stdout); print('→')"

    assert python(code, PYTHONIOENCODING="ascii").stdout == "\\u2192\n"


def test_the_places_of_a_test_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from latch_client import locate

    assert places_in(tmp_path, monkeypatch) == locate.places()


def test_every_command_and_option_is_in_the_docs() -> None:
    text = (REPOSITORY / "docs" / "latchctl.md").read_text("utf-8")
    sections = {part.split("\n", 1)[0].strip("`"): part for part in text.split("\n## ")[1:]}
    missing = [
        f"{command.name} {name}"
        for command in completion.commands()
        for option in command.options
        for name in option.names
        if name not in ("-h", "--help") and f"`{name}" not in sections.get(command.name, "")
    ]

    assert [name for name in COMMANDS if name not in sections] == []
    assert missing == []


# completion


def test_bash_completion_is_a_case_per_command_and_option() -> None:
    assert list(completion.bash(TABLE)) == [
        "_latchctl() {",
        '    local current="${COMP_WORDS[COMP_CWORD]}" words=""',
        '    case "$COMP_CWORD ${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD-1]}" in',
        "        1\\ *) words='tail policy' ;;",
        "        *\\ tail\\ --kind) words='gap fault' ;;",
        "        *\\ tail\\ *) words=--kind ;;",
        "        *\\ policy\\ *) words='show -h --help' ;;",
        "    esac",
        '    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")',
        "}",
        "complete -o default -F _latchctl latchctl",
    ]


def test_fish_completion_is_a_line_per_command_and_option() -> None:
    assert list(completion.fish(TABLE)) == [
        "complete -c latchctl -n __fish_use_subcommand -f -a tail -d 'show records'",
        "complete -c latchctl -n __fish_use_subcommand -f -a policy -d 'the policy'",
        "complete -c latchctl -n '__fish_seen_subcommand_from tail' "
        "-l kind -d 'only [one]: a\\'s' -x -a 'gap fault'",
        "complete -c latchctl -n '__fish_seen_subcommand_from policy' -f -a 'show'",
        "complete -c latchctl -n '__fish_seen_subcommand_from policy' -s h -l help -d 'help'",
    ]


def test_zsh_completion_describes_commands_and_options() -> None:
    assert list(completion.zsh(TABLE)) == [
        "#compdef latchctl",
        "local -a commands=(",
        "    'tail:show records'",
        "    'policy:the policy'",
        ")",
        "if (( CURRENT == 2 )); then",
        "    _describe command commands",
        "    return",
        "fi",
        "case $words[2] in",
        "    tail) shift words; (( CURRENT-- )); _arguments "
        """'--kind[only (one) - a'"'"'s]:value:(gap fault)' '*:file:_files' ;;""",
        "    policy) shift words; (( CURRENT-- )); _arguments '-h[help]' '--help[help]' '*:word:(show)' ;;",
        "esac",
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("latchctl sta", ["status"]),
        ("latchctl tail --k", ["--kind"]),
        ("latchctl tail --kind g", ["gap"]),
        ("latchctl policy s", ["show"]),
        ("latchctl completion z", ["zsh"]),
    ],
)
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_itself_completes(line: str, expected: list[str]) -> None:
    words = line.split()
    script = "\n".join(completion.bash(completion.commands()))
    ask = f'{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _latchctl; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "--norc", "-c", ask], capture_output=True, text=True, check=True)

    assert done.stdout.split() == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["completion", shell])

    assert (code, "explain" in capsys.readouterr().out) == (0, True)
