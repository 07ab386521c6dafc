"""Where things live is decided by the environment alone, and a place that can't work is an error."""

from __future__ import annotations

from typing import Final

import pytest

from latch_contracts.places import MAX_SOCKET_PATH, PlaceError, Places, resolve

HOME: Final = {"HOME": "/home/dev"}


def _private(_: str) -> bool:
    return True


def _shared(_: str) -> bool:
    return False


def test_a_desktop_session_has_everything_in_its_xdg_directories() -> None:
    environ = {
        "HOME": "/home/dev",
        "XDG_RUNTIME_DIR": "/run/user/1000",
        "XDG_STATE_HOME": "/s",
        "XDG_CONFIG_HOME": "/c",
    }

    assert resolve(environ, 1000, _shared) == Places("/run/user/1000/latchd", "/s/latchd", "/c/latchd")


def test_without_xdg_the_users_own_runtime_directory_and_home_stand_in() -> None:
    assert resolve(HOME, 7, _private) == Places(
        "/run/user/7/latchd", "/home/dev/.local/state/latchd", "/home/dev/.config/latchd"
    )


def test_without_a_private_runtime_directory_the_sockets_go_below_the_state() -> None:
    assert resolve(HOME, 7, _shared).runtime == "/home/dev/.local/state/latchd/run"


def test_only_the_users_own_runtime_directory_is_asked_about() -> None:
    asked: list[str] = []

    def private(path: str) -> bool:
        asked.append(path)
        return False

    resolve(HOME, 7, private)

    assert asked == ["/run/user/7"]


def test_latchds_own_variables_win_and_need_no_home() -> None:
    environ = {
        "LATCHD_RUNTIME_DIR": "/r",
        "LATCHD_STATE_DIR": "/s",
        "LATCHD_CONFIG_DIR": "/c",
        "XDG_RUNTIME_DIR": "/run/user/1000",
    }

    assert resolve(environ, 1000, _shared) == Places("/r", "/s", "/c")


def test_a_relative_xdg_directory_is_ignored() -> None:
    environ = {**HOME, "XDG_RUNTIME_DIR": "run", "XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "."}

    assert resolve(environ, 7, _private) == resolve(HOME, 7, _private)


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "dev"}])
def test_without_a_home_to_stand_on_there_is_no_place(environ: dict[str, str]) -> None:
    with pytest.raises(PlaceError, match="neither LATCHD_STATE_DIR, XDG_STATE_HOME nor HOME"):
        resolve({**environ, "LATCHD_RUNTIME_DIR": "/r"}, 7, _private)


@pytest.mark.parametrize("letter", ["r", "é", "\udcff"])
def test_a_socket_path_is_counted_in_bytes_against_the_kernels_limit(letter: str) -> None:
    room = MAX_SOCKET_PATH - len("/" + "/events.sock")
    wide = len(letter.encode("utf-8", "surrogateescape"))
    longest = "/" + letter * (room // wide) + "x" * (room % wide)

    assert resolve({**HOME, "LATCHD_RUNTIME_DIR": longest}, 7, _private).runtime == longest
    with pytest.raises(PlaceError, match=r"has 108 bytes, the kernel takes 107"):
        resolve({**HOME, "LATCHD_RUNTIME_DIR": longest + "x"}, 7, _private)


def test_every_file_has_its_place() -> None:
    places = Places("/r", "/s", "/c")

    assert (
        places.hook_socket,
        places.events_socket,
        places.lock,
        places.token,
        places.database,
        places.key,
        places.spool,
        places.installs,
        places.config_file,
    ) == (
        "/r/hook.sock",
        "/r/events.sock",
        "/r/latchd.lock",
        "/r/hook.token",
        "/s/latchd.db",
        "/s/latchd.key",
        "/s/spool.jsonl",
        "/s/installs.json",
        "/c/config.toml",
    )
