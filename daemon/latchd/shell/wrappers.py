"""Option tables of programs that run another command given in their words. Data only.

An option that is missing here makes the unwrapping doubtful, never wrong: the facts say so.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from typing import Final

import msgspec


class Tail(enum.Enum):
    """What the words after options and operands are."""

    WORDS = "words"  # program and arguments
    SHELL = "shell"  # joined by blanks and given to a shell
    BASH = "bash"  # the arguments of a bash


# What stands for a directory that only a look at the machine would tell.
UNKNOWN_PLACE: Final = "\0"
_HELP: Final = frozenset(("--help", "--version", "-h"))


class Options(msgspec.Struct, frozen=True):
    """How a wrapper's words are read up to its command."""

    flags: str = ""  # short options without a value
    values: str = ""  # short options with one
    attached: str = ""  # short options whose value, if any, is in the same word
    long_flags: frozenset[str] = frozenset()
    long_values: frozenset[str] = frozenset()
    operands: int = 0  # words of its own before the command
    assigns: bool = False  # NAME=value words may stand before the command
    stops: frozenset[str] = frozenset()  # with one of these nothing is run
    codes: frozenset[str] = frozenset()  # options whose value is shell code
    any_long: bool = False  # any --name or --name=value is an option of its own
    numbers: bool = False  # -10 is an option
    tail: Tail = Tail.WORDS
    remote: bool = False  # the command sees another machine or another root
    after: frozenset[str] = frozenset()  # the command begins after one of these words only
    permutes: bool = False  # options may also stand behind operands
    own: re.Pattern[str] | None = None  # words that are options as a whole
    directory: frozenset[str] = frozenset()  # options whose value is the directory the command runs in
    starts_in: str = ""  # where it runs without one of them: a path, or UNKNOWN_PLACE
    stays: frozenset[str] = frozenset()  # with one of these it runs where it was called
    logs_in: frozenset[str] = frozenset()  # with one of these it runs in a home that is not known


def names(text: str) -> frozenset[str]:
    """The words of a text: how the tables are written."""
    return frozenset(text.split())


