"""Where the shared corpora are, when they are there: tests read them in place and never copy a row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

REPOSITORY: Final = Path(__file__).resolve().parent.parent
SHARED_DATA: Final = REPOSITORY.parent / "shared" / "data"

needs_shared_data: Final = pytest.mark.skipif(
    not SHARED_DATA.is_dir(), reason=f"the shared corpora are not at {SHARED_DATA}"
)


def rows(name: str) -> list[dict[str, Any]]:
    """All rows of one JSONL corpus, in file order."""
    with (SHARED_DATA / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]
