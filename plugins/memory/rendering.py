"""How memories stand in a prompt: one line each, as data; pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from agent.contracts.context import ContextEntry, ContextItem, Role, Section, Tag
from agent.contracts.memory import MemoryScope
from agent.identity.mentions import Labels
from agent.text import one_line
from plugins.memory.content import NO_LABELS, fill

if TYPE_CHECKING:
    from agent.contracts.people import Participant
    from agent.identity.keys import ParticipantKey
    from agent.places import Place, Server
    from plugins.memory.memory import Memory

NOBODY: Final = "User"
"""Stands for `{user}` where it is not known whom a memory is about."""


@dataclass(frozen=True, slots=True)
class Names:
    """Who is called what in a prompt."""

    bot: str
    accounts: Mapping[int, str]
    """Account id → label."""
    users: Mapping[int, str]
    """User id → label."""
    labels: Labels = NO_LABELS
    """What mentions in a memory become."""

    def subject(self, memory: Memory) -> str:
        """Return what `{user}` stands for: whom the memory is about, whoever reads it."""
        user = memory.owner_id if memory.scope is MemoryScope.PERSONAL else memory.subject_user_id
        return self.person(memory.subject_account_id, user)

    def person(self, account_id: int | None, user_id: int | None) -> str:
        """Return what somebody is called, by account or by user."""
        if account_id is not None and account_id in self.accounts:
            return self.accounts[account_id]
        return NOBODY if user_id is None else self.users.get(user_id, NOBODY)


def names_of(
    bot: str,
    participants: Iterable[Participant],
    accounts: Mapping[int, str] | None = None,
    labels: Labels = NO_LABELS,
) -> Names:
    """Return who is called what: participants by their labels, before `accounts`, the names of others."""
    found = dict(accounts or {})
    users: dict[int, str] = {}
    participants = tuple(participants)
    for person in participants:
        if not person.speaker.is_proxied:
            found[person.account.account_id] = person.label
        if person.speaker.user_id is not None:
            users.setdefault(person.speaker.user_id, person.label)
    people = {**labels.people, **Labels.of(participants).people}
    return Names(bot, found, users, replace(labels, people=people))


def labels_of(
    place: Place, bot: str, bot_keys: Iterable[ParticipantKey] = (), people: Mapping[str, str] | None = None
) -> Labels:
    """Return what mentions become here, besides those of participants: the agent, `people`, and this channel."""
    channel = place.channel.ref
    channels = {channel.external_id: one_line(channel.name)}
    if channel.parent_external_id is not None and channel.parent_name is not None:
        channels[channel.parent_external_id] = one_line(channel.parent_name)
    agent = {key.id: one_line(bot) for key in bot_keys}
    return Labels({**(people or {}), **agent}, channels=channels)


def server_heading(bot: str, server: Server) -> str:
    """Return the heading above a server's memories."""
    about = "this conversation with User" if server.is_direct else one_line(server.ref.name)
    return f"## {one_line(bot)}'s Memories about {about}"


def person_heading(bot: str, label: str) -> str:
    """Return the heading above a person's memories."""
    return f"## {one_line(bot)}'s Memories about {one_line(label)}"


def shown_text(memory: Memory, names: Names) -> str:
    """Return the content as one line with its placeholders and mentions resolved."""
    if not memory.has_names:
        return memory.content
    return fill(memory.content, user=names.subject(memory), bot=names.bot, labels=names.labels)


def line(memory: Memory, text: str) -> str:
    """Return the one line by which the model knows a memory and may change it."""
    return f"ID:{memory.memory_id} {text}"


def entry(memory: Memory, text: str, heading: str) -> ContextEntry:
    """Return the entry of a memory; both projections hold the same text."""
    return ContextEntry(memory.identity, text, line(memory, text), memory.recency, heading)


def plain_entries(memories: Sequence[Memory], heading: str) -> tuple[ContextEntry | None, ...]:
    """Return the entry of each memory below a heading; None where names must be put in."""
    return tuple(None if memory.has_names else entry(memory, memory.content, heading) for memory in memories)


def block(tag: Tag, entries: Sequence[ContextEntry]) -> tuple[ContextItem, ...]:
    """Return the item of one tag, in the cached prefix; none without entries."""
    return (ContextItem(tag, Role.SYSTEM, Section.PREFIX, "", tuple(entries)),) if entries else ()
