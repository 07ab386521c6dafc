"""Programs that come from somewhere else: standard input, a variable, lines of a list, a loader's setting."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import (
    Access,
    Command,
    Issue,
    Operation,
)
from latch_contracts.verdict import Severity
from latchd.guard.groups import Group
from latchd.guard.rule import Hit, Rule
from latchd.guard.rules.traffic import saves_only
from latchd.guard.subject import Subject

_INSTEAD: Final = "write the command out with its name and arguments in plain text"


def _code(subject: Subject) -> Iterator[Hit]:
    """A program text or script whose very name is put together when it runs."""
    for command in subject.acting():
        if command.program in _INTERPRETERS and "opaque-code" in command.details and _has_bare_code(command):
            yield Hit(
                command.id,
                command.program,
                f"the program that `{command.program[:40]}` gets is known only when it runs",
                _INSTEAD,
            )
    for command, fact in subject.touched(Access.EXECUTE):
        generated = any(flow.to_command == command.id for flow in subject.facts.flows)
        if fact.value == "\0" and command.program in _SHELLS and not generated:
            yield Hit(
                command.id,
                "(script)",
                f"which script `{command.program[:40]}` runs is known only when it runs",
                _INSTEAD,
            )


_FEEDERS: Final = frozenset(("xargs", "gxargs", "parallel"))


_CODE_OPTIONS: Final = (
    "-c",
    "-e",
    "-E",
    "--eval",
    "-m",
    "-r",
    "--import",
    "-f",
    "--file",
    "-p",
    "--print",
    "-lc",
)


def _fed_code(subject: Subject) -> Iterator[Hit]:
    """xargs and parallel put lines of input where an interpreter, or git, looks for what to do."""
    for command in subject.acting():
        if command.program == "parallel" and any("{=" in word for word in command.argv):
            yield Hit(
                command.id,
                "{=",
                "`{= … =}` is a program of perl that parallel runs for every line",
                "put the values into the call, or use a loop",
            )
        if _is_put_together(subject, command):
            yield Hit(
                command.id,
                command.program,
                f"a part of this `{command.program[:40]}` is what the program that starts it reads",
                "list what it would be run on, and name that in the call",
            )
            continue
        feeders = [wrapper.executable.rpartition("/")[2] in _FEEDERS for wrapper in command.wrappers]
        if command.program == "eval" and any(feeders):
            yield Hit(
                command.id,
                command.program,
                "words that come in as lines of input are evaluated",
                "let a literal program take them as arguments",
            )
            continue
        if not feeders or not feeders[-1]:
            continue
        if _takes_code_from_lines(command):
            yield Hit(
                command.id,
                command.program,
                f"lines of input become the program that `{command.program[:40]}` runs",
                "pass them as arguments after a literal program, as in `sh -c '…' _ {}`",
            )


# Programs whose own language starts others: what they put into a command line is what they read.
_LANGUAGES: Final = frozenset(
    "awk gawk mawk nawk original-awk goawk sed gsed perl ruby python python2 python3 node nodejs bun deno "
    "php lua".split()
)
_HARMS: Final = frozenset(
    (
        Operation.DELETE,
        Operation.WORK_LOSS,
        Operation.DISK_WRITE,
        Operation.PERMISSION_CHANGE,
        Operation.ACCOUNT_CHANGE,
        Operation.PRIVILEGE,
        Operation.RUN_INPUT,
    )
)


def _is_put_together(subject: Subject, command: Command) -> bool:
    """Whether a program's own code starts this on what it reads, where that may do harm or is code again."""
    outer = subject.facts.command(command.parent)
    if outer is None or outer.program not in _LANGUAGES:
        return False
    if command.program in _SHELLS and Operation.RUN_INPUT in command.operations:
        return not _is_spelled_out(subject, command)
    if not any("\0" in word for word in command.argv):
        return False
    takes = command.program in _INTERPRETERS and "opaque-code" in command.details
    moves = Operation.MOVE in command.operations  # the file is still there
    return takes or (not moves and not _HARMS.isdisjoint(command.operations))


