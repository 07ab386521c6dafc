"""Facts of every tool call: the shell goes to the shell's analysis, the rest is read from its arguments.

A tool whose required argument is missing or of the wrong type is INVALID: what the agent would do
with it is not known. A tool nobody has heard of is still a reader of every path in its arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from latch_contracts.contract import Surface
from latch_contracts.events import Call
from latch_contracts.facts import (
    Access,
    ActionFacts,
    Argument,
    Command,
    DataFlow,
    Dialect,
    End,
    Grammar,
    Issue,
    Kind,
    NetAction,
    NetworkFact,
    Operation,
    PathFact,
    Status,
)
from latch_contracts.strict_json import as_array, as_object
from latchd.shell.facts import analyze
from latchd.shell.grammar.description import Context
from latchd.shell.grammar.hosts import peer
from latchd.shell.grammar.places import normalize, resolve

MAX_DEPTH: Final = 6
MAX_PATHS: Final = 512
_MAX_PATH_CHARS: Final = 4096

_PATH_KEYS: Final = frozenset(
    "path paths file files filename file_path filepath file_paths absolutepath absolute_path "
    "notebook_path target_file "
    "targetfile directory dir dirpath directory_path folder root base source src destination dest uri "
    "include "
    "old_path new_path relative_path relative_workspace_path workspace_path".split()
)
_GLOB_KEYS: Final = frozenset(("glob", "include", "pattern"))
# Searches whose pattern is text, and those that look for names alone and show no content.
_CONTENT_SEARCHES: Final = frozenset("grep search rg search_file_content grep_search".split())
_NAME_SEARCHES: Final = frozenset("glob find file_search find_files glob_file_search find_by_name".split())
# Where a sentence stands; one that begins with a path is no path.
_PROSE_KEYS: Final = frozenset(
    "query prompt content text body title description message question comment summary plan reason "
    "explanation instructions activeform observations".split()
)
_POWERSHELL: Final = frozenset(("powershell", "pwsh", "run_powershell"))
_PATCH_HEADS: Final = (
    ("*** Add File: ", Access.WRITE),
    ("*** Update File: ", Access.WRITE),
    ("*** Delete File: ", Access.DELETE),
    ("*** Move to: ", Access.WRITE),
    ("+++ ", Access.WRITE),
    ("--- ", Access.DELETE),
)
_TEXT_SURFACES: Final = (Surface.SKILL, Surface.DELEGATE)  # their arguments are prose, never paths


def facts_of(call: Call, *, cwd: str, home: str) -> ActionFacts:
    """What this call would do. Never raises; "" for a cwd or home that is not known."""
    context = Context(cwd=cwd, home=home)
    if call.surface is Surface.SHELL:
        return _shell(call, cwd, home)
    if call.surface in (Surface.READ, Surface.WRITE, Surface.EDIT):
        access = Access.READ if call.surface is Surface.READ else Access.WRITE
        if not call.paths:
            return _invalid(call, cwd, home)
        return _tool(call, context, tuple(_path(text, access, context) for text in call.paths))
    if call.surface is Surface.PATCH:
        patched = tuple(_patched(call, context))
        return _tool(call, context, patched) if patched else _invalid(call, cwd, home)
    if call.surface is Surface.SEARCH:
        return _tool(call, context, tuple(_searched(call, context)))
    if call.surface is Surface.FETCH and not call.urls:
        return _invalid(call, cwd, home)
    if call.surface in _TEXT_SURFACES:
        return _tool(call, context, ())
    named = tuple(dict.fromkeys(_found(call.arguments, "", 0)))[:MAX_PATHS]
    return _tool(call, context, tuple(_path(text, Access.READ, context) for text in named))


def _shell(call: Call, cwd: str, home: str) -> ActionFacts:
    command = call.command
    if command is None or not command.strip():
        return _invalid(call, cwd, home)
    if call.tool.lower() in _POWERSHELL:
        # No PowerShell structure is claimed: the guard scans the text as a whole.
        return ActionFacts(
            tool="powershell",
            status=Status.UNSUPPORTED,
            cwd=cwd,
            home=home,
            dialect=Dialect.POWERSHELL,
            issues=(Issue.UNSUPPORTED_CONSTRUCT,),
        )
    return analyze(command, cwd=cwd, home=home)


def _invalid(call: Call, cwd: str, home: str) -> ActionFacts:
    return ActionFacts(
        tool=_name(call), status=Status.INVALID, cwd=cwd, home=home, issues=(Issue.CONFLICTING_SOURCES,)
    )


def _tool(call: Call, context: Context, paths: tuple[PathFact, ...]) -> ActionFacts:
    """One command that is the tool itself, with its paths and peers."""
    urls = call.urls if call.surface is Surface.FETCH else tuple(_urls(call.arguments, 0))
    action = NetAction.DOWNLOAD if call.surface is Surface.FETCH else NetAction.CONNECT
    network = tuple(_contact(url, action) for url in dict.fromkeys(urls))
    operations: tuple[Operation, ...] = _OPERATIONS.get(
        call.surface, (Operation.READ,) if paths else (Operation.EXECUTE,)
    )
    if any(path.access is Access.DELETE for path in paths):
        operations = (*operations, Operation.DELETE)
    return ActionFacts(
        tool=_name(call),
        status=Status.COMPLETE,
        cwd=context.cwd,
        home=context.home,
        commands=(
            Command(
                id=1,
                program="",
                executable=call.tool,
                kind=Kind.TOOL,
                operations=operations,
                grammar=Grammar.UNKNOWN if call.surface in (Surface.MCP, Surface.GENERIC) else Grammar.KNOWN,
            ),
        ),
        paths=paths,
        network=network,
        flows=tuple(
            DataFlow(from_command=0, to_command=1, source=End.NETWORK, sink=End.PROCESS, host=contact.host)
            for contact in network
            if action is NetAction.DOWNLOAD
        ),
    )


_OPERATIONS: Final[Mapping[Surface, tuple[Operation, ...]]] = {
    Surface.READ: (Operation.READ,),
    Surface.WRITE: (Operation.WRITE,),
    Surface.EDIT: (Operation.WRITE,),
    Surface.PATCH: (Operation.WRITE,),
    Surface.SEARCH: (Operation.SEARCH,),
    Surface.FETCH: (Operation.FETCH,),
}


def _name(call: Call) -> str:
    return call.tool if call.surface in (Surface.MCP, Surface.GENERIC) else call.surface.value


def _path(text: str, access: Access, context: Context, *, recursive: bool = False) -> PathFact:
    text = _plain(text, context.home)
    word = Argument(value=text)
    resolved = resolve(word, context)
    return PathFact(
        command_id=1,
        access=access,
        value=text,
        normalized=normalize(text),
        resolved=resolved,
        globs=recursive and any(mark in text for mark in "*?["),
        recursive=recursive,
    )


def _plain(text: str, home: str) -> str:
    """A file: URI or a ``$HOME`` in front becomes the path it stands for."""
    if text.startswith("file://"):
        text = "/" + text.removeprefix("file://").removeprefix("localhost").lstrip("/")
    for mark in ("$HOME/", "${HOME}/"):
        if text.startswith(mark) and home:
            return f"{home}/{text.removeprefix(mark)}"
    return text


def _searched(call: Call, context: Context) -> Iterator[PathFact]:
    """Roots of a search and the globs that narrow it: both name what is read."""
    roots = call.paths or (context.cwd,)
    for root in roots:
        if root:
            yield _path(root, Access.READ, context, recursive=True)
    for key in _GLOB_KEYS:
        value = call.arguments.get(key)
        # A content search's pattern is text; only a file search's is a path, and of that one where it looks.
        tool = call.tool.lower()
        if not isinstance(value, str) or (key == "pattern" and tool in _CONTENT_SEARCHES):
            continue
        names = key == "pattern" and tool in _NAME_SEARCHES
        for alternative in map(_base, _alternatives(value)) if names else _alternatives(value):
            rooted = alternative.startswith(("/", "~")) or not roots[0]
            text = alternative if rooted else f"{roots[0].rstrip('/')}/{alternative}"
            yield _path(text, Access.READ, context, recursive=True)


def _base(glob: str) -> str:
    """The directory that a search for names begins in: what stands before the first wildcard."""
    parts = glob.split("/")
    end = next((at for at, part in enumerate(parts) if set("*?[{") & set(part)), len(parts) - 1)
    return "/".join(parts[:end]) or ("/" if glob.startswith("/") else ".")


def _alternatives(glob: str) -> tuple[str, ...]:
    """The texts that one brace list stands for; deeper nesting stays as written."""
    head, opened, rest = glob.partition("{")
    inner, closed, tail = rest.partition("}")
    if not opened or not closed or "{" in inner:
        return (glob,)
    return tuple(f"{head}{choice}{tail}" for choice in inner.split(",")[:64])


def _patched(call: Call, context: Context) -> Iterator[PathFact]:
    """Every file a patch names, in its order; a move is a removal and a write."""
    for path in call.paths:
        yield _path(path, Access.WRITE, context)
    for value in call.arguments.values():
        for text in as_array(value) or [value]:
            if isinstance(text, str) and ("*** " in text or "+++ " in text):
                yield from _headers(text, context)


def _headers(text: str, context: Context) -> Iterator[PathFact]:
    updated = ""
    for line in text.splitlines():
        for head, access in _PATCH_HEADS:
            if not line.startswith(head):
                continue
            name = line.removeprefix(head).split("\t")[0].strip()
            if head in ("+++ ", "--- "):
                name = name[2:] if name.startswith(("a/", "b/")) else name
            if head == "*** Update File: ":
                updated = name
            if head == "*** Move to: " and updated:
                yield _path(updated, Access.DELETE, context)
            if name and name != "/dev/null" and head != "--- ":
                yield _path(name, access, context)


def _found(value: Any, key: str, depth: int) -> Iterator[str]:
    """Path-like strings of unknown arguments: under a path's key, or by their looks."""
    if depth > MAX_DEPTH:
        return
    if (members := as_object(value)) is not None:
        for name, member in members.items():
            yield from _found(member, name, depth + 1)
    elif (array := as_array(value)) is not None:
        for member in array:
            yield from _found(member, key, depth + 1)
    elif isinstance(value, str) and 0 < len(value) <= _MAX_PATH_CHARS and not set("\n\r\0") & set(value):
        folded = key.replace("-", "_").lower()
        looks = value.startswith(("/", "~/", "./", "../", "file://", "$HOME/", "${HOME}/")) or value == "~"
        if looks and " " in value and folded in _PROSE_KEYS:
            return
        if looks or (folded in _PATH_KEYS and "://" not in value):
            yield value


def _urls(value: Any, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        return
    if (members := as_object(value)) is not None:
        for member in members.values():
            yield from _urls(member, depth + 1)
    elif (array := as_array(value)) is not None:
        for member in array:
            yield from _urls(member, depth + 1)
    elif isinstance(value, str) and value.startswith(("http://", "https://", "ftp://", "ws://", "wss://")):
        yield value.split(None, 1)[0][:_MAX_PATH_CHARS]


def _contact(url: str, action: NetAction) -> NetworkFact:
    found = peer(url)
    return NetworkFact(
        command_id=1,
        action=action,
        host=found.host,
        scheme=found.scheme,
        port=found.port,
        normalized_host=found.normalized,
        scope=found.scope,
        expands=found.expands,
    )
