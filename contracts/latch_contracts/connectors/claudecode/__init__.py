"""Claude Code, 2.1.152 and later; every line here was measured on 2.1.332 or says where it comes from."""

from __future__ import annotations

from typing import Final

from latch_contracts.connectors.claudecode.contract import CONTRACT
from latch_contracts.connectors.claudecode.dialect import render, silence
from latch_contracts.connectors.claudecode.guess import guess_event
from latch_contracts.connectors.claudecode.payload import read
from latch_contracts.connectors.connector import Connector

__all__ = ["CONNECTOR", "CONTRACT", "guess_event", "read", "render", "silence"]

CONNECTOR: Final = Connector(
    contract=CONTRACT, read=read, guess_event=guess_event, render=render, silence=silence
)
