"""The closed list of what the guard speaks about, and what each profile does about it.

A finding belongs to one group; the profile's table gives the action. No rule chooses its own action. A
pack's rule that names no group is in `by-severity`, and its severity gives the action.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from latch_contracts.verdict import Action, Severity
from latchd.profile import Profile


class Group(enum.StrEnum):
    FLOOR = "floor"
    SELF_PROTECTION = "self-protection"
    DESTROY = "destroy"
    GIT_LOSS = "git-loss"
    DELETE_INSIDE = "delete-inside"
    CREDENTIAL = "credential"
    ENVIRONMENT = "environment"
    SECRET_EGRESS = "secret-egress"  # noqa: S105 (a group's name)
    DOWNLOAD_EXEC = "download-exec"
    METADATA_ENDPOINT = "metadata-endpoint"
    REVERSE_SHELL = "reverse-shell"
    NETWORK = "network"
    UPLOAD_UNKNOWN = "upload-unknown"
    PACKAGE = "package"
    CANNOT_VOUCH = "cannot-vouch"
    CANNOT_VOUCH_DESTRUCTIVE = "cannot-vouch-destructive"
    WRITE_OUTSIDE = "write-outside"
    PROTECTED = "protected"
    PERSISTENCE = "persistence"
    UNUSUAL = "unusual"
    NOTABLE = "notable"
    STALE = "stale"
    OVERWRITE_UNKNOWN = "overwrite-unknown"
    BY_SEVERITY = "by-severity"


# What the person's leave for one call does not cover: what keeps the guard in order and in place.
NEVER_LIFTED: Final = frozenset((Group.FLOOR, Group.SELF_PROTECTION))


TITLES: Final[Mapping[Group, str]] = MappingProxyType(
    {
        Group.FLOOR: "the guard itself is not in order",
        Group.SELF_PROTECTION: "the guard or what starts it is touched",
        Group.DESTROY: "something outside the project and scratch is destroyed",
        Group.GIT_LOSS: "work or history in version control is lost",
        Group.DELETE_INSIDE: "a directory of the project is removed",
        Group.CREDENTIAL: "a credential is read",
        Group.ENVIRONMENT: "the environment is printed",
        Group.SECRET_EGRESS: "a secret leaves the machine",
        Group.DOWNLOAD_EXEC: "something fetched is run",
        Group.METADATA_ENDPOINT: "a cloud machine's own credentials are asked for",
        Group.REVERSE_SHELL: "a shell is handed to the network",
        Group.NETWORK: "a program speaks to the network",
        Group.UPLOAD_UNKNOWN: "data of unknown kind is sent to another machine",
        Group.PACKAGE: "a package is installed",
        Group.CANNOT_VOUCH: "what would run can't be told",
        Group.CANNOT_VOUCH_DESTRUCTIVE: "what would run can't be told, and it looks destructive",
        Group.WRITE_OUTSIDE: "a file outside the write roots is written",
        Group.PROTECTED: "a protected path is written",
        Group.PERSISTENCE: "something that runs later by itself is written",
        Group.UNUSUAL: "something that work in a project seldom needs is done",
        Group.NOTABLE: "something worth a look is done",
        Group.STALE: "a file changed since it was read",
        Group.OVERWRITE_UNKNOWN: "a file nobody read is replaced",
        Group.BY_SEVERITY: "what a rule of a pack found, judged by its severity",
    }
)

_ALLOW, _ASK, _DENY = Action.ALLOW, Action.ASK, Action.DENY

# group: (balanced, strict). What observe does is one word for all: it records.
_ACTIONS: Final[Mapping[Group, tuple[Action, Action]]] = MappingProxyType(
    {
        Group.FLOOR: (_DENY, _DENY),
        Group.SELF_PROTECTION: (_DENY, _DENY),
        Group.DESTROY: (_DENY, _DENY),
        Group.GIT_LOSS: (_DENY, _DENY),
        Group.DELETE_INSIDE: (_ALLOW, _ASK),
        Group.CREDENTIAL: (_DENY, _DENY),
        Group.ENVIRONMENT: (_DENY, _DENY),
        Group.SECRET_EGRESS: (_DENY, _DENY),
        Group.DOWNLOAD_EXEC: (_DENY, _DENY),
        Group.METADATA_ENDPOINT: (_DENY, _DENY),
        Group.REVERSE_SHELL: (_DENY, _DENY),
        Group.NETWORK: (_ALLOW, _DENY),
        Group.UPLOAD_UNKNOWN: (_ASK, _DENY),
        Group.PACKAGE: (_ALLOW, _ASK),
        Group.CANNOT_VOUCH: (_ASK, _DENY),
        Group.CANNOT_VOUCH_DESTRUCTIVE: (_DENY, _DENY),
        Group.WRITE_OUTSIDE: (_ASK, _DENY),
        Group.PROTECTED: (_DENY, _DENY),
        Group.PERSISTENCE: (_DENY, _DENY),
        Group.UNUSUAL: (_ASK, _DENY),
        Group.NOTABLE: (_ALLOW, _ASK),
        Group.STALE: (_DENY, _DENY),
        Group.OVERWRITE_UNKNOWN: (_ASK, _DENY),
        Group.BY_SEVERITY: (_ALLOW, _ALLOW),  # what the table of severities does not answer
    }
)

PROFILES: Final[Mapping[Profile, Mapping[Group, Action]]] = MappingProxyType(
    {
        Profile.OBSERVE: MappingProxyType(dict.fromkeys(Group, Action.ALLOW)),
        Profile.BALANCED: MappingProxyType({group: actions[0] for group, actions in _ACTIONS.items()}),
        Profile.STRICT: MappingProxyType({group: actions[1] for group, actions in _ACTIONS.items()}),
    }
)

# Severity -> action of rules in no group: (balanced, strict).
_BY_SEVERITY: Final[Mapping[Severity, tuple[Action, Action]]] = MappingProxyType(
    {
        Severity.CRITICAL: (_DENY, _DENY),
        Severity.HIGH: (_ASK, _DENY),
        Severity.MEDIUM: (_ALLOW, _DENY),
        Severity.LOW: (_ALLOW, _ALLOW),
    }
)
SEVERITIES: Final[Mapping[Profile, Mapping[Severity, Action]]] = MappingProxyType(
    {
        Profile.OBSERVE: MappingProxyType(dict.fromkeys(Severity, Action.ALLOW)),
        Profile.BALANCED: MappingProxyType({each: actions[0] for each, actions in _BY_SEVERITY.items()}),
        Profile.STRICT: MappingProxyType({each: actions[1] for each, actions in _BY_SEVERITY.items()}),
    }
)
# The groups whose action is a matter of taste: those in which the profiles differ. No other can be set.
ADJUSTABLE: Final = frozenset(
    group for group, (balanced, strict) in _ACTIONS.items() if balanced is not strict
)
