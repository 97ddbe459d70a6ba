"""Short ways to write people, places and directories."""

from datetime import UTC, datetime

from agent.contracts.people import Account, Participant, Persona, PrivacyLevel, Speaker
from agent.events import Author
from agent.identity.directory import Directory, Entry, Name, Scope
from agent.identity.handles import Named, assign_handles
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.names import NameSource
from agent.places import Channel, ChannelRef, Place, Server, ServerKind, ServerRef, Visibility

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOME = ServerRef("console", "home", "Home")
GENERAL = ChannelRef("home/general", "general")
PERSONA = Persona(1, 1, 1, "Mirri", "You are {bot}.", None, (), is_default=True)
BOT = ParticipantKey(ParticipantKind.BOT, "999")


def author(name: str, display: str | None = None, username: str | None = None) -> Author:
    return Author(ParticipantKind.CONSOLE_USER, name, name if display is None else display, username)


def place(server: ServerRef = HOME, channel: ChannelRef = GENERAL) -> Place:
    return Place(Server(1, server), Channel(1, channel))


def account(
    number: int,
    shown: str,
    *,
    external_id: str | None = None,
    username: str | None = None,
    privacy: PrivacyLevel = PrivacyLevel.NONE,
    user: int | None = 0,
    kind: ParticipantKind = ParticipantKind.DISCORD_USER,
) -> Account:
    """An account whose user row is its own number unless another, or None, is given."""
    return Account(
        account_id=number,
        user_id=number + 1000 if user == 0 else user,
        platform="discord",
        key=ParticipantKey(kind, external_id or str(number)),
        display_name=shown,
        username=username,
        privacy=privacy,
    )


def entry(person: Account, *more: str) -> Entry:
    """An entry with the name shown, the username, and further global names."""
    names = [Name.of(NameSource.GUILD, person.display_name)]
    if person.username:
        names.append(Name.of(NameSource.USERNAME, person.username))
    names += [Name.of(NameSource.GLOBAL, name) for name in more]
    return Entry(person, tuple(names))


def directory(*people: Account) -> Directory:
    return Directory(tuple(entry(person) for person in people))


def participants(*people: Account) -> tuple[Participant, ...]:
    named = [Named(person.account_id, person.key, person.display_name) for person in people]
    return tuple(
        Participant(handle, person.display_name, person, Speaker(person.key, person.user_id, person.display_name))
        for person, handle in zip(people, assign_handles(named, (PERSONA.nickname,)), strict=True)
    )


def scope(*people: Account, speaker: bool = True) -> Scope:
    """A scope in which the first of the people speaks, unless nobody does."""
    present = participants(*people)
    return Scope(
        place(), present, PERSONA, PERSONA.nickname, present[0] if present and speaker else None, frozenset({BOT})
    )


__all__ = ["ServerKind", "Visibility"]
