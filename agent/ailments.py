"""What keeps the agent from answering just now, for bridges that can show it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from agent.models.errors import FailureKind


class Ailment(StrEnum):
    """Something without which nobody is answered."""

    DATABASE = "database"
    MODEL = "model"


AWAY: Final = frozenset(
    {
        FailureKind.RATE_LIMITED,
        FailureKind.QUOTA,
        FailureKind.UNAVAILABLE,
        FailureKind.TIMEOUT,
        FailureKind.CONNECTION,
        FailureKind.AUTHENTICATION,
        FailureKind.NOT_FOUND,
    }
)
"""Failures for which the next turn will most likely have no answer either."""


class ModelState:
    """Whether the model answered when it was asked last."""

    def __init__(self) -> None:
        self.is_away = False

    def answered(self) -> None:
        """Note that it answered."""
        self.is_away = False

    def failed(self, kind: FailureKind) -> None:
        """Note that a turn got no answer; what lies in the turn itself says nothing of the next one."""
        self.is_away = self.is_away or kind in AWAY
