"""Programs that stand in the text of a call word for word: judged as if they had been given with `-c`.

A here-document that an interpreter reads where the facts have not read it themselves, a script that one
segment writes and a later one runs, and the command line in an argument of a tool that nobody has a contract
for. The body is found in the raw text, so what it leads to is marked as found by a pattern. One level deep: a
program in a program in a program is nobody's honest work, and the outermost is judged.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from latch_contracts.contract import Surface
from latch_contracts.events import Call
from latch_contracts.facts import Access, Argument, Command, Operation
from latch_contracts.strict_json import as_array
from latchd.guard.bodies import Heredoc, documents
from latchd.guard.subject import Subject
from latchd.shell.facts import analyze
from latchd.shell.grammar.description import Context
from latchd.shell.grammar.places import resolve

_MAX_BODY: Final = 65_536  # a shell text of more is refused as such
_CODE_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {"python": "-c", "pypy": "-c", "node": "-e", "nodejs": "-e", "bun": "-e", "ruby": "-e", "perl": "-e"}
    | {"php": "-r", "lua": "-e"}
)
_MAX_SCRIPTS: Final = 16
_MAX_VALUES: Final = 8
_LINES: Final = (
    "command",
    "cmd",
    "commandLine",
    "command_line",
    "shell_command",
    "bash_command",
    "cli_command",
)
_SHELLS: Final = frozenset("sh bash dash zsh ksh source .".split())
_WRITERS: Final = frozenset(("cat", "tee", "echo", "printf"))
_LINE: Final = re.compile(r"#!\s{0,4}\S{0,128}/(?:env\s{1,4}(?:-S\s{1,4})?)?(?P<program>[\w.+-]{1,32})")


def embedded(subject: Subject) -> Iterator[tuple[int, Subject]]:
    """Each program in the text: the command that runs it, and the subject it makes by itself."""
    if not subject.is_shell:
        yield from _command_lines(subject)
        return
    text = subject.text
    yield from _misplaced(subject)
    if "<<" not in text and not _writes_and_runs(subject):
        return
    found = tuple(documents(text)) if "<<" in text else ()
    readers = {
        command.program: command
        for command in subject.acting()
        if Operation.RUN_INPUT in command.operations and _language(command.program)
    }
    for document in found:
        for program, command in readers.items():
            if document.feeds(program):
                if "inline-code" not in command.details:  # else the call's own facts have read it
                    yield from _made(subject, command, program, document.body)
                if _SHELL_TEXT.match(document.body) and subject.event.call is not None:
                    yield command.id, _shell(subject, subject.event.call, document.body)
                break
    for command, program, body in itertools.islice(_scripts(subject, found), _MAX_SCRIPTS):
        yield from _made(subject, command, program, body)


# They join their words with blanks and give the whole to a shell, so that quotes are lost on the way.
_JOINERS: Final = frozenset(("watch", "parallel"))
_PLACES: Final = re.compile(r"\{[\d#%./+-]{0,4}\}")
_SHELL_TEXT: Final = re.compile(
    r"\s{0,64}(?:sudo\s{1,8})?(?:rm|rmdir|unlink|shred|dd|mkfs|git|find|chmod|chown|mv)\s{1,8}[^=(]", re.ASCII
)


def _misplaced(subject: Subject) -> Iterator[tuple[int, Subject]]:
    """Shell text where none is run as it stands, but where somebody meant it to be.

    A command that is quoted as one word, a shell's program behind `watch` or `parallel`, `rm` as the program
    of another language: it fails or does less than it says, until the next attempt gets the quoting right.
    """
    call = subject.event.call
    if call is None:
        return
    for command in subject.acting():
        for text in _meant(command):
            if len(text) <= _MAX_BODY and not _is_parameter(subject, command):
                yield command.id, _shell(subject, call, text)


def _is_parameter(subject: Subject, command: Command) -> bool:
    """Whether the command's name was handed to a shell's program as one word: the quoting is as meant."""
    outer = subject.facts.command(command.parent)
    while outer is not None:
        if outer.program in _SHELLS and "inline-code" in outer.details:
            return command.executable in outer.argv[1:]
        outer = subject.facts.command(outer.parent)
    return False


def _meant(command: Command) -> Iterator[str]:
    words = command.argv
    if any(mark in command.executable for mark in " \n\t") and "\0" not in command.executable:
        yield " ".join(command.executable.split())
    if command.program in _JOINERS:
        yield from _joined(words)
    if "inline-code" in command.details and _language(command.program):
        for word in words[1:]:
            code = word.partition("=")[2] if word.startswith("--") else word
            if _SHELL_TEXT.match(code):
                yield code


def _joined(words: tuple[str, ...]) -> Iterator[str]:
    """The program that `-c` was meant to have, with each value that is put into it, and its arguments."""
    end = next((at for at, word in enumerate(words) if word.startswith(":::")), len(words))
    values = words[end + 1 :] if words[end : end + 1] == (":::",) else ()
    known = [shlex.quote(value) for value in values[:_MAX_VALUES] if not value.startswith(":::")]
    for at, word in enumerate(words[2:end], 2):
        if words[at - 1].startswith("-") and words[at - 1].endswith("c") and " " in word:
            for value in known or ['"$X"']:
                yield value.join(_PLACES.split(word))
            yield shlex.join(words[at + 2 : end])
            return


def _language(program: str) -> str:
    """The option that takes a program in an argument; "" when there is none."""
    return _CODE_OPTIONS.get(program.rstrip("0123456789."), "")


def _made(subject: Subject, command: Command, program: str, body: str) -> Iterator[tuple[int, Subject]]:
    call = subject.event.call
    option = _language(program)
    if call is None or len(body) > _MAX_BODY or not (option or program in _SHELLS):
        return
    yield command.id, _shell(subject, call, shlex.join((program, option, body)) if option else body)


def _shell(subject: Subject, call: Call, text: str) -> Subject:
    """The subject as it would be if a shell had been given the text."""
    given = msgspec.structs.replace(call, command=text, surface=Surface.SHELL)
    key = text, subject.facts.cwd, subject.home
    facts = subject.work.programs.get(key)
    if facts is None:  # each participant asks, and reading a program is dearer than judging it
        facts = subject.work.programs[key] = analyze(text, cwd=subject.facts.cwd, home=subject.home)
    return msgspec.structs.replace(
        subject, event=msgspec.structs.replace(subject.event, call=given), facts=facts
    )


def _command_lines(subject: Subject) -> Iterator[tuple[int, Subject]]:
    call = subject.event.call
    if call is None or call.surface not in (Surface.MCP, Surface.GENERIC):
        return
    for key in _LINES:
        value = call.arguments.get(key)
        words = as_array(value)
        if words is not None and all(isinstance(word, str) for word in words):
            value = shlex.join(words)
        if isinstance(value, str) and 0 < len(value) <= _MAX_BODY:
            yield 1, _shell(subject, call, value)
    for line in dict.fromkeys(_lines_of_words(call)):
        if len(line) <= _MAX_BODY:
            yield 1, _shell(subject, call, line)


# Where a tool takes the words of a command line, and the servers and tools that are named after a client.
_WORDS: Final = ("args", "arguments", "argv", "params", "parameters", "flags")
_CLIENTS: Final = frozenset(
    "kubectl oc helm docker podman nerdctl terraform tofu pulumi git gh glab aws gcloud az heroku fly flyctl "
    "vercel netlify npm pnpm yarn pip psql mysql sqlite3 redis-cli mongosh ssh rclone ansible systemctl "
    "rm find".split()
)
_STARTERS: Final = frozenset(
    "run exec execute shell bash sh command cmd terminal call spawn process start".split()
)
_NAMED: Final[Mapping[str, str]] = MappingProxyType(
    {"kubernetes": "kubectl", "k8s": "kubectl", "github": "gh"}
)


def _lines_of_words(call: Call) -> Iterator[str]:
    """Command lines whose words came as a list: behind a program's own name, or that of the tool."""
    program = call.arguments.get("command") or call.arguments.get("cmd") or call.arguments.get("program")
    *servers, tool = [part.lower() for part in call.tool.split("__") if part]
    server = _NAMED.get(servers[-1], servers[-1]) if servers else ""
    for key in _WORDS:
        value = call.arguments.get(key)
        listed = as_array(value)
        if listed is not None and all(isinstance(word, str) for word in listed):
            text = shlex.join(str(word) for word in listed)
        elif isinstance(value, str):
            text = value
        else:
            continue
        if isinstance(program, str) and program and " " not in program:
            yield f"{program} {text}"
            if server in _CLIENTS:  # `command` may be the client's verb
                yield f"{server} {program} {text}"
        elif tool in _CLIENTS:
            yield f"{tool} {text}"
        elif server in _CLIENTS:
            yield f"{server} {tool} {text}"
            yield f"{server} {text}"
        if tool in _STARTERS and server not in _CLIENTS and not program:
            yield text


