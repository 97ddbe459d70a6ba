"""One declaration of a command, offered by every bridge in its own form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from agent.files import ReplyFile

if TYPE_CHECKING:
    from datetime import datetime

    from agent.contracts.people import Account, Persona
    from agent.events import Author
    from agent.places import ChannelRef, Place, ServerRef


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
    MESSAGE = "message"
    """A `GivenMessage`: pointed at in a menu, answered, or named by its id."""


@dataclass(frozen=True, slots=True)
class GivenMessage:
    """A message that a command is about, as its bridge read it just now."""

    message_id: str
    author: Author
    text: str
    occurred_at: datetime | None = None
    """When it was said; None where a bridge does not know."""
    from_agent: bool = False
    """Said by the agent or one of its personas."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that an option may be, offered while it is typed."""

    value: str | int
    label: str
    """What is shown: untrusted text; a bridge cuts it to its own limit."""


type Suggest = Callable[[Invocation, str], Awaitable[Sequence[Choice]]]
"""Returns what fits what has been typed so far, best first, at most 25; the options given by now are in the call."""
type Prefill = Callable[[Invocation], Awaitable[str]]
"""Returns the present text of what shall be edited; empty when there is none that the asker may see."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a command. Text bridges take options in order; the last text option takes the rest of the line."""

    name: str
    description: str
    kind: OptionKind = OptionKind.TEXT
    required: bool = True
    choices: tuple[str, ...] = ()
    suggest: Suggest | None = None
    """Asked while the option is typed, where a platform can do that; what it offers binds nobody."""
    long: bool = False
    """A text of several lines: where a platform has forms it may be left out, and is then asked for in one."""
    prefill: Prefill | None = None
    """For a long text: what the form holds at first."""
    takes_rest: bool = False
    """In text bridges it takes the rest of the line, unless it is quoted; what comes behind it is named before it."""
    named_only: bool = False
    """In text bridges it is given as `name=value` or not at all. Never required."""
    hidden: bool = False
    """Given by buttons alone: people are neither offered it nor can they type it. Never required."""


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
class CommandCall:
    """A command that somebody is about to run, as a bridge sees it; options that are not given yet are absent."""

    path: tuple[str, ...]
    options: Mapping[str, Any]
    server: ServerRef
    channel: ChannelRef
    author: Author


class StepKind(StrEnum):
    """How a button looks."""

    NEXT = "next"
    PREVIOUS = "previous"
    CONFIRM = "confirm"
    """Does what cannot be undone, or only for a while."""
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Step:
    """A button: it runs a command as whoever presses it, with that person's rights (`agent/steps.py` writes its id)."""

    label: str
    path: tuple[str, ...]
    options: Mapping[str, str | int | bool]
    kind: StepKind = StepKind.PLAIN


@dataclass(frozen=True, slots=True)
class CommandReply:
    """What a command answers."""

    text: str
    """Holds what people wrote, and pings nobody: a bridge posts it with no mention allowed."""
    private: bool = False
    """Only for whoever ran it."""
    ok: bool = True
    data: Mapping[str, Any] | None = None
    """The same as data, for `--json`."""
    file: ReplyFile | None = None
    """What is too long for a message, or meant to be kept."""
    steps: tuple[Step, ...] = ()
    """What whoever ran it may want next. The text says the same in words, for bridges without buttons."""


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
    menu: str | None = None
    """Its title in the menu of a person or a message, where a platform has such menus; then its one required option is
    of the kind PERSON or MESSAGE."""
