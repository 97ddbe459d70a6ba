"""What a prompt is made of: structured items, so that untrusted text stays data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final


class Section(StrEnum):
    """Where an item stands: what may be cached comes before what changes each turn."""

    PREFIX = "prefix"
    TAIL = "tail"


class Role(StrEnum):
    """Whose voice an item has on the wire."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Tag(StrEnum):
    """What an item is. The order of declaration is the order in the prompt."""

    PERSONA = "PERSONA"
    PRESET = "PRESET"
    """Texts that somebody who manages the server wrote for every prompt."""
    RULES = "RULES"
    PLACE = "PLACE"
    LOREBOOK = "LOREBOOK"
    KNOWLEDGE_SERVER_MEMORIES = "KNOWLEDGE_SERVER_MEMORIES"
    KNOWLEDGE_USER_MEMORIES = "KNOWLEDGE_USER_MEMORIES"
    PARTICIPANTS = "PARTICIPANTS"
    HISTORY = "HISTORY"
    RECALL = "RECALL"
    NOW = "NOW"
    MESSAGE = "MESSAGE"


@dataclass(slots=True, unsafe_hash=True)
class ContextEntry:
    """One fact of an item, alone: plain text without an id, for whoever must fit entries into a budget.

    A thousand are made for a prompt, and a frozen dataclass takes several times as long to make: so only the type
    checker sees to it that none is changed.
    """

    identity: Final[str]
    """Internal, unique in the prompt, as in `server_memory:12`."""
    text: Final[str]
    """Plain text, resolved like the block."""
    line: Final[str]
    """What the block shows for this entry (its heading not included)."""
    recency: Final[datetime | None] = None
    """Least recent goes first when the budget is short; None is never trimmed alone."""
    group: Final[str] = ""
    """The heading that this entry stands below, where an item has several."""


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One piece of the prompt from one contributor."""

    tag: Tag
    role: Role
    section: Section
    text: str
    """The formatted block, used when `entries` is empty."""
    entries: tuple[ContextEntry, ...] = ()
    """When given, the block is the groups' headings with their entries' lines, and may be trimmed by entries."""
    required: bool = False
    """Never dropped for the budget."""

    def render(self) -> str:
        """Return the block: the text, or each group's heading followed by its lines."""
        if not self.entries:
            return self.text
        lines: list[str] = []
        group: str | None = None
        for entry in self.entries:
            if entry.group != group:
                group = entry.group
                if group:
                    lines += ([""] if lines else []) + [group]
            lines.append(entry.line)
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What the budget left out of a prompt."""

    tag: Tag
    identity: str | None
    """The entry; None for the whole item."""
    reason: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture that came with the message that is answered."""

    name: str
    content_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Prompt:
    """The whole prompt, in order, and what did not fit."""

    items: tuple[ContextItem, ...]
    left_out: tuple[LeftOut, ...] = ()
    images: tuple[Image, ...] = ()
    """Shown behind the message, to models that take pictures."""

    def identities(self) -> tuple[str, ...]:
        """Return the identities of every entry that stands in the prompt."""
        return tuple(entry.identity for item in self.items for entry in item.entries)
