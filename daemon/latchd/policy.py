"""What the person wants: the policy, read from config.toml, and tightened by a project's .latchd.toml.

Pure from bytes. A file that can't be understood whole is refused whole: a key with a typing error
must not be a rule that silently does not exist. A project file can make things stricter only.
"""

from __future__ import annotations

import enum
import hashlib
import tomllib
from typing import Any, Final, Literal

import msgspec

from latch_contracts.verdict import Action, Severity
from latchd.guard.groups import ADJUSTABLE, PROFILES, SEVERITIES, Group
from latchd.profile import Profile as Profile

MAX_CONFIG_BYTES: Final = 1 << 20


class PolicyError(Exception):
    """The policy can't be used; the text is one line that names the key."""


class Fail(enum.StrEnum):
    """What an agent is told when the daemon can't judge or can't record."""

    CLOSED = "closed"
    OPEN = "open"


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Network(_Table, frozen=True):
    """``allow``: hosts that network programs may speak to without a question or a refusal."""

    allow: tuple[str, ...] = ()


class Allow(_Table, frozen=True):
    """What the person vouches for. Never relaxes the floor, self-protection or agents' own secrets.

    ``programs``: names, or prefixes of paths that end in ``/``. ``paths``: directories or files that
    may be removed, written and read. ``hosts``: as ``network.allow``.
    """

    programs: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


class Records(_Table, frozen=True):
    """``redaction``: how much of a command a record holds. ``days`` and ``mebibytes`` bound them."""

    redaction: Literal["head", "none", "full"] = "head"
    days: int = 30
    mebibytes: int = 256


class Hook(_Table, frozen=True):
    require_token: bool = False


class Text(_Table, frozen=True):
    """``detect``: look through prompts and results. ``disable``: ids of text rules that stay silent."""

    detect: bool = True
    disable: tuple[str, ...] = ()


class Rules(_Table, frozen=True):
    """``disable``: rules that are not asked. None of self-protection, and the floor has no rules."""

    disable: tuple[str, ...] = ()


class Policy(_Table, frozen=True):
    """The whole policy. Every field has the default that decisions about safety were made with."""

    profile: Profile = Profile.BALANCED
    write_roots: tuple[str, ...] = ()  # none: the session's working directory
    protected: tuple[str, ...] = ()  # path fragments that are never written, beside the built-in ones
    tools: tuple[str, ...] = ()  # tools this policy speaks of; each must exist, else nothing is allowed
    ask_fallback: Literal["deny", "allow"] = "deny"  # where an agent has no way to ask a person
    fail: Fail | dict[str, Fail] = Fail.CLOSED
    worktree: Literal["strict", "relaxed"] = "strict"
    durability: Literal["full", "normal"] = "full"
    pending_minutes: int = 30
    network: Network = Network()
    allow: Allow = Allow()
    rules: Rules = Rules()
    groups: dict[Group, Action] = {}
    severities: dict[Severity, Action] = {}
    text: Text = Text()
    records: Records = Records()
    hook: Hook = Hook()

    @property
    def redaction(self) -> str:
        return self.records.redaction

    @property
    def pending_ms(self) -> int:
        """How long a proposal waits for its result, in milliseconds."""
        return self.pending_minutes * 60_000

    def answer(self, group: Group, severity: Severity) -> Action:
        """What is done about a finding. Under `observe` nothing is: it is recorded."""
        if self.profile is Profile.OBSERVE:
            return Action.ALLOW
        if group is Group.BY_SEVERITY:
            return self.severities.get(severity, SEVERITIES[self.profile][severity])
        return self.groups.get(group, PROFILES[self.profile][group])

    def fails_open(self, connector: str) -> bool:
        if isinstance(self.fail, dict):
            return self.fail.get(connector, self.fail.get("default", Fail.CLOSED)) is Fail.OPEN
        return self.fail is Fail.OPEN


_STRICTER: Final = (Profile.OBSERVE, Profile.BALANCED, Profile.STRICT)
_BOUNDS: Final = (
    ("pending_minutes", 1, 24 * 60),
    ("records.days", 1, 3650),
    ("records.mebibytes", 1, 1 << 20),
)
# What a project may say, because saying it can only make things stricter.
_PROJECT_KEYS: Final = frozenset(
    {"profile", "protected", "write_roots", "tools", "ask_fallback", "worktree", "groups", "severities"}
)
_ACTIONS: Final = tuple(Action)  # loosest first
_ANY: Final = Severity.HIGH  # of a group's finding the severity decides nothing