WRAPPERS: Final[Mapping[str, Options]] = {
    "sudo": Options(
        "ABbEHknPSis", "CDghpRrTtuU", "",
        names("askpass background bell preserve-env set-home login reset-timestamp non-interactive"
        " preserve-groups stdin shell"),
        names("close-from chdir group host prompt chroot role command-timeout type user other-user"),
        assigns=True, stops=names("-l -ll -v -V -K -e -h --list --validate --version --remove-timestamp"
        " --edit --help"),
        directory=names("-D --chdir"), logs_in=names("-i --login"),
    ),
    "doas": Options("ns", "Cau", stops=names("-L")),
    "run0": Options(
        "", "ugD", "", names("no-ask-password pipe pty shell-prompt-prefix slice-inherit same-root-dir"),
        names("machine unit property description slice user group nice chdir setenv background via-shell"),
        stops=names("-h -V --help --version"), directory=names("-D --chdir"),
    ),
    "pkexec": Options(
        "", "", "", names("disable-internal-agent keep-cwd"), names("user"),
        stops=names("--version --help"), starts_in=UNKNOWN_PLACE, stays=names("--keep-cwd"),
    ),
    "env": Options(
        "i0v", "uCP", "", names("ignore-environment null debug list-signal-handling"),
        names("unset chdir argv0 block-signal default-signal ignore-signal"), assigns=True,
        stops=names("--help --version"), codes=names("-S --split-string"),
        directory=names("-C --chdir"),
    ),
    "command": Options("p", stops=names("-v -V")),
    "builtin": Options(),
    "exec": Options("cl", "a"),
    "nohup": Options(stops=names("--help --version")),
    "setsid": Options("cfw", "", "", names("ctty fork wait"), stops=names("-V -h --help --version")),
    "nice": Options("", "n", "", frozenset(), names("adjustment"), numbers=True,
        stops=names("--help --version")),
    "ionice": Options("t", "cnu", "", names("ignore"), names("class classdata uid"),
        stops=names("-p -P --pid --pgid -h -V")),
    "chrt": Options(
        "abdfiorRv", "TPD", "", names("all-tasks batch deadline fifo idle other rr reset-on-fork verbose"),
        names("sched-runtime sched-period sched-deadline"), operands=1,
        stops=names("-p --pid -m --max -h -V"),
    ),
    "taskset": Options("ac", "", "", names("all-tasks cpu-list"), operands=1,
        stops=names("-p --pid -h -V")),
    "time": Options(
        "apqv", "fo", "", names("append portability quiet verbose"), names("format output"),
        stops=names("-V --version --help"),
    ),
    "timeout": Options(
        "vfp", "ks", "", names("foreground preserve-status verbose"), names("kill-after signal"),
        operands=1,
        stops=names("--help --version"),
    ),
    "stdbuf": Options(
        "", "ioe", "", frozenset(), names("input output error"), stops=names("--help --version"),
    ),
    "unbuffer": Options("p"),
    "flock": Options(
        "sxeunoFv", "wE", "", names("shared exclusive unlock nonblock nb close no-fork verbose"),
        names("timeout wait conflict-exit-code"), operands=1, stops=names("-h -V --help --version"),
    ),
    "watch": Options(
        "bcCdegtprwx", "nqs", "d",
        names("beep color no-color errexit chgexit no-title precise no-rerun no-wrap no-linewrap exec"),
        names("interval equexit shotsdir"), stops=names("-h -v --help --version"), tail=Tail.SHELL,
    ),
    "strace": Options(
        "cCdDfFhiknNqrtTvwxyYzZ", "aAbeEIoOpPsSuUX", any_long=True, stops=names("-V -h"),
    ),
    "ltrace": Options("cCfhiLnrStT", "aAeDFlnopsuwx", any_long=True, stops=names("-V -h")),
    "valgrind": Options("qv", any_long=True, stops=names("--version --help -h")),
    "gdb": Options(after=names("--args")),
    "unshare": Options(
        "cfimnprTuUC", "GRSw", "mnpuiUC",
        names("fork map-root-user map-current-user map-auto keep-caps mount net pid uts ipc user cgroup"
        " time"),
        names("kill-child mount-proc propagation setgroups root wd setuid setgid map-user map-group"
        " map-users map-groups"
               " monotonic boottime"),
        any_long=True, stops=names("-h -V --help --version"), directory=names("-w --wd"),
    ),
    "nsenter": Options(
        "aFZe", "tSGW", "muinpUCTrw", names("all preserve-credentials no-fork env"),
        names("target setuid setgid wdns"), any_long=True, stops=names("-h -V --help --version"),
        remote=True,
    ),
    "chroot": Options(
        "", "gu", "", names("skip-chdir"), names("userspec groups"), operands=1, remote=True,
        stops=names("--help --version"),
    ),
    "systemd-run": Options(
        "dGPqrStv", "EHMpu", "", any_long=False,
        long_flags=names("user system scope remain-after-exit wait pty pipe quiet shell collect no-block"
        " no-ask-password"
                          " same-dir send-sighup slice-inherit on-clock-change on-timezone-change"
                          " expand-environment"),
        long_values=names("unit property description slice service-type uid gid nice working-directory"
        " setenv on-active"
                           " on-boot on-startup on-unit-active on-unit-inactive on-calendar"
                           " timer-property path-property"
                           " socket-property host machine background"),
        stops=names("-h --help --version"),
        directory=names("--working-directory"), starts_in="/",
        stays=names("-d --same-dir --scope -S --shell"),
    ),
    "busybox": Options(stops=names("--list --list-full --install --help")),
    "toybox": Options(stops=names("--long --help --version")),
    "su": Options(
        "lmpPf", "gGswT", "", names("login preserve-environment pty fast no-pty"),
        names("group supp-group shell whitelist-environment"), operands=1, permutes=True,
        codes=names("-c --command --session-command"),
        stops=names("-h -V --help --version"), logs_in=names("- -l --login"),
    ),
    "runuser": Options(
        "lmpPf", "gGsuwT", "", names("login preserve-environment pty fast"),
        names("group supp-group shell user whitelist-environment"), permutes=True,
        codes=names("-c --command --session-command"),
        stops=names("-h -V --help --version"), logs_in=names("- -l --login"),
    ),
    "script": Options(
        "aefqE", "BEIOTmo", "t",
        names("append return flush force quiet"),
        names("log-io log-in log-out log-timing logging-format output-limit echo timing"),
        operands=9, permutes=True,
        codes=names("-c --command"), stops=names("-h -V --help --version"),
    ),
    "sshpass": Options("v", "fdpP", "e", stops=names("-h -V")),
    "fakeroot": Options("uhv", "lsibB", any_long=True),
    "proxychains": Options("q", "f"), "proxychains4": Options("q", "f"), "proxychains-ng": Options("q", "f"),
    "torsocks": Options("iqd", "uaP", any_long=True),
    "torify": Options(), "catchsegv": Options(), "dbus-launch": Options(any_long=True),
    "dbus-run-session": Options("", "", any_long=True),
    "numactl": Options("asH", "iNmCpl", any_long=True),
    "prlimit": Options("", "", "", any_long=True, stops=names("-p --pid")),
    "setarch": Options("BFILRSTXZv3", "", "p", any_long=True, operands=1),
    "linux32": Options("BFILRSTXZv3"), "linux64": Options("BFILRSTXZv3"),
    "setpriv": Options("d", "", any_long=True),
    "caffeinate": Options("dimsu", "tw"),
    "firejail": Options("", "", "", any_long=True, directory=names("--private-cwd"),
        stops=names("--help --version --list --tree --top --netstats -h")),
    "entr": Options("acdnprsxz"),
    "rlwrap": Options("acCefilmnNprRStUvwz", "", any_long=True),
    "tsp": Options("nfdBE", "LND"),
    "chronic": Options("ev"), "softlimit": Options(), "setuidgid": Options(operands=1),
    "gosu": Options(operands=1), "su-exec": Options(operands=1), "tini": Options("sgvw", "pe"),
    "dumb-init": Options("cv", "r", any_long=True),
    "retry": Options("", "tdmb", any_long=True), "hyperfine": Options("iNw", "wmMrpsSLn", any_long=True,
        tail=Tail.SHELL),
    "xvfb-run": Options("al", "efnpsw", any_long=True),
    "noglob": Options(), "nocorrect": Options(), "rtk": Options("v", any_long=True),
    "cpulimit": Options("vziq", "lpeP", any_long=True),
    "cgexec": Options("", "g", long_flags=names("sticky")),
    "runcon": Options("c", "turl", "", names("compute"), names("type user role range")),
    "capsh": Options(after=names("--"), tail=Tail.BASH),
    "sg": Options(operands=1, permutes=True, codes=names("-c"), tail=Tail.SHELL),
    "chpst": Options("vVP012", "uUbenmdofcrtpC/", directory=names("-C")), "envdir": Options(operands=1),
    "envuidgid": Options(operands=1), "setlock": Options("nNxX", operands=1),
    "s6-setuidgid": Options(operands=1), "s6-envdir": Options("In", "f", operands=1),
    "s6-softlimit": Options("", "amdsofplctrh"), "with-contenv": Options(),
    "logsave": Options("asv", operands=1),
    "aa-exec": Options("dvi", "pn", any_long=True, long_values=names("profile namespace")),
    "ssh-agent": Options("csDd", "aEtP", stops=names("-k")),
    "faketime": Options("mf", "p", operands=1, any_long=True),
    "arch": Options(own=re.compile(r"-(32|64|arm64e?|x86_64h?|i386|c)\Z"), values="de"),
    "xcrun": Options("vnkrl", "", "", names("verbose no-cache kill-cache run log"), names("sdk toolchain"),
        stops=names("-f --find --show-sdk-path --show-sdk-version --version -h")),
    "proot": Options("0hv", "rbmqwkiRSlp", any_long=True, remote=True),
    "cross-env": Options(assigns=True), "cross-env-shell": Options(assigns=True, tail=Tail.SHELL),
    "env-cmd": Options("x", "fer", any_long=True, long_values=names("file environments rc-file")),
    "nodemon": Options("qVIL", "weidCs", "", any_long=True, operands=99, permutes=True,
        codes=names("-x --exec"), stops=_HELP, directory=names("--cwd")),
    "watchexec": Options("cnrqpvkE1", "wefidsWoS", any_long=True, tail=Tail.SHELL, stops=_HELP,
        long_values=names("workdir"), directory=names("--workdir")),
    "mosh": Options("46n", "p", any_long=True, operands=1, remote=True),
    "pssh": Options("vAiIP", "hHlptoexO", any_long=True, tail=Tail.SHELL, remote=True),
    "parallel-ssh": Options("vAiIP", "hHlptoexO", any_long=True, tail=Tail.SHELL, remote=True),
    "pdsh": Options("abdNSq", "wxltufRgXM", tail=Tail.SHELL, remote=True),
    "clush": Options("abBNLrqvd", "wgxXflotuUP", any_long=True, tail=Tail.SHELL, remote=True),
    "systemd-nspawn": Options("qbxanU", "DMiuEpLSZjH", "", any_long=True, remote=True),
    "flatpak-spawn": Options("", "", "", any_long=True, remote=True),
    "dsh": Options("aMqcr", "gmfnw", any_long=True, tail=Tail.SHELL, remote=True),
    "genie": Options(codes=names("-c --command"), any_long=True), "pexec": Options("", "", any_long=True),
}  # fmt: skip

SHELLS: Final = frozenset({"bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh", "tcsh"})

# Words that make the tail behind an unknown program worth a second look.
DANGEROUS: Final = frozenset(
    "rm rmdir shred unlink dd mkfs wipefs fdisk parted curl wget nc ncat netcat socat ssh scp sftp rsync"
    " telnet"
    " git chmod chown kill killall pkill shutdown reboot bash sh dash zsh python python3 perl ruby node eval"
    " terraform docker kubectl crontab systemctl mv truncate psql mysql".split()
)
