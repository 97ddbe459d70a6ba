"""What each privacy level means, in one table; docs/privacy.md shows the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from agent.contracts.people import PrivacyLevel


@dataclass(frozen=True, slots=True)
class LevelRules:
    """What the agent may do with a person of one level."""

    keeps_memories: bool
    """Save personal memories, and server memories whose subject is the person."""
    shows_memories: bool
    """Show what is remembered about the person, the model included."""
    names: bool
    """Name the person in handles, candidates, suggestions and directories."""
    reads_messages: bool
    """Put earlier messages of the person into the context of others' turns."""


RULES: Final[Mapping[PrivacyLevel, LevelRules]] = MappingProxyType(
    {
        PrivacyLevel.NONE: LevelRules(keeps_memories=True, shows_memories=True, names=True, reads_messages=True),
        PrivacyLevel.PARTIAL: LevelRules(keeps_memories=False, shows_memories=False, names=True, reads_messages=True),
        PrivacyLevel.FULL: LevelRules(keeps_memories=False, shows_memories=False, names=False, reads_messages=False),
    }
)
"""Every level and its rules."""


def strictest(levels: Iterable[PrivacyLevel]) -> PrivacyLevel:
    """Return the level that holds where several meet, as for linked accounts; NONE for none."""
    return max(levels, key=lambda level: level.rank, default=PrivacyLevel.NONE)
