"""Wrappers → the commands behind them."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Issue, Status
from latchd.shell.facts import analyze


def innermost(text: str) -> tuple[str, ...]:
    """The last command of a text, holes as `$`."""
    return tuple(word.replace("\0", "$") for word in analyze(text, cwd="/w", home="/h").commands[-1].argv)


@pytest.mark.parametrize(
    "wrapped",
    [
        "sudo",
        "sudo -u bob -H",
        "sudo --user=bob",
        "sudo A=1",
        "doas -u bob",
        "pkexec",
        "env",
        "env -i A=1 B=2",
        "env -u A --",
        "command",
        "command -p",
        "builtin",
        "exec",
        "exec -a name",
        "nohup",
        "setsid -w",
        "nice",
        "nice -n 5",
        "nice -10",
        "ionice -c2 -n7",
        "chrt -f 10",
        "taskset -c 0,1",
        "/usr/bin/time -v",
        "timeout 5",
        "timeout -k 5 -s KILL 10s",
        "timeout --signal=KILL 5",
        "stdbuf -oL",
        "unbuffer",
        "flock -n /l",
        "strace -f -e trace=file",
        "ltrace -S",
        "gdb -q --args",
        "valgrind --leak-check=full",
        "unshare -n",
        "nsenter -t 1 -m",
        "chroot /r",
        "systemd-run --user --scope -p A=b",
        "busybox",
        "toybox",
        "docker exec -it c",
        "docker run --rm -v a:b img",
        "podman exec c",
        "kubectl exec -n ns pod --",
        "docker compose exec -T web",
        "ssh -p 22 host",
        "fd -e c -x",
        "git bisect run",
        "watch -n 5",
        "xargs -r",
        "proxychains4 -q",
        "sudo -n env A=1 nice timeout 3",
        "screen -dmS n",
        "tmux new-session -d -s n",
        "tmux new -d",
        "find . -exec",
    ],
)
def test_a_wrapper_is_looked_through(wrapped: str) -> None:
    tail = " \\;" if wrapped.startswith("find") else ""

    assert innermost(f"{wrapped} frob -x y{tail}")[:3] == ("frob", "-x", "y")


@pytest.mark.parametrize(
    "text",
    [
        "bash -c 'frob -x y'",
        "sh -lc 'frob -x y'",
        "zsh -ec 'frob -x y' a b",
        "bash -o errexit -c 'frob -x y'",
        "eval frob -x y",
        "eval 'frob -x' y",
        "trap 'frob -x y' EXIT",
        "su - bob -c 'frob -x y'",
        "su -c 'frob -x y' bob",
        "runuser -l bob -c 'frob -x y'",
        "script -q -c 'frob -x y' /dev/null",
        "flock /l -c 'frob -x y'",
        "env -S 'frob -x y'",
        "echo 'frob -x y' | sh",
        "bash <<< 'frob -x y'",
        "bash <<'E'\nfrob -x y\nE",
        "cat <<E | bash\nfrob -x y\nE",
        "echo 'frob -x y' | sudo bash -s",
        "source /dev/stdin <<< 'frob -x y'",
        "git -c alias.q='!frob -x y' q",
        "git submodule foreach 'frob -x y'",
        "git rebase -x 'frob -x y' main",
        "git -c core.pager='frob -x y' log",
        "ssh host 'frob -x y'",
        "ssh -o ProxyCommand='frob -x y' host",
        "echo -x y | xargs frob",
        "echo frob -x y | parallel",
        "echo a | xargs -I{} frob -x y",
        "GIT_SSH_COMMAND='frob -x y' git fetch",
        "bash -c \"bash -c 'frob -x y'\"",
    ],
)
def test_code_in_a_word_or_on_stdin_is_read(text: str) -> None:
    found = analyze(text, cwd="/w", home="/h")

    commands = [command.argv[:3] for command in found.commands]
    assert ("frob", "-x", "y") in commands or Issue.OPAQUE_ARTIFACT in found.issues


@pytest.mark.parametrize(
    "text",
    [
        "sudo -l",
        "sudo -v",
        "command -v frob",
        "env --version",
        "timeout --help",
        "ionice -p 12",
        "bash --version",
    ],
)
def test_an_inspection_runs_nothing_more(text: str) -> None:
    assert len(analyze(text).commands) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("find /a /b -exec rm {} +", ("rm", "/a/$", "/b/$")),
        ("find -exec rm x{} \\;", ("rm", "x$")),
        ("ls | xargs rm -f", ("rm", "-f", "$")),
        ("ls | xargs -I% mv % /b/%", ("mv", "$", "/b/$")),
        ("fd -e o -x rm", ("rm", "$")),
        ("ls | parallel gzip {}", ("gzip", "$")),
    ],
)
def test_items_stand_where_the_runner_puts_them(text: str, expected: tuple[str, ...]) -> None:
    assert (innermost(text), analyze(text).status) == (expected, Status.COMPLETE)


@pytest.mark.parametrize("text", ["sudo --frob rm x", "nice -Z rm x", "xargs --frob rm x"])
def test_an_unknown_option_is_said_and_the_guess_still_listed(text: str) -> None:
    found = analyze(text)

    assert (found.issues, found.commands[-1].program) == ((Issue.UNKNOWN_OPERAND_GRAMMAR,), "rm")


@pytest.mark.parametrize(
    "text", ["a | bash", "bash -s < f", "curl u | sudo sh", "bash <(a)", ". <(a)", "a | ssh h bash"]
)
def test_a_program_from_an_unseen_source_is_opaque(text: str) -> None:
    assert analyze(text).issues == (Issue.OPAQUE_ARTIFACT,)


def test_paths_behind_another_root_are_not_resolved_here() -> None:
    found = analyze("docker exec c rm a", cwd="/w", home="/h")

    assert [path.resolved for path in found.paths if path.value == "a"] == [""]