def _takes_code_from_lines(command: Command) -> bool:
    words = command.argv[1:]
    if command.program in ("find", "gfind"):
        return words == ("\0",) or _extends_expression(words)
    if command.program == "eval":
        return any("\0" in word for word in words)
    if command.program in _SUBCOMMANDS:
        while words[:2] == ("-C", "\0") and len(words) > 2:  # where, not what
            words = words[2:]
        at = next((at for at, word in enumerate(words) if not word.startswith("-")), len(words))
        if any("\0" in word for word in words[: at + 1]):
            return True
        rest = words[at + 1 :]
        options = rest[: rest.index("--")] if "--" in rest else rest
        # a name where the verb takes a mode as well, or a line that is glued to a dash
        glued = any(word.startswith("-") and "\0" in word for word in options)
        moody = not _MOODY.isdisjoint(words[at : at + 1]) and options[:1] == ("\0",)
        return command.program == "git" and (glued or moody)
    if command.program not in _INTERPRETERS | _AWKS:
        return False
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        code = before in _CODE_OPTIONS or (
            before.startswith("-") and not before.startswith("--") and before.endswith("c")
        )
        if "\0" in word:
            return True
        if code or not word.startswith("-"):
            return False  # the program is here, and literal: what follows are its arguments
    return False


def _extends_expression(words: tuple[str, ...]) -> bool:
    """Lines that come where find looks for another test or action, not for the value of one."""
    begun = False
    for at, word in enumerate(words):
        if word == "\0" and begun and not words[at - 1].startswith("-") and words[at - 1] != "{}":
            return True
        begun = begun or word.startswith("-")
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            return False
    return False


# Verbs of git of which one word more decides between a look and a loss: `reset --hard`, `merge --abort`.
_MOODY: Final = frozenset(("reset", "merge", "rebase", "push"))
_SUBCOMMANDS: Final = frozenset(("git", "docker", "kubectl", "npm", "systemctl"))


_AWKS: Final = frozenset(("awk", "gawk", "mawk", "nawk"))


def _has_bare_code(command: Command) -> bool:
    return any(word.value == "\0" for word in command.arguments[1:])


_SHELLS: Final = frozenset("sh bash dash zsh ksh fish source .".split())
_INTERPRETERS: Final = frozenset(
    "sh bash dash zsh ksh fish source . python python2 python3 node nodejs bun deno perl ruby php lua "
    "pwsh".split()
)


def _input(subject: Subject) -> Iterator[Hit]:
    """An interpreter that runs what another command writes: the program is not in the text."""
    for command in subject.acting():
        # a dump that is piped into a database client is no more than the same file redirected into it
        takes = Operation.RUN_INPUT in command.operations and command.program not in _CLIENTS
        if takes and fed_by_commands(subject, command) and not _is_spelled_out(subject, command):
            yield Hit(
                command.id,
                command.program,
                f"`{command.program[:40]}` runs what it gets as input, and that is known only when it runs",
                "put the commands themselves into the call",
            )


_CLIENTS: Final = frozenset("mysql mariadb psql sqlite3 clickhouse-client mongosh mongo duckdb cqlsh".split())


def fed_by_commands(subject: Subject, command: Command) -> bool:
    """Whether another command's output comes in, and not only that of a known generator.

    A here-document is in the text, and a file that is redirected in is a script like any other.
    """
    sources = [
        flow.from_command
        for flow in subject.facts.flows
        if flow.to_command == command.id
        and flow.from_command
        and not saves_only(subject, subject.facts.command(flow.from_command))
    ]
    generated = all(_is_generator(subject.facts.command(source)) for source in sources)
    kept = any(
        redirect.access in (Access.WRITE, Access.APPEND) and redirect.target != "/dev/null"
        for redirect in command.redirects
    )
    if kept and command.program in ("source", "."):
        return bool(sources)
    return bool(sources) and not (generated and not _CHANGED.search(subject.text))


# A setting ahead of `eval` or of the generator itself: what it prints may be another thing then.
_CHANGED: Final = re.compile(
    r"(?:\A|[;&|({`\n])\s{0,16}[A-Za-z_]\w{0,63}=[^\s;&|()]{0,256}\s{1,16}(?:[\w./-]{1,128}\s|eval\b|source\b|\.\s)"
)


