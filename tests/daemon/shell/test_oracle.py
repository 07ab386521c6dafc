"""No command that bash runs is missing from facts that call themselves complete."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpora import SHARED_DATA, needs_shared_data
from daemon.shell.oracle import BASH, Oracle, vouched_without
from daemon.shell.shell_texts import PROGRAMS, disturbed
from hypothesis import HealthCheck, given, settings
from latch_contracts.facts import Status
from latchd.shell.facts import analyze

needs_bash = pytest.mark.skipif(not BASH, reason="no bash on this machine")
