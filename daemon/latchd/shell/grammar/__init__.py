"""Operand grammars: what a program's words make it do."""

from __future__ import annotations

from .description import Contact, Context, Description, Target
from .places import network_fact, path_fact
from .registry import describe

__all__ = ["Contact", "Context", "Description", "Target", "describe", "network_fact", "path_fact"]
