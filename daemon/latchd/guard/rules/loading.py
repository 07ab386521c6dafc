"""What rides along with a known program: variables that load code into it, values that are run as prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.verdict import Route, Severity
from latchd.guard.assignments import assigned
from latchd.guard.groups import Group
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject

_INSTEAD: Final = "write the command out with its name and arguments in plain text"

# Variables that make a program load or run something it was not asked to.
_LOADERS: Final = re.compile(
    "BASH_ENV|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|PROMPT_COMMAND|GIT_SSH_COMMAND|GIT_SSH|GIT_EXTERNAL_DIFF"
    "|GIT_PROXY_COMMAND|GIT_ASKPASS|GIT_CONFIG_COUNT|GIT_CONFIG_PARAMETERS|GIT_CONFIG_GLOBAL|GIT_CONFIG_SYSTEM"
    "|GIT_EXEC_PATH|PERL5OPT|RUBYOPT|PYTHONSTARTUP|ENV"
)


_PLAIN_VALUES: Final = re.compile(r"[\"']?(?:ssh(?:\s+-[\w=./~@ -]*)?|/dev/null|true|echo|\w*)[\"']?\Z")


# What every program of the machine may load: a memory allocator, mostly.
_SYSTEM_LIBRARY: Final = re.compile(
    r"[\"']?/(?:usr/)?(?:local/)?lib(?:64)?/[\w./+-]{1,200}\.so[\w.]{0,16}[\"']?\Z"
)


def _loader(subject: Subject) -> Iterator[Hit]:
    for name, value in assigned(subject.text, _LOADERS):
        # ENV names a file for sh alone; many programs use it as a word for their stage
        plain = _PLAIN_VALUES.match(value) is not None and name not in (
            "GIT_CONFIG_COUNT",
            "GIT_CONFIG_PARAMETERS",
        )
        if (
            not plain
            and not _SYSTEM_LIBRARY.match(value)
            and not (name == "ENV" and "/" not in value and "$" not in value)
        ):
            yield Hit(
                0,
                name,
                f"`{name}` makes a program run something that is not in this command",
                "run it without that variable",
            )


# Variables that name what is loaded into, or started by, a program that is everyday by itself.
_LOADING: Final = re.compile(
    "NODE_OPTIONS|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS|GRADLE_OPTS|RUBYLIB|PERL5LIB|PERL5DB"
    "|GIT_PAGER|PAGER|MANPAGER|GIT_EDITOR|EDITOR|VISUAL|GIT_SEQUENCE_EDITOR|BROWSER|CARGO_BUILD_RUSTC_WRAPPER"
    "|RUSTC_WRAPPER|RUSTC|GOFLAGS|MAKEFLAGS|npm_config_script_shell|npm_config_node_options"
)
_FOREIGN: Final = r"(?:/(?!usr/|opt/|bin/|lib/|dev/)|~|\.\./|\$HOME|\$\{HOME\}|https?:)"
_LOADS: Final = re.compile(
    rf"[\"']?[^\"']{{0,200}}?(?:--require|--import|--loader|--experimental-loader|-r)[ =]{_FOREIGN}"
    rf"|[\"']?[^\"']{{0,200}}?-(?:javaagent|agentpath):{_FOREIGN}|[\"']?[^\"']{{0,200}}?-toolexec[= ]"
    r"|[\"']?(?:/\S{0,64}/)?(?:ba|z|da|k)?sh\s{1,4}-\w{0,3}c\b|[\"']?(?:python[\d.]{0,5}|perl|ruby|node)\s{1,4}-[ec]\b"
    rf"|[\"']?(?:/tmp|/var/tmp|/dev/shm|\.\.)/"
)


def _loading(subject: Subject) -> Iterator[Hit]:
    """`NODE_OPTIONS='--require /tmp/x.js' node a.js`: code from outside comes along with a known program."""
    for name, value in assigned(subject.text, _LOADING):
        if _LOADS.match(value) and subject.facts.cwd not in value:
            yield Hit(
                0,
                name,
                f"`{name}` brings in code from outside the project, or a program of its own",
                "run it without that variable, or with a file of the project",
            )


_PROMPT_EXPANSION: Final = re.compile(r"\$\{(?!PS\d@)\w{1,64}(?:\[[^]\n]{0,64}\])?@P\}")
_QUOTED: Final = re.compile(r"'[^']{0,65536}'")


def _prompted(subject: Subject) -> Iterator[Hit]:
    """`${x@P}` runs the substitutions that stand in the value of x."""
    text = subject.text
    if "@P}" not in text or not ("$(" in text or "`" in text):
        return  # what the value holds is nowhere in the text: a prompt like any other
    if not _PROMPT_EXPANSION.search(_QUOTED.sub("''", text)):
        return
    yield Hit(0, "@P", "a value is expanded like a prompt, and what stands in it is run", _INSTEAD)


RULES: Final = (
    Rule(
        "vouch.prompt-expansion",
        "a value is run as a prompt is",
        Group.CANNOT_VOUCH_DESTRUCTIVE,
        Severity.HIGH,
        _prompted,
        denies=("x='$(make clean)'; echo \"${x@P}\"",),
        passes=('echo "${PS1@P}"', 'read -p "${ask@P}"', "echo '${x@P}'", 'echo "${x@Q}"'),
        route=Route.FALLBACK,
    ),
    Rule(
        "vouch.loading-variable",
        "a variable brings code from outside into a known program",
        Group.CANNOT_VOUCH,
        Severity.MEDIUM,
        _loading,
        denies=(
            "NODE_OPTIONS='--require /tmp/x.js' node a.js",
            "export NODE_OPTIONS=--require=/srv/x.js; npm test",
            "JAVA_TOOL_OPTIONS=-javaagent:/tmp/x.jar java A",
            "PAGER='sh -c x' git log",
            "EDITOR=/tmp/x crontab -l",
            "GOFLAGS='-toolexec=/tmp/x' go build",
        ),
        passes=(
            "NODE_OPTIONS=--max-old-space-size=4096 npm run build",
            "NODE_OPTIONS='--require ./test/setup.js' npx mocha",
            "JAVA_TOOL_OPTIONS=-Xmx2g java A",
            "PAGER=cat git log",
            "GIT_PAGER='less -R' git log",
            "GIT_EDITOR=true git rebase --continue",
            "GIT_SEQUENCE_EDITOR=\"sed -i '1s/pick/reword/'\" git rebase -i HEAD~2",
            "EDITOR=vim git commit",
            "GOFLAGS=-mod=mod go build",
            "LESSOPEN='|lesspipe %s' less a.gz",
            "echo NODE_OPTIONS='--require /tmp/x.js'",
        ),
        route=Route.FALLBACK,
    ),
    Rule(
        "vouch.loader-variable",
        "a variable makes a program run something else",
        Group.CANNOT_VOUCH,
        Severity.MEDIUM,
        _loader,
        denies=(
            "LD_PRELOAD=./x.so ls",
            "BASH_ENV=/x/y bash a.sh",
            "GIT_CONFIG_COUNT=1 git status",
            "A=1 GIT_SSH_COMMAND=./h git fetch",
        ),
        passes=(
            "LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2 ./server",
            "ENV=test make",
            "GIT_SSH_COMMAND='ssh -i key' git fetch",
            "echo LD_PRELOAD=x",
            "FOO=1 make",
        ),
    ),
)
