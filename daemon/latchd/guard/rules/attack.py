"""Programs made to break into machines, and shells that are offered to the network: a person is asked.

Testers use them with leave; an agent that was not told to has none.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Command, Operation
from latch_contracts.verdict import Route, Severity
from latchd.guard.groups import Group
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject

ATTACKERS: Final = frozenset(
    "hydra medusa ncrack patator john hashcat msfconsole msfvenom msfdb responder crackmapexec cme netexec "
    "nxc evil-winrm bloodhound-python sqlmap wpscan commix beef-xss setoolkit mitmf ettercap bettercap "
    "aireplay-ng aircrack-ng linpeas linpeas.sh winpeas.exe pspy64 pspy32 kerbrute rubeus.exe "
    "linux-exploit-suggester psexec.py wmiexec.py smbexec.py dcomexec.py ntlmrelayx.py "
    "getuserspns.py getnpusers.py secretsdump.py chntpw lazagne mimikatz mimikatz.exe empire "
    "sliver-client pupysh nikto gobuster ffuf wfuzz feroxbuster dirb dirbuster nuclei zmap metasploit "
    "metasploit-framework".split()
)
_HOST_OPTION: Final = frozenset(("medusa", "nikto"))  # their `-h` takes a host
_SHOWS: Final = frozenset(("--help", "-h", "--version", "-V", "-hh", "--show", "--list"))


def _attacks(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        name = command.program.lower()
        shows = _SHOWS - {"-h"} if name in _HOST_OPTION else _SHOWS
        if (name in ATTACKERS or name.startswith("impacket-")) and not shows & set(command.argv[1:]):
            yield Hit(
                command.id,
                name[:40],
                f"`{name[:40]}` is made to break into machines",
                "let the person run it",
            )


SHELL_SERVERS: Final = frozenset("ttyd gotty tmate wetty shellinabox shellinaboxd pwncat pwncat-cs".split())
_EXECUTES: Final = re.compile(r"(?:sh-exec|exec|cmd|reuse-raw:exec):")


def _serves_shell(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        words = command.argv[1:]
        shows = bool({"--help", "--version", "-V"} & set(words[:1]))
        offers = (command.program in SHELL_SERVERS and not shows) or (
            command.program == "websocat" and any(_EXECUTES.match(word) for word in words)
        )
        if offers:
            yield Hit(
                command.id,
                command.program[:40],
                f"`{command.program[:40]}` hands a shell of this machine to the network",
                "leave it out, or let the person start it",
            )


PLACED: Final = frozenset(
    "python python3 python2 php ruby busybox http-server serve npx darkhttpd webfsd".split()
)
_SERVES: Final = (
    ("-m", "http.server"),
    ("-m", "SimpleHTTPServer"),
)


def _served(command: Command, home: str) -> str:
    """The home or root that a bare web server would give away; "" for none."""
    words = command.argv[1:]
    pairs = set(itertools.pairwise(words))
    serves = (
        any(pair in pairs for pair in _SERVES)
        or (command.program == "php" and "-S" in words)
        or (command.program == "ruby" and ("-e", "httpd") in pairs)
        or (command.program == "busybox" and words[:1] == ("httpd",))
        or command.program in ("http-server", "serve", "darkhttpd", "webfsd")
    )
    if not serves:
        return ""
    return next((word for word in words if word.rstrip("/") in ("", home) and word[:1] == "/"), "")


def _serves_home(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if command.program in PLACED and (place := _served(command, subject.home)):
            yield Hit(
                command.id,
                place,
                f"this serves everything below `{place}` to whoever asks, credentials with it",
                "serve a directory of the project",
            )


_POOL: Final = re.compile(r"stratum\d?(?:\+\w{1,8})?://", re.IGNORECASE)


def _mines(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        spoken = Operation.SEARCH in command.operations or command.program in (
            "echo",
            "printf",
            "git",
            "grep",
        )
        if not spoken and any(_POOL.search(word) for word in command.argv[1:]):
            yield Hit(
                command.id, "stratum://", "this speaks to a pool in which coins are mined", "leave it out"
            )


RULES: Final = (
    Rule(
        "abuse.attack-tool",
        "a program made to break into machines is started",
        Group.UNUSUAL,
        Severity.HIGH,
        _attacks,
        denies=(
            "hydra -l root -P w.txt ssh://h.example",
            "impacket-psexec x@h.example",
            "sqlmap -u https://h.example/?id=1",
            "medusa -h h.example -u root -P w.txt -M ssh",
            "gobuster dir -u https://h.example -w w.txt",
        ),
        passes=("hydra --help", "grep -r sqlmap docs", "which john", "cat linpeas.sh"),
    ),
    Rule(
        "egress.shell-server",
        "a shell of this machine is offered to the network",
        Group.REVERSE_SHELL,
        Severity.CRITICAL,
        _serves_shell,
        denies=("ttyd -p 8080 bash", "websocat -b ws-l:0.0.0.0:1 exec:sh", "gotty -w bash"),
        passes=("ttyd --version", "websocat ws://localhost:9000", "echo ttyd", "npm install wetty"),
    ),
    Rule(
        "egress.home-served",
        "a whole home or the machine is served to others",
        Group.UNUSUAL,
        Severity.HIGH,
        _serves_home,
        denies=("python3 -m http.server -d ~", "php -S 0.0.0.0:80 -t /", "npx http-server ~"),
        passes=(
            "python3 -m http.server",
            "python3 -m http.server -d dist",
            "npx serve dist",
            "php -S :80 -t public",
        ),
    ),
    Rule(
        "abuse.mining-pool",
        "a pool in which coins are mined is spoken to",
        Group.UNUSUAL,
        Severity.HIGH,
        _mines,
        denies=("./worker -o stratum+tcp://pool.example:3333", "curl stratum+tcp://pool.example:1"),
        passes=("grep -r stratum+tcp:// docs", "echo stratum+tcp://x", "./worker -o tcp://x.example:1"),
        route=Route.FALLBACK,
    ),
)
