"""cmake: a build by script, and behind ``-E`` a box of file tools that a rule about `rm` would miss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from latch_contracts.facts import Access, Argument, Operation
from latchd.shell.grammar.description import Context, Description, Target
from latchd.shell.grammar.interpreters import run_child
from latchd.shell.grammar.options import Parsed, below
from latchd.shell.grammar.program import aimed, program

_Words = tuple[Argument, ...]


def _cmakes(parsed: Parsed, _context: Context) -> Description:
    tool = parsed.text("E")
    if tool:
        words = tuple(word for word in parsed.operands if word.value != "--")
        return _TOOLS.get(tool, _other)(words)
    scripts = parsed.values("P")
    return Description(
        known=True,
        operations=(Operation.EXECUTE,),
        targets=aimed(Access.EXECUTE, scripts),
        details=("script",),
    )


def _operands(words: _Words) -> _Words:
    return tuple(word for word in words if not word.value.startswith("-"))


def _other(_words: _Words) -> Description:
    return Description(known=True)


def _environment(_words: _Words) -> Description:
    return Description(known=True, operations=(Operation.ENVIRONMENT_READ,))


def _removes(words: _Words) -> Description:
    recursive = any(word.value[:1] == "-" and set("rR") & set(word.value) for word in words)
    return _deletes(_operands(words), recursive=recursive)


def _removes_directory(words: _Words) -> Description:
    return _deletes(_operands(words), recursive=True)


def _deletes(words: _Words, *, recursive: bool) -> Description:
    return Description(
        known=True,
        operations=(Operation.DELETE,),
        targets=aimed(Access.DELETE, words, recursive=recursive),
        details=("recursive",) if recursive else (),
        writes_stdout=False,
    )


def _copies(words: _Words) -> Description:
    words = _operands(words)
    return Description(
        known=True,
        operations=(Operation.COPY, Operation.READ, Operation.WRITE),
        targets=(*aimed(Access.READ, words[:-1]), *aimed(Access.WRITE, words[-1:])),
        writes_stdout=False,
    )


def _renames(words: _Words) -> Description:
    return Description(
        known=True,
        operations=(Operation.MOVE, Operation.DELETE, Operation.WRITE),
        targets=(*aimed(Access.DELETE, words[:1], recursive=True), *aimed(Access.WRITE, words[1:2])),
        writes_stdout=False,
    )


def _links(words: _Words) -> Description:
    return Description(
        known=True,
        operations=(Operation.WRITE,),
        targets=(*aimed(Access.METADATA, words[:1]), *aimed(Access.WRITE, words[1:2])),
        writes_stdout=False,
    )


def _makes(words: _Words) -> Description:
    return Description(known=True, operations=(Operation.WRITE,), targets=aimed(Access.WRITE, words))


def _reads(words: _Words) -> Description:
    return Description(known=True, operations=(Operation.READ,), targets=aimed(Access.READ, _operands(words)))


def _packs(words: _Words) -> Description:
    """tar FLAGS FILE …: c makes the file, x unpacks it here."""
    made = bool(words) and "c" in words[0].value
    return Description(
        known=True,
        operations=(Operation.READ, Operation.WRITE),
        targets=(
            *aimed(Access.WRITE if made else Access.READ, words[1:2]),
            *(Target(Access.READ, word, recursive=True) for word in _operands(words[2:]) if made),
        ),
    )


def _runs_with(words: _Words) -> Description:
    """env: assignments, then a command; without one it prints what it has."""
    tail = [word.value for word in words]
    while tail and ("=" in tail[0] or tail[0].startswith("-")):
        tail = tail[1:]
    return run_child(tail) if tail else _environment(words)


def _runs(words: _Words) -> Description:
    return run_child([word.value for word in words])


def _runs_there(words: _Words) -> Description:
    """`chdir DIR COMMAND …`: what the command names lies below DIR."""
    found = run_child([word.value for word in words[1:]])
    if not words:
        return found

    def there(word: Argument) -> Argument:
        return below(words[0], word)

    return msgspec.structs.replace(
        found,
        targets=tuple(msgspec.structs.replace(target, word=there(target.word)) for target in found.targets),
        uploads=tuple(map(there, found.uploads)),
        saves=tuple(map(there, found.saves)),
    )


_TOOLS: Final[Mapping[str, Callable[[_Words], Description]]] = MappingProxyType(
    {
        "environment": _environment,
        "rm": _removes,
        "remove": _removes,
        "remove_directory": _removes_directory,
        "copy": _copies,
        "copy_if_different": _copies,
        "copy_if_newer": _copies,
        "copy_directory": _copies,
        "copy_directory_if_different": _copies,
        "create_hardlink": _copies,
        "create_symlink": _links,
        "rename": _renames,
        "make_directory": _makes,
        "touch": _makes,
        "touch_nocreate": _makes,
        "cat": _reads,
        "compare_files": _reads,
        "md5sum": _reads,
        "sha1sum": _reads,
        "sha256sum": _reads,
        "sha512sum": _reads,
        "tar": _packs,
        "env": _runs_with,
        "time": _runs,
        "chdir": _runs_there,
    }
)

PROGRAMS: Final = (
    program(
        "cmake",
        "~ E! P= S= B= G= D= A= T= C= U= build= install= open= preset= target= config= prefix= j,parallel? "
        "graphviz= toolchain=",
        _cmakes,
        {
            "cmake --build b": "execute +script",
            "cmake -S . -B build": "execute +script",
            "cmake -P s.cmake": "execute execute:s.cmake +script",
            "cmake -E environment": "environment_read",
            "cmake -E env": "environment_read",
            "cmake -E rm -rf a": "delete delete:a/** +recursive >none",
            "cmake -E remove_directory a b": "delete delete:a/** delete:b/** +recursive >none",
            "cmake -E copy a b": "copy read write read:a write:b >none",
            "cmake -E cat a": "read read:a",
            "cmake -E make_directory a": "write write:a",
            "cmake -E rename a b": "move delete write delete:a/** write:b >none",
            "cmake -E create_symlink a b": "write metadata:a write:b >none",
            "cmake -E tar czf a.tgz b": "read write write:a.tgz read:b/**",
            "cmake -E env A=1 rm -rf b": "execute delete delete:b/** +recursive +force +child-command >none",
            "cmake -E chdir a make": "execute +script +child-command",
            "cmake -E chdir a rm b": "execute delete delete:a/b +child-command >none",
            "cmake -E echo x": "",
        },
    ),
)
