"""Launchers that take a subcommand first: `poetry run rm x`, `doppler run -- rm x`, `npx rimraf x`.

The program behind one is a command of its own. An option that is not in the tables makes the facts less
than complete, as with any other wrapper.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument, Issue
from latchd.shell.child import NOTHING, Child, Unwrapped, program_name, suspected_tail
from latchd.shell.listing import Input
from latchd.shell.options import parse_options
from latchd.shell.redirects import code_text
from latchd.shell.wrappers import Options, names

_ANY: Final = ""  # the verb of a launcher that needs none
_HELP: Final = names("--help --version -h")
_AFTER_DASHES: Final = Options(after=names("--"))

_NPX: Final = Options(
    "yq", "pw", "", names("yes no no-install quiet silent ignore-existing prefer-offline prefer-online"
    " offline workspaces include-workspace-root bun shell-mode"),
    names("package registry cache workspace userconfig prefix loglevel node-options node-arg allow-build"),
    stops=_HELP, codes=names("-c --call"),
)  # fmt: skip
_DLX: Final = Options(
    "qrcs", "pCF", "", names("quiet recursive shell-mode silent parallel stream"),
    names("package dir filter registry reporter allow-build node-options"), stops=_HELP,
)  # fmt: skip
_UV: Final = Options(
    "qvnU", "pPCfi", "",
    names("quiet verbose frozen locked no-sync isolated active exact all-extras dev no-dev only-dev no-"
    " project no-cache offline upgrade all-groups all-packages no-config native-tls no-editable no-"
    " env-file refresh no-progress reinstall inexact no-default-groups managed-python no-managed-"
    " python no-python-downloads no-binary no-build no-build-isolation no-index no-sources gui-script"),
    names("with with-requirements with-editable python extra no-extra group no-group only-group project"
    " directory env-file index-url extra-index-url index default-index find-links package from cache-dir"
    " color config-file resolution prerelease exclude-newer upgrade-package refresh-package python-platform"
    " reinstall-package no-build-package no-binary-package index-strategy keyring-provider link-mode"
    " config-setting fork-strategy allow-insecure-host python-preference"),
    stops=names("-m --module --help --version -h"),
)  # fmt: skip
_PYTHON_RUN: Final = Options(
    "qvnsg", "Cp", "", names("quiet verbose no-interaction no-ansi no-cache no-plugins site-packages list"),
    names("directory project python env-file venv"), stops=names("--help --version -h -l --list"),
)  # fmt: skip
_PERF: Final = Options(
    "aABdghinNPqRsSTvW", "bCcDeFGIjkKlMmoprtux", "",
    names("all-cpus all-user all-kernel verbose quiet no-inherit null big-num detailed no-aggr per-core"
    " per-socket per-thread no-big-num append metric-only no-buffering tail-synthesize timestamp"),
    names("event output pid tid cpu repeat count freq call-graph field-separator interval-print delay"
    " timeout user mmap-pages metrics pre post cgroup"),
    stops=_HELP, codes=names("--pre --post"),
)  # fmt: skip
_SECRETS: Final = Options(
    "", "pcteof", "",
    names("no-masking no-fallback fallback-only fallback-readonly forward-signals preserve-env json watch"
    " expand no-exit-on-missing-token-scopes silent overload quiet verbose debug strict no-cache no-ops"
    " include-imports secret-overriding server"),
    names("config project token scope env env-file environment path tags projectId fallback mount"
    " mount-format mount-template name-transformer passphrase api-host dashboard-host config-dir account"
    " cache log-level domain project-config-dir env-vault-file env-keys-file convention"),
    stops=_HELP, codes=names("--command"),
)  # fmt: skip
_AWS_VAULT: Final = Options(
    "nsjtd", "", "", names("no-session server ecs-server ec2-server json stdout lazy debug"),
    names("duration region mfa-token prompt backend session-name"), operands=1, stops=_HELP,
)  # fmt: skip
_NIX_AFTER: Final = Options(after=names("-c --command"))
_JS: Final[Mapping[str, Options]] = {"exec": _NPX, "x": _NPX, "dlx": _DLX}

LAUNCHERS: Final[Mapping[str, Mapping[str, Options]]] = {
    "doppler": {"run": _SECRETS},
    "infisical": {"run": _SECRETS},
    "op": {"run": _SECRETS},
    "dotenvx": {"run": _SECRETS},
    "dotenv": {
        "run": Options("", "fqe", long_flags=names("override no-override"), long_values=names("file export")),
        "get": Options(stops=names("get")), "set": Options(stops=names("set")),
        "list": Options(stops=names("list")), "unset": Options(stops=names("unset")),
        _ANY: Options("oq", "epv", "c", names("override quiet expand debug"), names("debug")),
    },
    "aws-vault": {"exec": _AWS_VAULT},
    "aws-okta": {"exec": _AWS_VAULT},
    "saml2aws": {"exec": _AFTER_DASHES},
    "chamber": {"exec": _AFTER_DASHES},
    "envchain": {_ANY: Options(operands=1, stops=names("-s --set -l --list --unset -n --noecho -h"))},
    "direnv": {"exec": Options(operands=1)},
    "mise": {
        "exec": Options(after=names("--"), codes=names("-c --command")),
        "x": Options(after=names("--"), codes=names("-c --command")),
    },
    "asdf": {"exec": Options()},
    "rbenv": {"exec": Options()}, "pyenv": {"exec": Options()}, "nodenv": {"exec": Options()},
    "nix-shell": {
        _ANY: Options("", "pIAEj", "", any_long=True, operands=99, permutes=True, stops=_HELP,
            codes=names("--run --command")),
    },
    "nix": {"develop": _NIX_AFTER, "shell": _NIX_AFTER, "env": _NIX_AFTER},
    "poetry": {"run": _PYTHON_RUN}, "pipenv": {"run": _PYTHON_RUN}, "pdm": {"run": _PYTHON_RUN},
    "hatch": {"run": _PYTHON_RUN}, "rye": {"run": _PYTHON_RUN}, "pixi": {"run": _PYTHON_RUN},
    "uv": {"run": _UV, "x": _UV},
    "uvx": {_ANY: _UV},
    "pipx": {"run": Options("qv", "", "", names("quiet verbose no-cache system-site-packages pypackages"),
        names("spec python pip-args index-url with"), stops=_HELP)},
    "conda": {"run": Options("v", "np", "", names("verbose no-capture-output live-stream dev"
        " debug-wrapper-scripts"),
        names("name prefix cwd"), stops=_HELP)},
    "bundle": {"exec": Options("", "", "", names("keep-file-descriptors verbose no-color"),
        names("gemfile retry"), stops=_HELP)},
    "bundler": {"exec": Options("", "", "", names("keep-file-descriptors verbose"), names("gemfile retry"))},
    "npx": {_ANY: _NPX}, "bunx": {_ANY: _NPX}, "pnpx": {_ANY: _DLX},
    "npm": _JS, "pnpm": _JS, "yarn": _JS, "bun": {"x": _NPX},
    "perf": {"stat": _PERF, "record": _PERF, "trace": _PERF, "mem": Options(stops=_HELP, any_long=True)},
}  # fmt: skip
_PACKAGES: Final = names("npx bunx pnpx npm pnpm yarn bun uvx pipx")
_VERSIONED = re.compile(r"([^@/\\]+)@[^/]*\Z")


def launcher(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    """The command behind a launcher's subcommand and options."""
    name = program_name(words[0].value)
    found = _subcommand(words, LAUNCHERS[name])
    if found is None:
        return NOTHING
    options, first = found
    codes: tuple[Child, ...] = ()
    start, unknown = len(words), False
    if options.codes or not options.after:
        parsed = parse_options(words, options, first)
        if parsed.stopped:
            return NOTHING
        codes = tuple(Child(code=code_text(code.value), head=parsed.start) for code in parsed.codes)
        if codes and name != "perf":  # what perf names there runs beside the command
            return Unwrapped(codes)
        start, unknown = parsed.start, parsed.unknown
    if options.after:
        start = next((i + 1 for i, word in enumerate(words) if i >= first and word.value in options.after), 0)
        unknown = False
        if not start:
            return Unwrapped(suspected=suspected_tail(words))
    elif start < len(words) and words[start].value == "--":
        start += 1
    tail = tuple(words[start:])
    issues = (Issue.UNKNOWN_OPERAND_GRAMMAR,) if unknown else ()
    if not tail:
        return Unwrapped(codes, issues)
    child = Child(_plain(name, tail), head=start)
    return Unwrapped((*codes, child), issues, suspected=suspected_tail(words) if unknown else "")


def _subcommand(words: Sequence[Argument], verbs: Mapping[str, Options]) -> tuple[Options, int] | None:
    """The table of the subcommand and the index behind it. What follows an option may be its value."""
    index = 1
    while index < len(words):
        value = words[index].value
        if value in verbs and value:
            return verbs[value], index + 1
        if not value.startswith("-") and not words[index - 1].value.startswith("-"):
            break
        if value == "--":
            break
        index += 1
    return (verbs[_ANY], 1) if _ANY in verbs else None


def _plain(name: str, tail: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """The program's own name, without a package's version or an environment's name."""
    head = tail[0]
    versioned = _VERSIONED.match(head.value)
    if name in _PACKAGES and versioned:
        head = msgspec.structs.replace(head, value=versioned.group(1))
    elif name == "hatch" and ":" in head.value:
        head = msgspec.structs.replace(head, value=head.value.partition(":")[2] or head.value)
    elif name == "uv" and head.value.endswith(".py"):
        return (Argument("python"), *tail)
    return (head, *tail[1:])