def _is_spelled_out(subject: Subject, command: Command) -> bool:
    """Whether what comes in was literal, and its commands are listed as this one's own.

    A language's program that was read whole from a here-document or an `echo` is one as if given with `-c`.
    """
    if "inline-code" in command.details and command.program not in _SHELLS:
        return "opaque-code" not in command.details
    return Issue.OPAQUE_ARTIFACT not in subject.facts.issues and any(
        child.parent == command.id and child.wrappers and child.wrappers[-1].executable == command.executable
        for child in subject.facts.commands
    )


# Programs that print shell code for exactly this use; their own arguments are judged as always.
_GENERATORS: Final = frozenset(
    "ssh-agent brew direnv starship pyenv rbenv nodenv goenv jenv fnm mise rtx asdf zoxide dircolors "
    "conda mamba micromamba opam "
    "luarocks thefuck lesspipe minikube docker-machine register-python-argcomplete resize gpg-agent "
    "keychain atuin mcfly "
    "perl5lib plenv phpenv sdk nvm volta".split()
)


def _is_generator(command: Command | None) -> bool:
    """A shell-setup generator: by name, or any program asked for its completion."""
    if command is None or not command.argv_complete:
        return False
    words = command.argv[1:]
    return command.program in _GENERATORS or (
        (bool(words) and words[0] in ("completion", "completions"))
        or "--completion" in words
        or "generate-shell-completion" in words
    )


RULES: Final = (
    Rule(
        "vouch.unknown-input",
        "an interpreter runs input that is not in the text",
        Group.CANNOT_VOUCH,
        Severity.MEDIUM,
        _input,
        denies=(
            "cat script.sh | bash",
            "./gen | sh",
            "source <(PATH=./x kubectl completion bash)",
            "cat gen.py - <<'E' | python3\nprint(1)\nE",
            'echo "$CODE" | node',
        ),
        passes=(
            "cat <<'E' | python3\nprint(1)\nE",
            "bash script.sh",
            "echo 'ls' | bash",
            "bash -c 'ls'",
            "bash < script.sh",
            "python3 - <<'E'\nprint(1)\nE",
            "source <(kubectl completion bash)",
            "curl -o a.sh https://host.example/a.sh | bash",
            "zcat dump.sql.gz | mysql app",
        ),
    ),
    Rule(
        "vouch.unknown-code",
        "the program of an interpreter is not in the text",
        Group.CANNOT_VOUCH,
        Severity.MEDIUM,
        _code,
        denies=('bash "$FILE"', 'python3 -c "$CODE"', 'source -p lib "$FILE"'),
        passes=("bash run.sh", "python3 -c 'print(1)'", 'bash -c "echo $X"'),
    ),
    Rule(
        "vouch.fed-code",
        "lines of input become a program",
        Group.CANNOT_VOUCH,
        Severity.MEDIUM,
        _fed_code,
        denies=(
            "ls | xargs bash",
            "ls | xargs -I{} sh -c 'echo {}'",
            "cat l | xargs -I{} git {}",
            "cat l | xargs -I{} git reset {}",
            "cat l | xargs -I{} git log --{}",
            "cat l | xargs -I{} git -C {} {}",
            "cat l | xargs git -C",
            "cat l | xargs find . -name x",
            "cat l | xargs sh -c 'eval \"$1\"' _",
            "awk '{system(\"rm \" $1)}' l",
            "sed 's/.*/rm &/e' l",
            "perl -ne 'system(\"rm $_\")' l",
        ),
        passes=(
            "ls | xargs wc -l",
            "ls | xargs -I{} sh -c 'echo \"$1\"' _ {}",
            "ls | xargs git add",
            "cat l | xargs -I{} git show {}",
            "ls | xargs -I{} git -C {} pull",
            "ls | xargs git --version",
            "ls | xargs -I{} find {} -name x",
            "ls | xargs -I{} find . -name {} -print",
            "ls | xargs bash run.sh",
            "awk '{print $1}' f",
            "perl -ne 'print if /x/' f",
            "awk '{print $1 | \"sort\"}' f",
        ),
    ),
)
