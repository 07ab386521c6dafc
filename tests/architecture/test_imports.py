"""Which module may know which: the direction everything points in, each with its reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from corpora import REPOSITORY

ROOTS: Final = {
    "latch_contracts": REPOSITORY / "contracts" / "latch_contracts",
    "latch_client": REPOSITORY / "client" / "latch_client",
    "latchd": REPOSITORY / "daemon" / "latchd",
}

WORLD: Final = (
    "trio",
    "apsw",
    "structlog",
    "socket",
    "os",
    "time",
    "random",
    "secrets",
    "uuid",
    "datetime",
    "subprocess",
    "threading",
    "tempfile",
)
PURE: Final = "the core takes time, ids and bytes as arguments, so that every decision can be repeated"

# importer prefix -> {forbidden prefix: why}. The longest matching importer does not hide the shorter ones.
FORBIDDEN: Final[dict[str, dict[str, str]]] = {
    "latch_contracts": {
        "latchd": "contracts know no implementation",
        "latch_client": "contracts know no implementation",
        **dict.fromkeys(WORLD, PURE),
    },
    "latchd": {"latch_client": "the daemon must run without its client"},
    "latchd.shell": dict.fromkeys(WORLD, PURE),
    "latchd.guard": dict.fromkeys(WORLD, PURE),
    "latchd.lifecycle": dict.fromkeys(WORLD, PURE),
    "latchd.mounts": dict.fromkeys(WORLD, PURE),
    "latchd.allowances": dict.fromkeys(WORLD, PURE),
    "latchd.ledger": dict.fromkeys(WORLD, PURE),
    "latchd.windows": dict.fromkeys(WORLD, PURE),
    "latchd.recording": dict.fromkeys(WORLD, PURE),
    "latchd.redact": dict.fromkeys(WORLD, PURE),
    "latchd.policy": dict.fromkeys(WORLD, PURE),
    "latchd.tool_facts": dict.fromkeys(WORLD, PURE),
    "latchd.text": dict.fromkeys(WORLD, PURE) | {"latchd.guard": "text is told of and never judged"},
    "latchd.passages": dict.fromkeys(WORLD, PURE),
    "latchd.script_lines": dict.fromkeys(WORLD, PURE),
    "latchd.arrival": dict.fromkeys(WORLD, PURE),
    "latchd.proposal": dict.fromkeys(WORLD, PURE),
    "latchd.files": dict.fromkeys(WORLD, PURE),
    "latchd.artifacts": dict.fromkeys(WORLD, PURE),
    "latchd.chains": dict.fromkeys(WORLD, PURE),
    "latchd.session": dict.fromkeys(WORLD, PURE),
    **{
        f"latchd.rules.{module}": dict.fromkeys(WORLD, PURE)
        for module in (
            "engine cel checked subset shapes patterns documents pack view fallback dispatch compiling "
            "fixture generation lint schema"
        ).split()
    },
    "latchd.hub": dict.fromkeys(WORLD, "subscribers are queues of values; the rim waits for them"),
    "latchd.hook_calls": {
        "trio": "a call is answered in plain synchronous code: no await inside a transaction",
        "socket": "bytes come and go through the session",
    },
    "latchd.engine": {
        "trio": "the engine is plain synchronous code: no await inside a transaction",
        "socket": "bytes come and go through the session",
    },
    "latchd.store": {"trio": "no await inside a transaction", "latchd.guard": "the store judges nothing"},
}

# (importer, what it may import against the table above) -> why
EXEMPT: Final[dict[tuple[str, str], str]] = {
    ("latchd.shell.parse", "time"): "the parser's recovery from errors can't be counted, only timed",
}

# module -> the only importers it may have
ONLY: Final[dict[str, tuple[frozenset[str], str]]] = {
    "apsw": (frozenset({"latchd.store.sqlite"}), "one place knows what SQLite does when it fails"),
    "tree_sitter": (frozenset({"latchd.shell.parse"}), "its nodes crash when walked or printed carelessly"),
    "re2": (
        frozenset({"latchd.rules.patterns", "latchd.text.patterns"}),
        "one place for packs and one for text say how large a pattern may grow",
    ),
    "cel_expr_python": (frozenset({"latchd.rules.cel"}), "its errors look true: one place meets its traps"),
    "tree_sitter_bash": (
        frozenset({"latchd.shell.parse"}),
        "its nodes crash when walked or printed carelessly",
    ),
}


SHIM: Final = frozenset({"sys", "posix", "_socket"})


def sources() -> Iterator[tuple[str, Path]]:
    for package, root in ROOTS.items():
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            yield ".".join((package, *(part for part in parts if part != "__init__"))), path


@cache
def imports(path: Path) -> frozenset[str]:
    """Every absolute module name a file imports, at any depth of its code."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where a module comes from"
            module = node.module or ""
            names.update(f"{module}.{alias.name}" for alias in node.names)
            names.add(module)
    return frozenset(names)


def is_under(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def test_no_module_imports_what_is_above_it() -> None:
    wrong = [
        f"{module} imports {name}: {why}"
        for module, path in sources()
        for importer, rules in FORBIDDEN.items()
        if is_under(module, importer)
        for forbidden, why in rules.items()
        for name in sorted(imports(path))
        if is_under(name, forbidden) and (module, forbidden) not in EXEMPT
    ]

    assert wrong == []


@pytest.mark.parametrize("library", ONLY)
def test_a_sharp_library_has_one_importer(library: str) -> None:
    allowed, why = ONLY[library]
    found = {module for module, path in sources() if any(is_under(name, library) for name in imports(path))}

    assert found == allowed, why


def test_the_client_imports_the_daemon_only_in_its_offline_commands() -> None:
    offline = {"check", "scan", "facts", "explain", "policy", "chains", "rules", "offline", "db", "memory"}
    found = {
        module.rpartition(".")[2]
        for module, path in sources()
        if is_under(module, "latch_client") and any(is_under(name, "latchd") for name in imports(path))
    }

    assert found <= offline, "everything else talks to the daemon over its sockets"


def test_the_shim_imports_three_interpreter_modules_and_nothing_else() -> None:
    shim = {
        module: imports(path)
        for module, path in sources()
        if module in ("latch_client.hook", "latch_client.shim", "latch_client.fallbacks")
    }
    siblings = {name.rpartition(".")[2] for name in shim}

    assert "latch_client.hook" in shim
    for module, names in shim.items():
        foreign = {
            name for name in names if name.split(".")[0] not in SHIM and name.split(".")[0] not in siblings
        }
        assert {name for name in foreign if not is_under(name, "latch_client")} == set(), module


def test_every_rule_above_still_names_something_that_exists() -> None:
    modules = {module for module, _ in sources()}

    missing = [
        name
        for name in (*FORBIDDEN, *(one for allowed, _ in ONLY.values() for one in allowed))
        if not any(is_under(module, name) for module in modules)
    ]

    assert missing == []
