"""Notices: a card that shows what the agent has learned or forgotten (memory.md, Notices)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from agent.places import Audience


class CardKind(StrEnum):
    """What a card reports."""

    SAVED = "saved"
    UPDATED = "updated"
    DELETED = "deleted"
    EVICTED = "evicted"
    DISCLOSURE = "disclosure"
    """Said once to a person about whom something is kept for the first time."""
    INFO = "info"


class ActionKind(StrEnum):
    """What an action of a card does."""

    UNDO = "undo"
    EDIT = "edit"
    """Asks for a text: that option of the command is left out, and has a form (`agent.commands.Option.long`)."""
    WIDEN = "widen"
    """Lets more people know it."""
    EXPAND = "expand"
    """Shows what the card leaves out, to whoever presses it; a card that leaves nothing out comes without it."""


@dataclass(frozen=True, slots=True)
class CardAction:
    """Something that can be done with a card: a command, run as whoever presses, with that person's rights.

    Its options are ids, never texts, so that `agent.steps.step_id` makes an id of it that works after a restart.
    """

    kind: ActionKind
    label: str
    path: tuple[str, ...]
    options: Mapping[str, str | int | bool]
    typed: str
    """How the command is typed, for bridges without buttons: `/memories edit 7 TEXT`."""


@dataclass(frozen=True, slots=True)
class Subjects:
    """Whom and what a card is about, in ids: it is withdrawn when one of these people is forgotten."""

    memories: tuple[int, ...] = ()
    accounts: tuple[int, ...] = ()
    users: tuple[int, ...] = ()

    def __or__(self, other: Subjects) -> Subjects:
        """Return both together."""
        return Subjects(
            tuple(dict.fromkeys((*self.memories, *other.memories))),
            tuple(dict.fromkeys((*self.accounts, *other.accounts))),
            tuple(dict.fromkeys((*self.users, *other.users))),
        )


@dataclass(frozen=True, slots=True)
class Card:
    """A card before a bridge gives it its own form; every text is untrusted data and pings no one."""

    kind: CardKind
    title: str
    lines: tuple[str, ...] = ()
    memory_id: int | None = None
    about: str | None = None
    """The label of the person or server that it is about."""
    forgotten: str | None = None
    """The text that an eviction or deletion removed."""
    audience: Audience = Audience.SERVER
    actions: tuple[CardAction, ...] = ()
    """In the order in which they are shown; a bridge makes buttons of them, or names the commands."""
    subjects: Subjects = Subjects()
    """What must be forgotten for the card to be withdrawn."""


class NoticeVisibility(StrEnum):
    """How much of a card a server wants to see in the conversation."""

    FULL = "full"
    MINIMAL = "minimal"
    """Title only; the full card goes to the thought log when one is set."""
    HIDDEN = "hidden"
    """Thought log only."""
