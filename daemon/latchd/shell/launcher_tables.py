"""Option tables of launchers: programs whose subcommand starts another program. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from latchd.shell.wrappers import Options, Tail, names

ANY: Final = ""  # the verb of a launcher that needs none
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
_CONDA: Final = Options(
    "v", "npra", "", names("verbose no-capture-output live-stream dev debug-wrapper-scripts clean-env"),
    names("name prefix cwd root-prefix attach env"), stops=_HELP,
)  # fmt: skip
_AWS_VAULT: Final = Options(
    "nsjtd", "", "", names("no-session server ecs-server ec2-server json stdout lazy debug"),
    names("duration region mfa-token prompt backend session-name"), operands=1, stops=_HELP,
)  # fmt: skip
_INSTANCE: Final = Options(
    "tTnq", "", "", any_long=True, long_values=names("env cwd user group mode project"), operands=1,
    remote=True,
)  # fmt: skip
_ADB: Final = Options("nTtx", "e", tail=Tail.SHELL, remote=True)
_FLY: Final = Options(
    any_long=True, values="aorsAu", operands=9, permutes=True, codes=names("-C --command"), remote=True
)
_NIX_AFTER: Final = Options(after=names("-c --command"))
_JS: Final[Mapping[str, Options]] = {"exec": _NPX, "x": _NPX, "dlx": _DLX}

# Program → words of its subcommand → how the rest is read up to the command.
LAUNCHERS: Final[Mapping[str, Mapping[str, Options]]] = {
    "doppler": {"run": _SECRETS},
    "infisical": {"run": _SECRETS},
    "op": {"run": _SECRETS},
    "dotenvx": {"run": _SECRETS},
    "dotenv": {
        "run": Options("", "fqe", long_flags=names("override no-override"), long_values=names("file export")),
        "get": Options(stops=names("get")), "set": Options(stops=names("set")),
        "list": Options(stops=names("list")), "unset": Options(stops=names("unset")),
        ANY: Options("oq", "epv", "c", names("override quiet expand debug"), names("debug")),
    },
    "aws-vault": {"exec": _AWS_VAULT},
    "aws-okta": {"exec": _AWS_VAULT},
    "saml2aws": {"exec": _AFTER_DASHES},
    "chamber": {"exec": _AFTER_DASHES},
    "envchain": {ANY: Options(operands=1, stops=names("-s --set -l --list --unset -n --noecho -h"))},
    "direnv": {"exec": Options(operands=1)},
    "mise": {
        "exec": Options(after=names("--"), codes=names("-c --command")),
        "x": Options(after=names("--"), codes=names("-c --command")),
    },
    "asdf": {"exec": Options()},
    "rbenv": {"exec": Options()}, "pyenv": {"exec": Options()}, "nodenv": {"exec": Options()},
    "nix-shell": {
        ANY: Options("", "pIAEj", "", any_long=True, operands=99, permutes=True, stops=_HELP,
            codes=names("--run --command")),
    },
    "nix": {
        "develop": _NIX_AFTER, "shell": _NIX_AFTER, "env": _NIX_AFTER,
        "run": Options(any_long=True),
    },
    "poetry": {"run": _PYTHON_RUN}, "pipenv": {"run": _PYTHON_RUN}, "pdm": {"run": _PYTHON_RUN},
    "hatch": {"run": _PYTHON_RUN}, "rye": {"run": _PYTHON_RUN}, "pixi": {"run": _PYTHON_RUN},
    "uv": {"run": _UV, "x": _UV},
    "uvx": {ANY: _UV},
    "pipx": {"run": Options("qv", "", "", names("quiet verbose no-cache system-site-packages pypackages"),
        names("spec python pip-args index-url with"), stops=_HELP)},
    "conda": {"run": _CONDA}, "mamba": {"run": _CONDA}, "micromamba": {"run": _CONDA},
    "bundle": {"exec": Options("", "", "", names("keep-file-descriptors verbose no-color"),
        names("gemfile retry"), stops=_HELP)},
    "bundler": {"exec": Options("", "", "", names("keep-file-descriptors verbose"), names("gemfile retry"))},
    "npx": {ANY: _NPX}, "bunx": {ANY: _NPX}, "pnpx": {ANY: _DLX},
    "npm": {**_JS, "explore": _AFTER_DASHES}, "pnpm": _JS, "yarn": _JS, "bun": {"x": _NPX},
    "volta": {"run": Options(long_flags=names("bundled-npm no-yarn no-pnpm"),
        long_values=names("node npm yarn pnpm env"))},
    "fnm": {"exec": Options("", "", "", names("using-file"), names("using"), any_long=True)},
    "nvm": {"exec": Options("", "", "", names("silent lts"), any_long=True, operands=1)},
    "rustup": {"run": Options(operands=1, long_flags=names("install"))},
    "opam": {"exec": _AFTER_DASHES}, "stack": {"exec": _AFTER_DASHES}, "cabal": {"exec": _AFTER_DASHES},
    "guix": {"shell": _AFTER_DASHES, "environment": _AFTER_DASHES}, "tox": {"exec": _AFTER_DASHES},
    "devbox": {"run": Options("q", "ce", "", any_long=True)},
    "sops": {
        "exec-env": Options(operands=1, tail=Tail.SHELL, any_long=True),
        "exec-file": Options(operands=1, tail=Tail.SHELL, any_long=True),
    },
    "cargo": {"watch": Options("cqnNBR", "xwiCdE", any_long=True, operands=99, permutes=True,
        codes=names("-s --shell"), stops=_HELP)},
    "just": {ANY: Options("", "fd", "", any_long=True, stops=_HELP, after=names("-c --command"))},
    "railway": {"run": Options("", "se", "", long_values=names("service environment"))},
    "consul": {"lock": Options("", "", "", any_long=True, operands=1, tail=Tail.SHELL)},
    "ip": {"netns exec": Options(operands=1), "vrf exec": Options(operands=1)},
    # elsewhere: another machine, another root
    "vagrant": {"ssh": Options(codes=names("-c --command"), after=names("--"), remote=True,
        tail=Tail.SHELL)},
    "machinectl": {"shell": Options("q", "EMHp", "", names("quiet"),
        names("uid setenv machine host property"),
        operands=1, remote=True)},
    "lxc": {"exec": _INSTANCE}, "incus": {"exec": _INSTANCE}, "lxc-attach": {ANY: Options(
        "eqvF", "nPsLocpugf", any_long=True, long_values=names("name lxcpath elevated-privileges set-var"),
        remote=True, stops=_HELP)},
    "multipass": {"exec": Options("v", "dn", "", any_long=True, operands=1, remote=True)},
    "limactl": {"shell": Options("", "", "", any_long=True, long_values=names("workdir shell"), operands=1,
        remote=True)},
    "lima": {ANY: Options(remote=True)}, "colima": {"ssh": Options(after=names("--"), remote=True)},
    "distrobox": {"enter": Options(after=names("-- -e --exec"), remote=True)},
    "distrobox-enter": {ANY: Options(after=names("-- -e --exec"), remote=True)},
    "toolbox": {"run": Options("", "cdr", "", long_values=names("container distro release"), remote=True)},
    "ddev": {"exec": Options("q", "sd", "", any_long=True, long_values=names("service dir"), tail=Tail.SHELL,
        remote=True)},
    "lando": {"ssh": Options("", "su", "", any_long=True, long_values=names("service user"),
        codes=names("-c --command"), remote=True)},
    "adb": {"shell": _ADB, "exec-out": _ADB},
    "nomad": {"alloc exec": Options("it", "e", "", any_long=True, operands=1, remote=True)},
    "gcloud": {"compute ssh": Options(any_long=True, operands=9, permutes=True, codes=names("--command"),
        remote=True)},
    "az": {"vm run-command": Options(any_long=True, operands=9, permutes=True, codes=names("--scripts"),
        remote=True)},
    "aws": {"ecs execute-command": Options(any_long=True, operands=99, permutes=True,
        codes=names("--command"), remote=True)},
    "heroku": {"run": Options("x", "ase", "", any_long=True, long_values=names("app remote size type env"),
        tail=Tail.SHELL, remote=True)},
    "fly": {"ssh console": _FLY}, "flyctl": {"ssh console": _FLY},
    "eb": {"ssh": Options(any_long=True, operands=9, permutes=True, codes=names("-c --command"),
        remote=True)},
    "doctl": {"compute ssh": Options(any_long=True, operands=9, permutes=True, codes=names("--ssh-command"),
        remote=True)},
    "gh": {"codespace ssh": Options(after=names("--"), remote=True, tail=Tail.SHELL),
        "cs ssh": Options(after=names("--"), remote=True, tail=Tail.SHELL)},
    "perf": {"stat": _PERF, "record": _PERF, "trace": _PERF, "mem": Options(stops=_HELP, any_long=True)},
}  # fmt: skip
