"""One declaration of a command, offered by every bridge in its own form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from agent.files import ReplyFile

if TYPE_CHECKING:
    from datetime import datetime

    from agent.contracts.people import Account, Persona
    from agent.places import Place


class OptionKind(StrEnum):
    """What an option takes, and what a command gets for it."""

    TEXT = "text"
    """A str."""
    INTEGER = "integer"
    """An int."""
    BOOLEAN = "boolean"
    """A bool."""
    PERSON = "person"
    """A `ParticipantKey`."""
    CHANNEL = "channel"
    """The channel's id on its platform, a str."""
    FILE = "file"
    """A `GivenFile` (`agent/files.py`)."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a command. Text bridges take options in order; the last text option takes the rest of the line."""

    name: str
    description: str
    kind: OptionKind = OptionKind.TEXT
    required: bool = True
    choices: tuple[str, ...] = ()


class Rights(StrEnum):
    """Who may run a command; checked in code when it runs, not only by a platform's menus."""

    EVERYONE = "everyone"
    MANAGE = "manage"


@dataclass(frozen=True, slots=True)
class Invocation:
    """One run of a command."""

    command: tuple[str, ...]
    options: Mapping[str, Any]
    place: Place
    account: Account
    persona: Persona
    can_manage: bool
    now: datetime
    locale: str = "en"


@dataclass(frozen=True, slots=True)
class CommandReply:
    """What a command answers."""

    text: str
    private: bool = False
    """Only for whoever ran it."""
    ok: bool = True
    data: Mapping[str, Any] | None = None
    """The same as data, for `--json`."""
    file: ReplyFile | None = None
    """What is too long for a message, or meant to be kept."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its path (`("personal", "memories", "list")`), options and rights. Groups of several plugins merge."""

    path: tuple[str, ...]
    description: str
    run: Callable[[Invocation], Awaitable[CommandReply]]
    options: tuple[Option, ...] = ()
    rights: Rights = Rights.EVERYONE
    private: bool = False
    owner: str = "core"
