"""What a status and an issue of the facts mean, in words for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from latch_contracts.facts import Issue, Status

STATUS: Final[Mapping[Status, str]] = {
    Status.NOT_APPLICABLE: "there is nothing to run",
    Status.COMPLETE: "every command that can run is listed",
    Status.PARTIAL: "more may run than is listed",
    Status.UNSUPPORTED: "this is not followed",
    Status.INVALID: "bash may read this in another way than it was read here",
    Status.LIMIT_EXCEEDED: "too much to be read whole",
    Status.AMBIGUOUS: "the call says two different things",
}

ISSUES: Final[Mapping[Issue, str]] = {
    Issue.INVALID_JSON: "the arguments are no JSON",
    Issue.INVALID_UTF8: "the text is no UTF-8",
    Issue.INVALID_SYNTAX: "part of the text is no shell syntax",
    Issue.DYNAMIC_WORD: "what runs depends on a word that is known only when it runs",
    Issue.UNSUPPORTED_CONSTRUCT: "a construct is not followed",
    Issue.OPAQUE_ARTIFACT: "a program runs whose text is not in the call",
    Issue.UNKNOWN_OPERAND_GRAMMAR: "an option of a wrapper is not known, so its command may be another",
    Issue.CONFLICTING_SOURCES: "the call says two different things",
    Issue.INPUT_LIMIT: "the text is too long",
    Issue.NODE_LIMIT: "the text has too many parts",
    Issue.DEPTH_LIMIT: "code within code is too deep",
    Issue.FACT_LIMIT: "there are more facts than are listed",
    Issue.WRAPPER_LIMIT: "too many wrappers stand around a command",
    Issue.DUPLICATE_JSON_KEY: "a key of the arguments is there twice",
    Issue.INTERNAL_PARSER_FAILURE: "the reading failed; that is a fault of latchd",
    Issue.CONTROL_BYTES: "the text holds control characters",
    Issue.PARSER_SILENCE: "part of the text may have been read wrongly",
    Issue.TIME_LIMIT: "the text takes too long to read",
}