def _writes_and_runs(subject: Subject) -> bool:
    wrote = runs = False
    for fact in subject.facts.paths:
        wrote = wrote or fact.access in (Access.WRITE, Access.APPEND)
        runs = runs or fact.access is Access.EXECUTE
    return wrote and (runs or any("/" in command.executable for command in subject.facts.commands))


def _scripts(subject: Subject, found: tuple[Heredoc, ...]) -> Iterator[tuple[Command, str, str]]:
    """Files that a segment makes of literal text and that a later one runs."""
    written = {
        fact.resolved: (command, fact.value)
        for command, fact in subject.touched(Access.WRITE, Access.APPEND)
        if command.program in _WRITERS and fact.resolved
    }
    if not written:
        return
    for command, path in _executed(subject):
        writer, spelled = written.get(path, (command, ""))
        if writer.id >= command.id:
            continue
        for body in _bodies(writer, spelled, found):
            shebang = _LINE.match(body)
            direct = path.endswith("/" + command.program)
            named = shebang["program"] if shebang and direct else "sh" if direct else command.program
            yield command, named, body


def _executed(subject: Subject) -> Iterator[tuple[Command, str]]:
    context = Context(cwd=subject.facts.cwd, home=subject.home)
    for command, fact in subject.touched(Access.EXECUTE):
        yield command, fact.resolved
    for command in subject.acting():
        if "/" in command.executable:
            yield command, resolve(Argument(value=command.executable), context)


def _bodies(writer: Command, spelled: str, found: tuple[Heredoc, ...]) -> Iterator[str]:
    if writer.program in ("echo", "printf"):
        words = [word for word in writer.argv[1:] if word not in ("-e", "-n", "-en", "-ne")]
        yield " ".join(words).replace("\0", "$X").replace("\\n", "\n")
        return
    name = spelled.rpartition("/")[2]
    for document in found:
        if name and name in document.line:
            yield document.body
