"""What a file of memories holds once it is read, whoever wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from agent.contracts.memory import MemoryScope
from agent.places import Audience

FORMAT: Final = "isthmus-memories"
VERSION: Final = 1
MAX_FILE: Final = 8 * 1024 * 1024
"""Bytes of one file."""
MAX_ENTRIES: Final = 10_000
MAX_TAGS: Final = 50
MAX_TAG: Final = 100
MAX_NAME: Final = 200
"""Characters of a name or an id."""


class Source(StrEnum):
    """Who wrote a file."""

    ISTHMUS = "isthmus"
    TOMORIBOT = "tomoribot"
    SILLYTAVERN = "sillytavern"
    MEM0 = "mem0"


class LineageKind(StrEnum):
    """Which lineage an entry belongs to."""

    UNSET = "unset"
    """The file does not say: the persona that the import is for."""
    DEFAULT = "default"
    """That of the default personas."""
    GLOBAL = "global"
    """That of global personal memories."""
    NAMED = "named"
    """That of the personas of some names."""


@dataclass(frozen=True, slots=True)
class LineageRef:
    """A lineage as a file speaks of it: numbers mean nothing elsewhere, names may."""

    kind: LineageKind = LineageKind.UNSET
    label: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody as a file speaks of them; the texts are untrusted."""

    external_id: str
    platform: str | None = None
    """None: the file does not say on which platform the id means somebody."""
    name: str = ""

    @property
    def label(self) -> str:
        """Return what messages call this person."""
        key = self.external_id if self.platform is None else f"{self.platform}:{self.external_id}"
        return f"{self.name} ({key})" if self.name else key


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a memory may be read that has a narrow audience."""

    platform: str
    server: str | None
    channel: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory of a file."""

    number: int
    """Counted from 1 through the whole file: reports speak of it."""
    where: str
    """Its place in the file, as in `server_memories[0]`."""
    scope: MemoryScope
    content: str
    lineage: LineageRef = LineageRef()
    person: Person | None = None
    """The owner of a personal memory; whom a server memory is about."""
    audience: Audience | None = None
    """None: the usual one of its scope."""
    spot: Spot | None = None
    tags: tuple[str, ...] = ()
    created_at: datetime | None = None
    """None: the file does not say how old it is."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file that was read without a fault."""

    source: Source
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    """What is not taken over, a line each."""


class ImportRefused(Exception):
    """Nothing was written; each line names a fault and its place."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines
