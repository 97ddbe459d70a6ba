"""What became of an import, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from agent.text import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugins.memory.transfer.entries import Entry, Source

_TEXT: Final = 60
"""Characters of a memory that a report repeats."""


class Became(StrEnum):
    """What became of one entry."""

    SAVED = "saved"
    EVICTED = "saved_with_eviction"
    KNOWN = "already_known"
    REFUSED = "refused"
    """A guard, or that nobody could be asked."""
    FULL = "limit_exceeded"


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of the report."""

    entry: Entry
    became: Became
    memory_id: int | None = None
    """None for what was not saved in the end."""
    reason: str = ""
    forgotten_id: int | None = None
    """The memory that gave way; its text may be more than whoever imports may know."""

    def text(self) -> str:
        """Return the line, in English."""
        what = {
            Became.SAVED: f"saved as {self.memory_id}",
            Became.EVICTED: f"saved as {self.memory_id}; for it {self.forgotten_id} was forgotten",
            Became.KNOWN: f"already known as {self.memory_id}",
            Became.REFUSED: f"left out: {self.reason}",
            Became.FULL: f"left out: {self.reason}",
        }
        if self.memory_id is None:
            what |= {
                Became.SAVED: "would be saved",
                Became.EVICTED: f"would be saved; for it {self.forgotten_id} would be forgotten",
                Became.KNOWN: "says the same as an entry before it",
            }
        return f"entry {self.entry.number} ({self.entry.where}) “{_short(self.entry.content)}”: {what[self.became]}"

    def data(self) -> dict[str, Any]:
        """Return the same as data."""
        return {
            "entry": self.entry.number,
            "where": self.entry.where,
            "result": str(self.became),
            "memory_id": self.memory_id,
            "reason": self.reason or None,
            "forgotten_id": self.forgotten_id,
        }


@dataclass(frozen=True, slots=True)
class Imported:
    """The report of an import."""

    source: Source
    lines: Sequence[Line]
    notes: Sequence[str]
    removed: int = 0
    """Memories that a replacement removed."""
    written: bool = True
    """False after a trial run, and where a replacement did not fit: then nothing has changed."""

    def count(self, *kinds: Became) -> int:
        """Return how many entries became one of these."""
        return sum(line.became in kinds for line in self.lines)

    @property
    def fits(self) -> bool:
        """Tell whether there was room for every entry."""
        return not self.count(Became.FULL)

    def data(self) -> dict[str, Any]:
        """Return the report as data."""
        return {
            "source": str(self.source),
            "written": self.written,
            "saved": self.count(Became.SAVED, Became.EVICTED),
            "already_known": self.count(Became.KNOWN),
            "left_out": self.count(Became.REFUSED, Became.FULL),
            "removed": self.removed,
            "entries": [line.data() for line in self.lines],
            "notes": list(self.notes),
        }


def _short(text: str) -> str:
    return clip(one_line(text), _TEXT)
