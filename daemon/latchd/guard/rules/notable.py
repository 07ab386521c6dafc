"""What is let pass and told: traces that are removed, hooks that are skipped, a look around for more rights.

None of it is refused by itself; a person who reads the records should meet it, and a chain may begin here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Access, Command, Effect, Operation
from latch_contracts.verdict import Severity
from latchd.guard.groups import Group
from latchd.guard.hosts import PASTE_SITES, among
from latchd.guard.places import INSTRUCTIONS
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject

_HISTORY_NAMES: Final = frozenset("HISTFILE HISTSIZE HISTFILESIZE HISTCONTROL HISTIGNORE".split())
_SILENCED: Final = re.compile(r"(?:HISTFILE=(?:/dev/null)?|HISTFILESIZE=0|HISTSIZE=0)\Z")


def _history(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if _forgets(command):
            yield Hit(
                command.id,
                " ".join(command.argv[:2])[:60],
                "this removes the shell's history or stops it being kept",
                "leave the history as it is, so that a person can see what was done",
            )


def _forgets(command: Command) -> bool:
    """The shell's own words only: a file of that name is another program, and zsh's `history` keeps all."""
    words = command.argv[1:]
    if "/" in command.executable or any(wrapper.executable.endswith("zsh") for wrapper in command.wrappers):
        return False
    if command.program == "unset":
        options = [word for word in words if word.startswith("-")]
        return set(options) <= {"-v"} and "HISTFILE" in words
    if command.program in ("export", "declare", "typeset"):
        return any(_SILENCED.match(word) for word in words)
    if command.program == "set":
        return words[:2] == ("+o", "history")
    return command.program == "history" and "history-tamper" in command.details


def _hooks_bypass(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if "hooks-bypass" in command.details:
            yield Hit(
                command.id,
                " ".join(command.argv[:2])[:60],
                "this skips the repository's hooks",
                "let the hooks run, and mend what they complain about",
            )


_SCP_LIKE: Final = re.compile(r"(?:[\w.-]{1,64}@)?(?P<host>[\w.-]{2,255}):(?!//)\S")
_URL: Final = re.compile(
    r"(?:https?|ssh|git|git\+ssh)://(?:[^/@\s]{1,256}@)?(?P<host>\[[^]]{1,64}\]|[^/:\s]{1,255})"
)
_NEAR: Final = ("localhost", "127.", "[::1]")


def _remote_change(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        words = command.argv[1:]
        if command.program != "git" or "remote" not in words:
            continue
        rest = words[words.index("remote") + 1 :]
        if rest[:1] not in (("add",), ("set-url",)):
            continue
        for word in rest[1:]:
            found = _URL.match(word) or _SCP_LIKE.match(word)
            if found and not found["host"].startswith(_NEAR):
                yield Hit(
                    command.id,
                    found["host"][:120],
                    f"what is pushed or pulled may go to `{found['host'][:80]}` from now on",
                    "check that this is the repository that is meant",
                )
                break


def _workload(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if Operation.WORKLOAD_EXEC in command.operations:
            yield Hit(
                command.id,
                " ".join(command.argv[:4]).replace("\0", "$…")[:60],
                "this runs a program inside a workload of a cluster",
                "look at its logs or its description instead, where that is enough",
            )


_RANGE: Final = re.compile(
    r"[\d.]{3,15}(?:/(?!32\Z)\d{1,2}|-\d{1,3})\Z|[\da-fA-F:]{2,39}/(?!128\Z)\d{1,3}\Z|(?:\d{1,3}\.){1,3}\*"
)
_LISTS: Final = ("-iL", "-iR", "-g", "--generate", "--file", "--includefile")


def _sweep(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if Operation.NETWORK_SCAN not in command.operations:
            continue
        if command.program in _WHOLE_NETWORK:
            yield _sweep_hit(command, command.program)
            continue
        wide = next((word for word in command.argv[1:] if _RANGE.match(word) or word.startswith(_LISTS)), "")
        if wide:
            yield _sweep_hit(command, wide)


# They know no single target.
_WHOLE_NETWORK: Final = frozenset("arp-scan netdiscover nbtscan".split())


def _sweep_hit(command: Command, wide: str) -> Hit:
    return Hit(
        command.id,
        wide[:60],
        f"this looks for machines in `{wide[:60]}`",
        "name the one machine that is meant",
    )


_LISTENERS: Final = frozenset("nc ncat netcat nc.openbsd nc.traditional socat".split())


def _listener(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if command.program in _LISTENERS and Operation.LISTEN in command.operations:
            yield Hit(
                command.id,
                " ".join(command.argv[:4]).replace("\0", "$…")[:60],
                "this waits for whoever connects to this machine",
                "use a server of the project that listens on localhost",
            )


_HELP: Final = frozenset("-V --version -h --help -k -K -v --validate".split())


def _discovery(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        asks = command.program in ("sudo", "doas") and bool({"probe", "interactive"} & set(command.details))
        raised = any(wrapper.executable in ("sudo", "doas") for wrapper in command.wrappers)
        asks = asks or (raised and (command.program == "su" or "interactive" in command.details))
        asks = asks or _becomes_root(command)
        if (asks and not _HELP & set(command.argv[1:])) or _seeks_rights(subject, command):
            yield Hit(
                command.id,
                " ".join(command.argv[:3])[:60],
                "this looks for a way to more rights on this machine",
                "ask the person for the one thing that needs them",
            )


def _becomes_root(command: Command) -> bool:
    """`su`, or `pkexec` and a shell: nothing but another user's prompt."""
    words = command.argv[1:]
    if command.program == "su":
        return not any(
            word in ("-c", "--command") or word.startswith(("--command=", "--session-command"))
            for word in words
        )
    return any(wrapper.executable == "pkexec" for wrapper in command.wrappers) and (
        command.program in ("sh", "bash", "zsh", "su") and not words
    )


