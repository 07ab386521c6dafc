"""Operand grammars: what a program's words make it do."""

from __future__ import annotations

from latchd.shell.grammar.description import Contact, Context, Description, Target
from latchd.shell.grammar.places import network_fact, path_fact
from latchd.shell.grammar.registry import describe

__all__ = ["Contact", "Context", "Description", "Target", "describe", "network_fact", "path_fact"]
