"""Coverage-guided fuzzing of the analyser: `make fuzz`, or this file with libFuzzer's own options.

Each input is read as text and its facts must keep every promise of `invariants`. A text that breaks one is
written to FINDINGS (an environment variable; default: stop at the first).
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from pathlib import Path
from typing import Any, Final

# not a development dependency: it is large, and no wheel exists for every Python
atheris: Final[Any] = importlib.import_module("atheris")
with atheris.instrument_imports(include=["latchd.shell"]):
    from shellfuzz.invariants import broken

FINDINGS = os.environ.get("FINDINGS", "")
MAX_BYTES = 512


def one_input(data: bytes) -> None:
    text = data[:MAX_BYTES].decode("utf-8", "replace")
    found = broken(text, again=len(data) % 8 == 0)  # twice costs twice, and what differs, differs often
    if not found:
        return
    if not FINDINGS:
        raise AssertionError(f"{found[0]}: {text!r}")
    name = hashlib.sha256(data).hexdigest()[:16]
    Path(FINDINGS, name).write_bytes(data)
    print(f"finding {name}: {found[0]}", file=sys.stderr, flush=True)  # the run goes on


def main() -> None:
    if FINDINGS:
        Path(FINDINGS).mkdir(parents=True, exist_ok=True)
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
