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
        "doppler run -p a -c dev --",
        "infisical run --env=dev --",
        "op run --env-file .env --no-masking --",
        "aws-vault exec prod --",
        "aws-vault exec -n --duration=1h prod",
        "dotenv -e .env --",
        "dotenv -f .env run --",
        "dotenvx run -f .env --",
        "chamber exec a b --",
        "envchain aws",
        "direnv exec .",
        "mise exec node@20 --",
        "mise x --",
        "asdf exec",
        "nix develop .#shell -c",
        "nix shell p --command",
        "poetry -C d run",
        "pipenv run",
        "uv run --frozen --with a",
        "uvx --from a",
        "pdm run",
        "hatch run",
        "bundle exec",
        "npx -y -p a",
        "npx --yes --package=a --",
        "bunx",
        "pnpm dlx",
        "pnpm -C d exec",
        "npm exec --",
        "firejail --net=none",
        "perf stat -r 3 -e cycles",
        "perf record -g -o f --",
        "proxychains -q",
        "timeout 5 poetry run sudo",
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
        "bash.exe -c 'frob -x y'",
        "'C:\\Program Files\\Git\\bin\\BASH.EXE' -c 'frob -x y'",
        "SUDO.cmd frob -x y",
        "BASH -c 'frob -x y'",
        "doppler run --command 'frob -x y'",
        "nix-shell -p a b --run 'frob -x y'",
        "nix-shell --command='frob -x y'",
        "mise x -c 'frob -x y'",
        "npx -c 'frob -x y'",
        "parallel ::: 'a' 'frob -x y'",
        "parallel 'frob -x {}' ::: y",
        "parallel -j 2 frob -x ::: a y",
        "parallel frob {2} {1} ::: y ::: -x",
        "tmux send-keys -t p 'frob -x y' Enter",
        "tmux new -d -s n \\; send-keys 'frob -x y' C-m",
        "screen -S n -X stuff 'frob -x y\\n'",
        "screen -S n -X at 0# stuff 'frob -x y^M'",
        "screen -S n -X screen -t title frob -x y",
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
        "screen -S n -X at 0 kill",
        "screen -S n -X quit",
        "tmux send-keys -t p C-c",
        "tmux rename-window run",
        "npm run frob",
        "poetry install",
        "dotenv list",
        "parallel --version",
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
        ("parallel rm -rf {} ::: build", ("rm", "-rf", "build")),
        ("parallel rm -rf ::: build", ("rm", "-rf", "build")),
        ("parallel cp {1} {2} ::: a :::+ b", ("cp", "a", "b")),
        ("parallel rm ::: a 'b c'", ("rm", "b c")),
        ("parallel rm ::: '$(mk)'", ("rm", "$(mk)")),
        ("parallel rm {} :::: list", ("rm", "$")),
        ("parallel rm ::: *.o", ("rm", "*.o")),
        ("npx -y rimraf@5 x", ("rimraf", "x")),
        ("uv run a.py x", ("python", "a.py", "x")),
    ],
)
def test_items_stand_where_the_runner_puts_them(text: str, expected: tuple[str, ...]) -> None:
    assert (innermost(text), analyze(text).status) == (expected, Status.COMPLETE)


@pytest.mark.parametrize(
    "text", ["sudo --frob rm x", "nice -Z rm x", "xargs --frob rm x", "uv run --frob rm x", "npx -Z rm x"]
)
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


@pytest.mark.parametrize("text", ["eval echo a*", 'for f in a*; do bash -c "echo $f"; done', "ssh h ls *"])
def test_the_name_of_a_file_inside_code_is_not_vouched_for(text: str) -> None:
    assert analyze(text).issues == (Issue.DYNAMIC_WORD,)


def test_a_pattern_beside_the_code_spoils_nothing() -> None:
    assert analyze("bash -c 'ls \"$@\"' _ *.c").status is Status.COMPLETE
