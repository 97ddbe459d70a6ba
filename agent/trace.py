"""What can be watched of a turn from outside: the transcript of `isthmus chat --json` is made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class TraceKind(StrEnum):
    """What happened."""

    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    OUTCOME = "outcome"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Trace:
    """One happening of one turn."""

    kind: TraceKind
    turn_id: str
    event_id: str
    at: datetime
    data: Mapping[str, Any] = field(default_factory=dict)
    """tool_call: name, arguments; tool_result: name, result; outcome: outcome, reason; error: text, error_id."""


type Watch = Callable[[Trace], None]
"""Called in order, must not raise or block; for front ends and tests only, never for control."""


def unwatched(_trace: Trace) -> None:
    """Watch nothing."""
