"""What the resolver's rules look at: frozen excerpts of a server's people, and the place where somebody is named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from agent.contracts.people import Account, Participant, Persona, Speaker
from agent.identity.keys import ParticipantKey
from agent.identity.names import NameSource, normalise
from agent.places import Place
from agent.privacy.levels import RULES
from agent.tools import ToolContext
from agent.turn.values import Turn


@dataclass(frozen=True, slots=True)
class Name:
    """One name that somebody bears in a server."""

    source: NameSource
    value: str
    normalised: str

    @classmethod
    def of(cls, source: NameSource, value: str) -> Self:
        """Return the name with its normalised form."""
        return cls(source, value, normalise(value))


@dataclass(frozen=True, slots=True)
class Entry:
    """One member of a server with every name borne there."""

    account: Account
    names: tuple[Name, ...]
    speaker: Speaker | None = None
    """The proxied identity that bears the names, where it is one; the account then answers for it."""

    @property
    def key(self) -> ParticipantKey:
        """Return who it is."""
        return self.account.key if self.speaker is None else self.speaker.key

    def bears(self, normalised: str) -> bool:
        """Tell whether one of the names is this one."""
        return any(name.normalised == normalised for name in self.names)

    def is_shown_as(self, normalised: str) -> bool:
        """Tell whether the name that the server shows is this one."""
        return any(name.source is NameSource.GUILD and name.normalised == normalised for name in self.names)


@dataclass(frozen=True, slots=True)
class Directory:
    """Members of one server: all of them, or those that may answer one question."""

    entries: tuple[Entry, ...] = ()

    def joined(self, other: Directory) -> Directory:
        """Return the members of both, each once."""
        if not self.entries or not other.entries:
            return other if not self.entries else self
        return Directory(tuple({entry.key: entry for entry in (*self.entries, *other.entries)}.values()))


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a name is said: it is resolved among the people of this server and conversation only."""

    place: Place
    participants: tuple[Participant, ...]
    persona: Persona
    bot_name: str
    speaker: Participant | None = None
    """Who says it; None when an operator asks from outside."""
    bot_keys: frozenset[ParticipantKey] = frozenset()
    """The agent's own accounts and webhooks."""

    @classmethod
    def of(cls, context: Turn | ToolContext) -> Self:
        """Return the scope of a turn or of a tool's call: the speaker is its first participant."""
        people = context.participants
        return cls(
            place=context.place,
            participants=people,
            persona=context.persona,
            bot_name=context.persona.nickname,
            speaker=people[0] if people else None,
            bot_keys=context.bot_keys,
        )


def is_hidden(account: Account) -> bool:
    """Tell whether somebody must not be named, listed or suggested."""
    return not RULES[account.privacy].names
