"""`latchctl completion`: a static completion script, made from the parsers themselves."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, cast

import msgspec

from latch_client import cli
from latch_client.errors import DONE
from latch_client.subparsers import Subparsers


class Option(msgspec.Struct, frozen=True):
    """One option: its spellings, its help, whether a value follows, and which ones there are."""

    names: tuple[str, ...]
    text: str
    takes_value: bool
    values: tuple[str, ...] = ()


class Command(msgspec.Struct, frozen=True):
    """One command: what may follow it. ``words`` are its verbs or the choices of its argument."""

    name: str
    text: str
    options: tuple[Option, ...]
    words: tuple[str, ...]


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "completion",
        help="print a completion script for your shell",
        description="Print a completion script. bash: latchctl completion bash > "
        "~/.local/share/bash-completion/completions/latchctl; zsh: into a directory of fpath as _latchctl; "
        "fish: ~/.config/fish/completions/latchctl.fish.",
    )
    parser.add_argument("shell", choices=sorted(SCRIPTS), help="bash, zsh or fish")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    print("\n".join(SCRIPTS[arguments.shell](commands())))
    return DONE


def commands() -> list[Command]:
    """Every command of latchctl with its options, read from its parser."""
    return [_command(name, text) for name, text in cli.COMMANDS.items()]


def bash(table: Sequence[Command]) -> Iterator[str]:
    yield "_latchctl() {"
    yield '    local current="${COMP_WORDS[COMP_CWORD]}" words=""'
    yield '    case "$COMP_CWORD ${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD-1]}" in'
    yield f"        1\\ *) words={shlex.quote(' '.join(command.name for command in table))} ;;"
    for command in table:
        for option in command.options:
            if option.takes_value:
                where = "|".join(f"*\\ {command.name}\\ {name}" for name in option.names)
                yield f"        {where}) words={shlex.quote(' '.join(option.values))} ;;"
        offered = [*command.words, *(name for option in command.options for name in option.names)]
        yield f"        *\\ {command.name}\\ *) words={shlex.quote(' '.join(offered))} ;;"
    yield "    esac"
    yield '    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")'
    yield "}"
    yield "complete -o default -F _latchctl latchctl"


def zsh(table: Sequence[Command]) -> Iterator[str]:
    yield "#compdef latchctl"
    yield "local -a commands=("
    for command in table:
        yield f"    {shlex.quote(f'{command.name}:{command.text}')}"
    yield ")"
    yield "if (( CURRENT == 2 )); then"
    yield "    _describe command commands"
    yield "    return"
    yield "fi"
    yield "case $words[2] in"
    for command in table:
        specs = [_zsh_option(option, name) for option in command.options for name in option.names]
        rest = f"*:word:({' '.join(command.words)})" if command.words else "*:file:_files"
        yield f"    {command.name}) shift words; (( CURRENT-- )); _arguments {shlex.join([*specs, rest])} ;;"
    yield "esac"


def fish(table: Sequence[Command]) -> Iterator[str]:
    for command in table:
        yield f"complete -c latchctl -n __fish_use_subcommand -f -a {command.name} -d {_fish(command.text)}"
    for command in table:
        inside = f"complete -c latchctl -n {_fish(f'__fish_seen_subcommand_from {command.name}')}"
        if command.words:
            yield f"{inside} -f -a {_fish(' '.join(command.words))}"
        for option in command.options:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
            )
            value = " -r" if option.takes_value else ""
            if option.values:
                value = f" -x -a {_fish(' '.join(option.values))}"
            yield f"{inside} {names} -d {_fish(option.text)}{value}"


SCRIPTS: Final[Mapping[str, Callable[[Sequence[Command]], Iterator[str]]]] = MappingProxyType(
    {"bash": bash, "zsh": zsh, "fish": fish}
)


def _command(name: str, text: str) -> Command:
    parser = _children(cli.parser_of(name))[name]
    verbs = _children(parser)
    actions = [action for one in (parser, *verbs.values()) for action in _actions(one)]
    options = {tuple(action.option_strings): _option(action) for action in actions if action.option_strings}
    words = [*verbs]
    for action in actions:
        if not action.option_strings and not isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            words += map(str, action.choices or ())
    return Command(name, text, tuple(options.values()), tuple(words))


def _option(action: argparse.Action) -> Option:
    return Option(
        names=tuple(action.option_strings),
        text=(action.help or "").replace("%%", "%"),
        takes_value=action.nargs != 0,
        values=tuple(map(str, action.choices or ())),
    )


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return parser._actions  # pyright: ignore[reportPrivateUsage] (argparse has no public way to ask)


def _children(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers below this one, by name."""
    found: dict[str, argparse.ArgumentParser] = {}
    for action in _actions(parser):
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            found |= cast("dict[str, argparse.ArgumentParser]", action.choices)  # pyright: ignore[reportUnknownMemberType]
    return found


def _zsh_option(option: Option, name: str) -> str:
    text = option.text.replace("[", "(").replace("]", ")").replace(":", " -")
    if not option.takes_value:
        return f"{name}[{text}]"
    values = f"({' '.join(option.values)})" if option.values else "_files"
    return f"{name}[{text}]:value:{values}"


def _fish(text: str) -> str:
    """fish knows two escapes inside single quotes, and not the shell's way of ending them."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