def parse(config: bytes) -> Policy:
    """The policy in the bytes of a config.toml; empty bytes give the defaults. Raises PolicyError."""
    members = _toml(config)
    try:
        policy = msgspec.convert(members, Policy, strict=True)
    except msgspec.ValidationError as error:
        raise PolicyError(_located(error)) from None
    for key, low, high in _BOUNDS:
        value = _at(policy, key)
        if not low <= value <= high:
            raise PolicyError(f"`{key}` is {value}, it must be {low} to {high}")
    for key in ("write_roots", "allow.paths"):
        for path in _at(policy, key):
            if not path.startswith(("/", "~/")) and path != "~":
                raise PolicyError(f"`{key}` holds `{path}`, which is neither absolute nor below ~")
            if ".." in path.split("/"):
                raise PolicyError(f"`{key}` holds `{path}`, which climbs with `..`")
    for group in policy.groups:
        if group not in ADJUSTABLE:
            raise PolicyError(f"`groups.{group.value}` can't be set: every profile answers it the same")
    for key in ("protected", "allow.programs", "allow.hosts", "network.allow", "tools", "rules.disable"):
        if any(not entry.strip() for entry in _at(policy, key)):
            raise PolicyError(f"`{key}` holds an empty entry")
    if policy.text.disable:
        _check_text_rules(policy.text.disable)
    return policy


def tighten(policy: Policy, project: bytes) -> Policy:
    """The policy with a project's wishes on top; the stricter of the two stands for each key.

    Raises PolicyError for a file that can't be understood, and for one that speaks of what only the
    person may decide.
    """
    members = _toml(project)
    for key in members:
        if key not in _PROJECT_KEYS:
            raise PolicyError(f"`{key}` can't be set by a project, only in the person's own config")
    wish = parse(project)
    for path in wish.write_roots:
        # with no roots of the person's the session's directory is the root, and any named one may be wider
        if not any(_below(path, root) for root in policy.write_roots):
            raise PolicyError(f"`write_roots` holds `{path}`, outside the roots of the person's config")
    # a project that says nothing of the profile must not raise it to the default
    wished = wish.profile if "profile" in members else policy.profile
    standing = msgspec.structs.replace(policy, profile=max(policy.profile, wished, key=_STRICTER.index))
    groups = {group: _stricter(action, standing.answer(group, _ANY)) for group, action in wish.groups.items()}
    severities = {
        severity: _stricter(action, standing.answer(Group.BY_SEVERITY, severity))
        for severity, action in wish.severities.items()
    }
    return msgspec.structs.replace(
        standing,
        groups={**policy.groups, **groups},
        severities={**policy.severities, **severities},
        write_roots=wish.write_roots or policy.write_roots,
        protected=tuple(dict.fromkeys(policy.protected + wish.protected)),
        tools=tuple(dict.fromkeys(policy.tools + wish.tools)),
        ask_fallback="deny" if "deny" in (policy.ask_fallback, members.get("ask_fallback")) else "allow",
        worktree="strict" if "strict" in (policy.worktree, members.get("worktree")) else "relaxed",
    )


def _check_text_rules(ids: tuple[str, ...]) -> None:
    from latchd.text.catalogue import (
        BY_ID,  # here, because few configs name one and most callers have no text
    )

    for one in ids:
        if one not in BY_ID:
            raise PolicyError(f"`text.disable` holds `{one}`, which is no text rule")


def _stricter(one: Action, other: Action) -> Action:
    return max(one, other, key=_ACTIONS.index)


def fingerprint(policy: Policy) -> bytes:
    """32 bytes that differ whenever the policy does; a pending call is bound to them."""
    return hashlib.sha256(msgspec.json.encode(policy, order="sorted")).digest()


def _toml(config: bytes) -> dict[str, Any]:
    if len(config) > MAX_CONFIG_BYTES:
        raise PolicyError(f"the file has {len(config)} bytes, the limit is {MAX_CONFIG_BYTES}")
    try:
        return tomllib.loads(config.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise PolicyError(f"the file is not UTF-8 at byte {error.start}") from None
    except tomllib.TOMLDecodeError as error:
        text = str(error)
        raise PolicyError(f"the file is not TOML: {text[:1].lower()}{text[1:]}") from None
    except RecursionError:
        raise PolicyError("the file is nested too deeply") from None


def _located(error: msgspec.ValidationError) -> str:
    """msgspec's text as ours: the key in backticks first."""
    text, _, where = str(error).partition(" - at `")
    if where.startswith("key` in `"):  # of a table whose keys are closed words
        table = where.removeprefix("key` in `").strip("`").removeprefix("$.")
        return f"`{table}` has no key `{text.rpartition(' value ')[2].strip(chr(39))}`"
    key = where.rstrip("`").removeprefix("$").removeprefix(".") or "the file"
    if text.startswith("Object contains unknown field"):
        unknown = text.rpartition("field ")[2].strip("`")
        path = unknown if key == "the file" else f"{key}.{unknown}"
        return f"`{path}` is not a key of the policy"
    return f"`{key}` is wrong: {text[:1].lower()}{text[1:]}".replace("\n", " ")


def _at(policy: Policy, key: str) -> Any:
    value: Any = policy
    for part in key.split("."):
        value = getattr(value, part)
    return value


def _below(path: str, root: str) -> bool:
    return path.rstrip("/") == root.rstrip("/") or path.startswith(root.rstrip("/") + "/")
