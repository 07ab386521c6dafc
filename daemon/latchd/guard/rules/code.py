"""Programs of other languages in a here-document: what they remove by a literal path.

A pattern over text that no grammar takes apart; a path that is put together is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Argument, Operation
from latch_contracts.verdict import Route, Severity
from latchd.guard.bodies import heredocs
from latchd.guard.groups import Group
from latchd.guard.paths import Place, place_of
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject
from latchd.shell.grammar.description import Context
from latchd.shell.grammar.places import resolve

_LANGUAGES: Final = re.compile(r"(?:python|pypy|ruby|node|nodejs|bun|deno|perl|php|lua)[\d.]*\Z")
_REMOVES: Final = re.compile(
    r"\b(?:rmtree|rm_rf|rm_r|remove_tree|remove_entry|rmSync|rmdirSync|unlinkSync|unlink|rimraf|removeSync|deltree"
    r"|promises\.rm|fs\.rm|os\.remove|os\.rmdir|removedirs)\s{0,4}\(?\s{0,4}\[?\s{0,4}(?:Path\()?['\"](?P<path>[^'\"\n]{1,512})['\"]"
)
_LOST: Final = frozenset(
    (Place.ROOT, Place.HOME, Place.SYSTEM, Place.OUTSIDE, Place.PROJECT_ROOT, Place.REPOSITORY)
)


def _removes(subject: Subject) -> Iterator[Hit]:
    text = subject.text
    if "<<" not in text:
        return
    context = Context(cwd=subject.facts.cwd, home=subject.home)
    for command in subject.acting():
        if Operation.RUN_INPUT not in command.operations or not _LANGUAGES.match(command.program):
            continue
        for body in heredocs(text):
            for found in _REMOVES.finditer(body):
                path = resolve(Argument(value=found["path"]), context)
                if path and place_of(path, subject.roots(), subject.home) in _LOST:
                    yield Hit(
                        command.id,
                        path[:160],
                        f"this program removes `{path[:120]}`, outside the project and scratch",
                        "name a path inside the project or below /tmp, or let the person run it",
                    )


RULES: Final = (
    Rule(
        "code.removes",
        "a program in a here-document removes something outside the project",
        Group.DESTROY,
        Severity.HIGH,
        _removes,
        denies=(
            "python3 - <<'E'\nimport shutil\nshutil.rmtree('/home/dev')\nE",
            'ruby <<E\nrequire "fileutils"\nFileUtils.rm_rf("/")\nE',
        ),
        passes=(
            "python3 - <<'E'\nprint('rm -rf /home/dev')\nE",
            "python3 - <<'E'\nimport shutil\nshutil.rmtree('build')\nE",
            "cat > a.py <<'E'\nimport shutil\nshutil.rmtree('/home/dev')\nE",
        ),
        route=Route.FALLBACK,
    ),
)
