"""What a lorebook is: entries that join the prompt when their keys are said, and where the book applies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from agent.text import clip, one_line

MAX_NAME: Final = 100
MAX_CONTENT: Final = 20_000
MAX_KEYS: Final = 100
MAX_KEY: Final = 1_000
MAX_PATTERNS: Final = 1_000
"""Patterns of one server: compiling one takes some tenths of a millisecond."""
MAX_DEPTH: Final = 1_000
MAX_ORDER: Final = 1_000_000
MAX_BUDGET: Final = 1_000_000


class Logic(StrEnum):
    """What an entry asks of its secondary keys, once one of its keys was said."""

    AND_ANY = "and_any"
    """At least one was said too."""
    AND_ALL = "and_all"
    NOT_ANY = "not_any"
    """None was said."""
    NOT_ALL = "not_all"
    """At least one was not said."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One piece of lore. What is None is as its book says, else as the deployment does."""

    content: str
    keys: tuple[str, ...] = ()
    """Plain words, or `/pattern/flags`."""
    secondary_keys: tuple[str, ...] = ()
    logic: Logic = Logic.AND_ANY
    selective: bool = True
    """Whether the secondary keys count."""
    constant: bool = False
    """Always in the prompt, whatever is said."""
    enabled: bool = True
    order: int = 100
    """Higher stands later, and gives way later when the budget is short."""
    scan_depth: int | None = None
    """How many of the last messages are read, the present one counted; 0: only what other entries say."""
    whole_words: bool | None = None
    case_sensitive: bool | None = None
    probability: int = 100
    """Per cent of the messages for which it joins when its keys are said."""
    exclude_recursion: bool = False
    """Not activated by what other entries say."""
    prevent_recursion: bool = False
    """Does not activate others."""
    delay_until_recursion: bool = False
    """Only looked at once the messages have been read, together with what activated entries say."""
    name: str = ""
    uid: int = 0
    """Unique in its book, as its file numbers it."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What its file says beyond this: kept for the export."""
    entry_id: int = 0
    """0 until it is stored."""

    @property
    def identity(self) -> str:
        """Return its identity in a prompt."""
        return f"lorebook_entry:{self.entry_id}"

    @property
    def label(self) -> str:
        """Return what to call it: its name, or its first key, or how its text begins."""
        return self.name or (self.keys[0] if self.keys else clip(one_line(self.content), 40))


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a book applies, within its server."""

    lineage_id: int | None = None
    """The lineage of the personas that know it; None: every persona."""
    channel_ids: tuple[str, ...] = ()
    """The channels, with their threads; empty: everywhere."""


@dataclass(frozen=True, slots=True)
class Book:
    """A lorebook."""

    name: str
    entries: tuple[Entry, ...] = ()
    """By uid."""
    description: str = ""
    enabled: bool = True
    scope: Scope = Scope()
    scan_depth: int | None = None
    token_budget: int | None = None
    """Tokens of all its entries that join one prompt; None: only the deployment's budget counts."""
    recursive: bool | None = None
    """Whether what its entries say activates others; None: as the deployment says."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    book_id: int = 0

    @property
    def characters(self) -> int:
        """Return how long its texts are."""
        return sum(len(entry.content) + sum(map(len, (*entry.keys, *entry.secondary_keys))) for entry in self.entries)
