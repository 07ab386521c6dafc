"""The closed list of what the guard speaks about, and what each profile does about it.

A finding belongs to one group; the profile's table gives the action. No rule chooses its own action.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from latch_contracts.verdict import Action
from latchd.policy import Profile


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
    STALE = "stale"
    OVERWRITE_UNKNOWN = "overwrite-unknown"


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
        Group.STALE: "a file changed since it was read",
        Group.OVERWRITE_UNKNOWN: "a file nobody read is replaced",
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
        Group.STALE: (_DENY, _DENY),
        Group.OVERWRITE_UNKNOWN: (_ASK, _DENY),
    }
)

PROFILES: Final[Mapping[Profile, Mapping[Group, Action]]] = MappingProxyType(
    {
        Profile.OBSERVE: MappingProxyType(dict.fromkeys(Group, Action.ALLOW)),
        Profile.BALANCED: MappingProxyType({group: actions[0] for group, actions in _ACTIONS.items()}),
        Profile.STRICT: MappingProxyType({group: actions[1] for group, actions in _ACTIONS.items()}),
    }
)
