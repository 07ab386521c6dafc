"""Where a value is a command line: variables that programs run, options whose value is code. Data only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from latchd.shell.wrappers import names

# Variables whose value some program of the line, or a later one, runs.
CODE_NAMES: Final = re.compile(
    r"(PROMPT_COMMAND|GIT_(SSH_COMMAND|SSH|PAGER|EDITOR|EXTERNAL_DIFF|ASKPASS|SEQUENCE_EDITOR|PROXY_COMMAND)|PAGER"
    r"|EDITOR|VISUAL|MANPAGER|LESSOPEN|LESSCLOSE|BROWSER|SSH_ASKPASS|SUDO_ASKPASS|RSYNC_RSH|FCEDIT|SYSTEMD_PAGER"
    r"|PSQL_PAGER|PSQL_EDITOR|SVN_SSH|SVN_EDITOR|HGEDITOR|KUBE_EDITOR|CVS_RSH|PS0|PS4|TAR_OPTIONS|MANOPT"
    r"|GIT_CONFIG_VALUE_\d+)\Z"
)

# Options whose value is a command line for a shell, or one that is split into words like one.
OPTION_CODE: Final[Mapping[str, frozenset[str]]] = {
    "tar": names(
        "--to-command --use-compress-program -I --rsh-command --info-script --new-volume-script -F"
    ),
    "bsdtar": names("--use-compress-program"), "cpio": names("--rsh-command"),
    "sort": names("--compress-program"), "split": names("--filter"),
    "mapfile": names("-C"), "readarray": names("-C"),
    "compgen": names("-C -F"), "complete": names("-C"),
    "rsync": names("--rsync-path"),
    "scp": names("-S"), "sftp": names("-S"),
    "man": names("-P --pager -H"), "zip": names("-TT --unzip-command"),
    "mysql": names("--pager"), "mariadb": names("--pager"),
    "ncat": names("-c -e --sh-exec --exec"), "nc": names("-e -c"),
    "tcpdump": names("-z"), "wget": names("--use-askpass"),
    "bpftrace": names("-c"), "rg": names("--pre --hostname-bin"),
}  # fmt: skip

# Options whose value is split into words by the program itself, with no shell.
OPTION_WORDS: Final[Mapping[str, frozenset[str]]] = {"rsync": names("-e --rsh")}