_SET_ID: Final = re.compile(r"[-/]?(?:[ug+,=]{1,4}[ug]?\+?=?s|0?[2467]000|[-/]?[ug]\+s)\Z")


def _seeks_rights(subject: Subject, command: Command) -> bool:
    """A search for set-id files or capabilities that starts at the root of the machine."""
    words = command.argv
    if command.program == "getcap":
        return "-r" in words and "/" in words
    if command.program not in ("find", "gfind"):
        return False
    mode = any(words[at] == "-perm" and _SET_ID.match(word) for at, word in enumerate(words[1:]))
    starts = {fact.resolved for fact in subject.facts.paths if fact.command_id == command.id}
    return mode and bool(starts & {"/", "/usr", "/bin", "/sbin"})


# What agents take as standing instructions or memory. They write these files when asked to, every day.
def _instructions(subject: Subject) -> Iterator[Hit]:
    for command, fact in subject.touched(Access.WRITE, Access.APPEND, Access.DELETE):
        name = (fact.resolved or fact.value).rpartition("/")[2].lower()
        if name in INSTRUCTIONS:
            yield Hit(
                command.id,
                (fact.resolved or fact.value).replace("\0", "$…")[:160],
                f"`{name}` is what agents are told or remember in every later session",
                "show the person what it says now",
            )


def _paste_sites(subject: Subject) -> Iterator[Hit]:
    for command, fact in subject.contacts():
        if command.effect is not Effect.PREVIEW and among(fact.host, PASTE_SITES):
            yield Hit(
                command.id,
                fact.host,
                f"`{fact.host[:80]}` is a place where anybody may put or collect things",
                "take it from where its author publishes it",
            )


RULES: Final = (
    Rule(
        "trace.history",
        "the shell's history is removed",
        Group.NOTABLE,
        Severity.MEDIUM,
        _history,
        denies=("history -c", "unset HISTFILE", "export HISTFILE=/dev/null", "set +o history", "history -wc"),
        passes=(
            "history",
            "/opt/x/history -c",
            "unset -f HISTFILE",
            "export HISTSIZE=5000",
            "zsh -c 'history -c'",
        ),
    ),
    Rule(
        "git.hooks-bypass",
        "the repository's hooks are skipped",
        Group.NOTABLE,
        Severity.MEDIUM,
        _hooks_bypass,
        denies=("git commit --no-verify -m x", "git push --no-verify", "git commit -nm x"),
        passes=("git commit -m 'no --no-verify'", "git push -n", "git commit -- --no-verify"),
    ),
    Rule(
        "git.remote-change",
        "a remote of the repository is set to another machine",
        Group.NOTABLE,
        Severity.MEDIUM,
        _remote_change,
        denies=(
            "git remote add up https://host.example/a.git",
            "git remote set-url origin git@host.example:a/b",
        ),
        passes=(
            "git remote -v",
            "git remote add local ../mirror",
            "git remote add l http://localhost:3000/a.git",
        ),
    ),
    Rule(
        "cluster.exec",
        "a program is run inside a workload",
        Group.NOTABLE,
        Severity.MEDIUM,
        _workload,
        denies=("kubectl exec web-0 -- ls", "crictl exec 1a ls", "oc exec deploy/web -- cat /etc/os-release"),
        passes=("kubectl get pods", "docker exec web ls", "kubectl exec --help"),
    ),
    Rule(
        "network.sweep",
        "many machines are looked for",
        Group.NOTABLE,
        Severity.MEDIUM,
        _sweep,
        denies=(
            "nmap -sn 10.1.0.0/16",
            "fping -g 10.1.0.0/24",
            "arp-scan --localnet",
            "nmap -iL hosts.txt",
            "nmap 10.1.2.1-60",
        ),
        passes=("nmap 10.1.2.3", "nmap 10.1.2.3/32", "nmap -p 1-1024 localhost"),
    ),
    Rule(
        "network.listener",
        "a bare socket waits for others",
        Group.NOTABLE,
        Severity.MEDIUM,
        _listener,
        denies=("nc -lvp 4444", "socat TCP-LISTEN:80,fork TCP:localhost:8080"),
        passes=("nc -z localhost 80", "python3 -m http.server", "echo nc -l"),
    ),
    Rule(
        "rights.discovery",
        "a way to more rights is looked for",
        Group.NOTABLE,
        Severity.MEDIUM,
        _discovery,
        denies=("sudo -l", "sudo -i", "sudo bash", "su -", "find / -perm -4000 -type f", "getcap -r /"),
        passes=("sudo -V", "sudo -n apt-get update", "find . -perm -4000", "find / -name x"),
    ),
    Rule(
        "agent.instructions",
        "what agents obey or remember is written",
        Group.NOTABLE,
        Severity.MEDIUM,
        _instructions,
        denies=("echo x >> AGENTS.md", "cp a docs/CLAUDE.md", "rm MEMORY.md"),
        passes=("cat AGENTS.md", "echo x > agents.txt", "grep -n AGENTS.md README.md"),
    ),
    Rule(
        "network.paste-site",
        "a host where anybody may leave things is spoken to",
        Group.NOTABLE,
        Severity.MEDIUM,
        _paste_sites,
        denies=("curl https://pastebin.com/raw/abc", "curl https://a1.ngrok.io/x"),
        passes=("curl https://host.example/pastebin.com", "echo pastebin.com"),
    ),
)
