"""Which files are read, and as what. The name decides; without a telling one, the first line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from latch_client.scan import dockerfile, gitlab, makefile, package_json, shell, workflow
from latch_client.scan.snippet import Snippet

Reader = Callable[[str], Iterator[Snippet]]

READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "shell": shell.read,
        "dockerfile": dockerfile.read,
        "workflow": workflow.read,
        "gitlab": gitlab.read,
        "makefile": makefile.read,
        "package": package_json.read,
    }
)

_NAMES: Final = (
    ("shell", re.compile(r"(?:.*/)?(?:[^/]+\.(?:sh|bash|ksh|dash)|\.(?:bashrc|bash_profile|profile|envrc))")),
    (
        "dockerfile",
        re.compile(r"(?:.*/)?(?:(?:Dockerfile|Containerfile)(?:\.[^/]+)?|[^/]+\.(?:dockerfile|Dockerfile))"),
    ),
    ("workflow", re.compile(r"(?:.*/)?(?:\.github/workflows/[^/]+\.ya?ml|action\.ya?ml)")),
    ("gitlab", re.compile(r"(?:.*/)?(?:\.gitlab-ci\.ya?ml|\.gitlab/[^/]+\.ya?ml|[^/]+\.gitlab-ci\.ya?ml)")),
    ("makefile", re.compile(r"(?:.*/)?(?:GNUmakefile|[Mm]akefile|[^/]+\.mk)")),
    ("package", re.compile(r"(?:.*/)?package\.json")),
)


def by_name(path: str) -> str:
    """The kind that the name of a file tells, "" for none. ``path`` has forward slashes."""
    return next((kind for kind, pattern in _NAMES if pattern.fullmatch(path)), "")


def may_tell(name: str) -> bool:
    """Whether a file's first line is worth a look: it has no ending."""
    return "." not in name


def by_head(head: str) -> str:
    """The kind that the first line tells."""
    return "shell" if shell.interpreter(head) in shell.SHELLS else ""
