"""The guard protects itself: its files, its process, its socket, and the hooks that call it.

The agent runs as the same user, so nothing here is a wall; it is what keeps an honest mistake, or a
model that was talked into it, from taking the guard away without a person noticing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from latch_contracts.facts import Access, Command, Operation, PathFact
from latch_contracts.verdict import Severity
from latchd.guard.assignments import assigned
from latchd.guard.groups import Group
from latchd.guard.places import hook_file, own
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject

_INSTEAD: Final = "the person can do this in their own terminal"
_STOPPERS: Final = frozenset(
    "kill pkill killall killall5 skill systemctl service launchctl rc-service initctl s6-svc sv fuser "
    "gdb lldb gcore strace ltrace perf bpftrace".split()
)
_LOOKING: Final = frozenset(
    "status is-active is-enabled show cat list-units list-unit-files list-sockets -0 -l".split()
)
_PERSONS: Final = frozenset(("allow", "down", "uninstall", "install"))
# What shows codes to whoever has a terminal, and what makes one where there is none.
_SHOWING: Final = frozenset(("tail", "history", "show"))
_TERMINALS: Final = frozenset("script unbuffer expect socat tmux screen dtach abduco".split())
# Our own client, called from code: its import, then one of the person's verbs or the hook socket.
_FROM_CODE: Final = re.compile(
    r"(?:from|import)[ \t]{1,8}latch_c(?s:.{1,400}?)"
    r"(?:['\"](?:allow|down|uninstall|install)['\"]|hook_socket)"
)
# The directories that hook files lie in: to remove or move one takes them along.
_HOMES: Final = frozenset((".claude", ".codex", ".cursor", ".gemini", ".opencode", ".windsurf", ".copilot"))
_MUTATES: Final = (Access.WRITE, Access.APPEND, Access.DELETE)
_NAMES: Final = re.compile(r"LATCHD_[A-Z_]{1,40}|XDG_(?:RUNTIME_DIR|STATE_HOME|CONFIG_HOME)")
_UNSETS: Final = re.compile(
    r"\b(?:unset|env[ \t]{1,8}-u)[ \t]{1,8}(?:\w{1,64}[ \t]{1,8}){0,8}(?P<name>LATCHD_[A-Z_]{1,40})"
)


def _spelled(subject: Subject, fact: PathFact) -> Iterator[str]:
    yield fact.resolved or fact.value
    view = subject.view(fact.resolved) if fact.resolved else None
    if view is not None and view.real:
        yield view.real


def _changes_rights(command: Command, fact: PathFact) -> bool:
    changes = Operation.PERMISSION_CHANGE in command.operations or command.program == "mount"
    return fact.access is Access.METADATA and changes


def _own_files(subject: Subject) -> Iterator[Hit]:
    for command, fact in subject.touched(*_MUTATES, Access.READ, Access.CONNECT, Access.METADATA):
        for path in _spelled(subject, fact):
            name = path.rpartition("/")[2]
            changes = fact.access in _MUTATES or _changes_rights(command, fact)
            secret = name in ("latchd.key", "hook.token", "hook.sock") and own(path, subject.home)
            if (changes and own(path, subject.home)) or secret:
                yield Hit(
                    command.id,
                    path.replace("\0", "$…")[:160],
                    f"`{path[:120]}` belongs to the guard".replace("\0", "$…"),
                    _INSTEAD,
                )
                break


def _hook_files(subject: Subject) -> Iterator[Hit]:
    for command, fact in subject.touched(*_MUTATES, Access.METADATA):
        if fact.access is Access.METADATA and not _changes_rights(command, fact):
            continue
        for path in _spelled(subject, fact):
            whole = fact.access is Access.DELETE and path.rpartition("/")[2] in _HOMES
            if whole or hook_file(path, subject.home):
                yield Hit(
                    command.id,
                    path.replace("\0", "$…")[:160],
                    f"`{path[:120]}` holds an agent's hooks: a write there can take the guard away".replace(
                        "\0", "$…"
                    ),
                    _INSTEAD,
                )
                break


_SOCKET: Final = re.compile(r"(?:^|[/:'\"])(?:hook|events)\.sock\b")


def _sockets(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        for word in command.argv[1:]:
            if _SOCKET.search(word) and "latchd" in subject.text:
                yield Hit(command.id, "the guard's socket", "this speaks to the guard's socket", _INSTEAD)
                break


def _stops(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        words = command.argv[1:]
        named = any("latchd" in word or "latch_client" in word for word in words) or _matches(command)
        told = command.program in _STOPPERS and not _LOOKING & set(words)
        if told and (named or _fed_by_name(subject, command)):
            yield Hit(command.id, "latchd", "this stops the guard or changes how it starts", _INSTEAD)


def _matches(command: Command) -> bool:
    """Whether a pattern among the words takes the guard with it: `pkill lat`, `systemctl stop 'lat*'`."""
    words = [word for word in command.argv[1:] if not word.startswith("-")]
    if command.program == "systemctl":
        return any(
            "*" in word and fnmatchcase("latchd.service", word.rpartition(".")[0] or word) for word in words
        )
    if command.program not in ("pkill", "skill"):
        return False
    return any(len(word) > 2 and word.isalpha() and word in "latchd latch_client latchctl" for word in words)


def _fed_by_name(subject: Subject, command: Command) -> bool:
    """Whether the numbers to end come from a search for the guard: `kill $(pgrep latchd)`."""
    return any(
        "latchd" in word or "latch_c" in word or word == "latchctl"
        for source in subject.sources(command)
        for word in source.argv
    )


_REMOVERS: Final = frozenset(
    "pip pip3 pipx uv poetry pdm conda mamba apt apt-get dnf brew python python3".split()
)


def _uninstalls(command: Command) -> bool:
    words = command.argv[1:]
    removes = {"uninstall", "remove", "purge"} & set(words)
    other = {"install", "reinstall"} & set(words) and any(_OTHER_RELEASE.match(word) for word in words)
    return command.program in _REMOVERS and ((bool(removes) and "latchd" in words) or bool(other))


# A release of our own from wherever the words say: what is installed is what guards.
_OTHER_RELEASE: Final = re.compile(r"(?:/\S{0,256}/)?latchd(?:\[[\w,]{0,64}\])?(?:[=<>~!@]\S{0,128})?\Z")
_CHANGERS: Final = frozenset("rm unlink mv chmod chown ln cp install truncate shred dd tee sed".split())
_LOCATORS: Final = frozenset(("which", "command", "type", "whereis", "realpath", "readlink"))
_TYPISTS: Final = frozenset("xdotool ydotool wtype dotool osascript".split())
_TYPED: Final = re.compile(r"latchctl\s{1,8}(?:allow|down|uninstall|install)\b")
_STATE: Final = re.compile(r"latchd/latchd\.(?:db|key)|latchd/hook\.token")


def _changes_program(subject: Subject, command: Command) -> bool:
    """`rm $(which latchd)`: where our own program lies is asked for, and what is there is changed."""
    located = any(one.program in _LOCATORS for one in subject.facts.commands)
    return command.program in _CHANGERS and located and _fed_by_name(subject, command)


def _opens_state(command: Command) -> bool:
    coded = "inline-code" in command.details
    return coded and any(_STATE.search(word) for word in command.argv[1:])


def _commands(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if verb := _persons_verb(command):
            yield Hit(command.id, f"latchctl {verb}", f"`latchctl {verb}` is for the person alone", _INSTEAD)
        elif shown := _codes(subject, command):
            yield Hit(
                command.id, f"latchctl {shown}", "this shows codes that are for the person alone", _INSTEAD
            )
        elif command.program in _TYPISTS and any(map(_TYPED.search, command.argv)):
            yield Hit(command.id, "latchctl", "this types what is for the person alone", _INSTEAD)
        elif _changes_program(subject, command) or _opens_state(command):
            yield Hit(command.id, "latchd", "this changes the guard's own program or state", _INSTEAD)
        elif _uninstalls(command):
            yield Hit(command.id, "latchd", "this uninstalls the guard", _INSTEAD)
        elif command.program.startswith("python") and _FROM_CODE.search(subject.text):
            yield Hit(command.id, "latch_client", "this calls the guard as the person does", _INSTEAD)


def _persons_verb(command: Command) -> str:
    return next((word for word in _words_for_client(command) if word in _PERSONS), "")


def _codes(subject: Subject, command: Command) -> str:
    """What of `latchctl` shows codes here, where no person looks; "" for nothing."""
    words = _words_for_client(command)
    verb = next((word for word in words if word in _SHOWING), "")
    on_a_terminal = any(one.program in _TERMINALS for one in subject.acting())
    return verb if "--codes" in words or on_a_terminal else ""


def _words_for_client(command: Command) -> tuple[str, ...]:
    """What follows the name of our client, wherever in the command that stands."""
    words = command.argv
    at = 0 if command.program == "latchctl" else -1
    for index, word in enumerate(words):
        is_client = word in ("latch_client.cli", "latch_client") or word.endswith("latch_client/cli.py")
        if is_client or word.rpartition("/")[2] == "latchctl":
            at = index
            break
    if at < 0 or (
        at > 0 and command.program in ("echo", "grep", "rg", "git", "cat", "man", "which", "command", "type")
    ):
        return ()
    return tuple(words[at + 1 :])


def _environment(subject: Subject) -> Iterator[Hit]:
    text = subject.text
    if "LATCHD_" not in text and "XDG_" not in text:
        return
    changed = [name for name, _value in assigned(text, _NAMES)]
    changed += [found["name"] for found in _UNSETS.finditer(text)]
    for name in changed:
        # the XDG names serve many programs: they matter where the guard's own are called
        if name.startswith("LATCHD_") or "latch" in text:
            yield Hit(0, name, f"`{name}` decides where the guard is found", _INSTEAD)


RULES: Final = (
    Rule(
        "self.files",
        "the guard's own files are touched",
        Group.SELF_PROTECTION,
        Severity.CRITICAL,
        _own_files,
        denies=(
            "echo x > ~/.config/latchd/config.toml",
            "rm -rf ~/.local/state/latchd",
            "cat ~/.local/state/latchd/latchd.key",
            "sed -i s/a/b/ ~/.config/systemd/user/latchd.service",
            "rm .latchd.toml",
            "chmod 000 ~/.local/state/latchd/latchd.db",
            "mount --bind /tmp/x ~/.config/latchd",
        ),
        passes=(
            "cat ~/.config/latchd/config.toml",
            "ls ~/.local/state/latchd",
            "cat daemon/latchd/engine.py",
        ),
    ),
    Rule(
        "self.hooks",
        "an agent's hooks are changed",
        Group.SELF_PROTECTION,
        Severity.CRITICAL,
        _hook_files,
        denies=(
            "echo '{}' > ~/.claude/settings.json",
            "rm .claude/settings.local.json",
            "rm -rf .claude",
            "sed -i d ~/.codex/config.toml",
        ),
        passes=("cat ~/.claude/settings.json", "ls ~/.claude"),
    ),
    Rule(
        "self.socket",
        "something speaks to the guard's socket",
        Group.SELF_PROTECTION,
        Severity.CRITICAL,
        _sockets,
        denies=(
            "nc -U /run/user/1000/latchd/hook.sock",
            "cd $XDG_RUNTIME_DIR/latchd && nc -U hook.sock",
            "socat - UNIX-CONNECT:/run/user/1000/latchd/hook.sock",
        ),
        passes=("nc -U /tmp/a.sock",),
    ),
    Rule(
        "self.stop",
        "the guard is stopped",
        Group.SELF_PROTECTION,
        Severity.CRITICAL,
        _stops,
        denies=(
            "systemctl --user stop latchd.service",
            "pkill -f latchd",
            "killall latchd",
            "systemctl --user disable latchd-hook.socket",
            "kill $(pgrep latchd)",
            "pgrep -f latchd | xargs kill",
            "pkill -f latch",
            "systemctl --user stop 'lat*'",
            "strace -p $(pgrep latchd)",
        ),
        passes=(
            "systemctl --user status latchd",
            "pkill node",
            "echo latchd",
            "kill $(pgrep node)",
            "systemctl --user stop 'web-*'",
            "systemctl stop nginx",
        ),
    ),
    Rule(
        "self.command",
        "a command that is for the person alone",
        Group.SELF_PROTECTION,
        Severity.CRITICAL,
        _commands,
        denies=(
            "latchctl allow 1234",
            "latchctl down",
            "echo K7QM-2XRD | xargs latchctl allow",
            "latchctl tail --codes",
            "script -qc 'latchctl tail --no-follow' /dev/null",
            "python3 venv/lib/latch_client/cli.py allow K7QM-2XRD",
            "python3 -c \"from latch_client.cli import main; main(['allow', 'K7QM-2XRD'])\"",
            "python3 -m latch_client.cli uninstall claudecode",
            "~/.local/bin/latchctl down",
            "pip uninstall -y latchd",
            "pip install --force-reinstall latchd==0.0.1",
            "rm $(which latchd)",
            "xdotool type 'latchctl allow K7QM-2XRD'",
        ),
        passes=(
            "latchctl status",
            "latchctl tail --no-follow",
            "grep -r 'latchctl allow' docs",
            "pip uninstall -y requests",
            "latchctl explain 'rm -rf /'",
            "echo latchctl down",
            "pip install requests",
            "pip install -e .",
            "rm $(which eslint)",
            "which latchd",
        ),
    ),
    Rule(
        "self.environment",
        "where the guard is found is changed",
        Group.SELF_PROTECTION,
        Severity.CRITICAL,
        _environment,
        denies=(
            "LATCHD_RUNTIME_DIR=/tmp/x ls",
            "export LATCHD_STATE_DIR=/tmp",
            "XDG_RUNTIME_DIR=/tmp latchctl status",
            "env LATCHD_CONFIG_DIR=/x make",
        ),
        passes=("XDG_RUNTIME_DIR=/run/user/1000 systemctl --user status x", "echo LATCHD_X=1", "FOO=1 make"),
    ),
)
