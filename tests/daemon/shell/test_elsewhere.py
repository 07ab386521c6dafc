"""Commands in containers, on other hosts and in terminal multiplexers."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Argument, Reach
from latchd.shell.child import Child
from latchd.shell.elsewhere import container, screen, ssh, tmux
from latchd.shell.listing import Input


def line(child: Child) -> str:
    return " ".join(word.value for word in child.words) if child.words is not None else child.code


def words(text: str) -> tuple[Argument, ...]:
    return tuple(Argument(word.replace("_", " ")) for word in text.split(" "))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("docker run --rm -it -v /:/h -w /h img rm x", ["rm x"]),
        ("docker run -eA=1 --name c --network host img rm x", ["rm x"]),
        ("docker run --entrypoint rm img x", ["rm x"]),
        ("docker run --entrypoint=sh img -c rm_x", ["sh -c rm x"]),
        ("docker run img", []),
        ("docker --context c exec -u root c rm x", ["rm x"]),
        ("docker compose -f f.yml exec -T web rm x", ["rm x"]),
        ("docker container exec c rm x", ["rm x"]),
        ("docker build -t rm .", []),
        ("docker ps", []),
        ("kubectl -n ns exec -it pod -c app -- rm x", ["rm x"]),
        ("kubectl run p --image=i -- rm x", ["rm x"]),
        ("kubectl run p --image=i", []),
        ("oc rsh pod rm x", ["rm x"]),
        ("kubectl delete pod rm", []),
    ],
)
def test_a_container_runs_the_words_behind_its_image(text: str, expected: list[str]) -> None:
    found = container(words(text), Input()).children

    assert [line(child) for child in found] == expected
    assert all(child.remote for child in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ssh h rm x", [("rm x", True)]),
        ("ssh -p 22 -i k -o A=b u@h rm x", [("rm x", True)]),
        ("ssh h -p 22 rm x", [("rm x", True)]),
        ("ssh h rm_x;_ls", [("rm x; ls", True)]),
        ("ssh -o ProxyCommand=nc_%h_%p h", [("nc %h %p", False)]),
        ("ssh -oLocalCommand=rm_x h", [("rm x", False)]),
        ("ssh -N -L 1:h:2 h", []),
        ("ssh h", []),
    ],
)
def test_ssh_runs_the_words_behind_its_host_there_and_some_options_here(
    text: str, expected: list[tuple[str, bool]]
) -> None:
    found = ssh(words(text), Input()).children

    assert [(line(child), child.remote) for child in found] == expected


def test_a_literal_stdin_of_ssh_is_a_shell_text_there() -> None:
    (child,) = ssh(words("ssh h"), Input(True, "rm x\n")).children

    assert (child.code, child.remote) == ("rm x\n", True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tmux new-session -d -s n rm_x", ["rm x"]),
        ("tmux send-keys -t n rm_x Enter", ["rm x\n"]),
        ("tmux send -l rm_x", ["rm x"]),
        ("tmux new -d ; send-keys rm_x C-m", ["rm x\n"]),
        ("tmux split-window -h rm_x", ["rm x"]),
        ("tmux kill-session -t rm", []),
        ("tmux ls", []),
    ],
)
def test_tmux_starts_programs_and_types_into_shells(text: str, expected: list[str]) -> None:
    found = tmux(words(text), Input()).children

    assert [line(child) for child in found] == expected
    assert {child.reach for child in found} <= {Reach.BACKGROUND}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("screen -dmS n rm x", ["rm x"]),
        ("screen -S n -X stuff rm_x^M", ["rm x\n"]),
        ("screen -S n -X exec rm x", ["rm x"]),
        ("screen -S n -X eval stuff_rm screen_rm", ["rm", "rm"]),
        ("screen -S n -X quit", []),
        ("screen -ls", []),
    ],
)
def test_screen_starts_a_program_or_passes_a_command_on(text: str, expected: list[str]) -> None:
    assert [line(child) for child in screen(words(text), Input()).children] == expected
