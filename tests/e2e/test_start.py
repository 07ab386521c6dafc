"""Where a daemon refuses to start: one line, the documented exit code, and nothing touched."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from running_daemon import SILENT, daemon, places, refused


def test_a_second_daemon_names_the_first_and_leaves_it_alone(root: Path) -> None:
    with daemon(root) as first:
        lock = f"{first.places.runtime}/latchd.lock"
        second = refused(root)

        assert second == (
            1,
            [f"latchd: another latchd runs here, pid {first.process.pid} (it holds `{lock}`)"],
        )
        assert first.pre() == SILENT


def test_another_runtime_directory_does_not_make_it_another_database(root: Path) -> None:
    with daemon(root) as first:
        code, said = refused(root, "--runtime-dir", f"{root}/other")

        assert (code, said[0].startswith(f"latchd: another latchd runs here, pid {first.process.pid}")) == (
            1,
            True,
        )
        assert first.pre() == SILENT


def test_a_start_after_a_crash_replaces_the_dead_sockets(root: Path) -> None:
    with daemon(root) as first:
        first.kill()
        assert Path(first.places.hook_socket).is_socket()
    with daemon(root) as second:
        assert second.pre() == SILENT


def runtime(root: Path) -> Path:
    path = Path(places(root).runtime)
    path.mkdir(mode=0o700)
    return path


def a_file_for_a_socket(root: Path) -> str:
    (runtime(root) / "hook.sock").write_text("keep")
    return f"socket path `{root}/run/hook.sock` is a regular file, not a socket; move it away"


def a_link_for_a_socket(root: Path) -> str:
    (runtime(root) / "events.sock").symlink_to("hook.sock")
    return f"socket path `{root}/run/events.sock` is a symbolic link, not a socket; move it away"


def an_open_directory(root: Path) -> str:
    runtime(root).chmod(0o755)
    return f"runtime directory `{root}/run` is open to others (mode 0755); run: chmod 700 {root}/run"


def a_linked_directory(root: Path) -> str:
    (root / "elsewhere").mkdir(mode=0o700)
    Path(places(root).runtime).symlink_to(root / "elsewhere")
    return f"runtime directory `{root}/run` is a symbolic link; name the directory itself"


def a_state_directory_that_can_not_be(root: Path) -> str:
    Path(places(root).state).write_text("")
    return f"state directory `{root}/state` is not a directory"


def config(text: str) -> Callable[[Path], str]:
    def write(root: Path) -> str:
        Path(places(root).config).mkdir()
        Path(places(root).config_file).write_text(text)
        return f"config `{root}/config/config.toml`: "

    return write


def a_pipe_for_a_config(root: Path) -> str:
    Path(places(root).config).mkdir()
    os.mkfifo(places(root).config_file)
    return f"config `{root}/config/config.toml` is not a regular file"


def an_open_key(root: Path) -> str:
    state = Path(places(root).state)
    state.mkdir(mode=0o700)
    (state / "latchd.key").write_bytes(bytes(32))
    (state / "latchd.key").chmod(0o644)
    return f"key file `{root}/state/latchd.key` is open to others; run: chmod 600 {root}/state/latchd.key"


@pytest.mark.parametrize(
    "obstacle",
    [
        a_file_for_a_socket,
        a_link_for_a_socket,
        an_open_directory,
        a_linked_directory,
        a_state_directory_that_can_not_be,
        config("profil = 'strict'"),
        config("= ="),
        a_pipe_for_a_config,
        an_open_key,
    ],
)
def test_an_obstacle_is_one_line_and_exit_code_1(root: Path, obstacle: Callable[[Path], str]) -> None:
    expected = obstacle(root)
    code, said = refused(root)

    assert (code, len(said)) == (1, 1)
    assert said[0].startswith(f"latchd: {expected}")


def test_what_stands_in_a_sockets_place_is_untouched(root: Path) -> None:
    a_file_for_a_socket(root)
    refused(root)

    assert (Path(places(root).runtime) / "hook.sock").read_text() == "keep"


def test_a_living_program_at_the_path_is_left_alone(root: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(str(runtime(root) / "hook.sock"))
        other.listen()

        assert refused(root) == (
            1,
            [
                f"latchd: another program listens at `{root}/run/hook.sock`; "
                "stop it or choose another directory"
            ],
        )


def test_an_overlong_path_is_named_with_its_length(root: Path) -> None:
    long = f"{root}/{'d' * 100}"
    code, said = refused(root, "--runtime-dir", long)

    assert (code, said) == (
        1,
        [
            f"latchd: socket path `{long}/hook.sock` has {len(long) + 10} bytes, the kernel takes 107; "
            "set LATCHD_RUNTIME_DIR to a shorter directory"
        ],
    )


def test_a_config_that_was_asked_for_must_be_there(root: Path) -> None:
    assert refused(root, "--config", f"{root}/no.toml") == (
        1,
        [f"latchd: config `{root}/no.toml` does not exist"],
    )


@pytest.mark.skipif(os.getuid() == 0, reason="root may write to a read-only directory")
def test_a_read_only_state_directory_is_one_line(root: Path) -> None:
    Path(places(root).state).mkdir(mode=0o500)
    code, said = refused(root)

    assert (code, said) == (1, [f"latchd: state directory `{root}/state` can't be written to"])


@pytest.mark.parametrize("arguments", [["--profile", "lax"], ["--no-such-flag"], ["operand"]])
def test_wrong_usage_is_exit_code_2(root: Path, arguments: list[str]) -> None:
    code, said = refused(root, *arguments)

    assert (code, said[0].startswith("usage: latchd ")) == (2, True)
    assert not Path(places(root).runtime).exists()


def test_flags_overrule_environment_and_policy(root: Path) -> None:
    Path(places(root).config).mkdir()
    Path(places(root).config_file).write_text('profile = "observe"')
    with daemon(root, "--profile", "strict") as running:
        assert running.said == [
            f"latchd: ready, hook {root}/run/hook.sock, events {root}/run/events.sock, profile strict"
        ]
        assert running.status().profile == "strict"
