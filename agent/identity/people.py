"""The people that the agent has seen: registered as they speak, and read afresh each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from asyncpg import Record

from agent.contracts.people import Account, Participant, PrivacyLevel, Speaker
from agent.events import Author
from agent.identity.directory import Directory, Entry, Name
from agent.identity.handles import Named, assign_handles
from agent.identity.indexes import NameIndexes
from agent.identity.keys import ParticipantKey
from agent.identity.names import NameSource, label, normalise, place_name
from agent.identity.owners import account_speaker
from agent.identity.records import account_from
from agent.identity.words import phrases
from agent.places import Channel, ChannelRef, Place, Server, ServerRef
from agent.privacy.levels import RULES
from agent.store.queries import load_queries
from agent.text import clean, one_line

if TYPE_CHECKING:
    from agent.store.pool import Store

QUERIES = load_queries(__name__, "people.sql")
ID_LIMIT: Final = 255
"""Longest id of a platform, in characters."""
BEARERS: Final = 50
"""Of the people who share one name at most so many are looked at."""
NEAREST: Final = 64
"""At most so many people with a near name are looked at."""
KNOWN: Final = 8
"""At most so many people are found in one text."""
OFFERED: Final = 25
"""At most so many people are offered while a name is typed."""


@dataclass(frozen=True, slots=True)
class Entrance:
    """What counts for one message: where it was said, and who answers for it, as it is now."""

    place: Place
    account: Account
    blacklisted: bool
    is_new: bool
    """Whether the account was seen for the first time."""
    revision: int
    """The revision of the owner `server:ID`: what is cached of an older one is stale."""


class People:
    """Accounts, their names and their places. Privacy and blacklist are never cached.

    Who bears a name is asked of the database, which answers that as fast as it tells privacy. Whose names look like
    one or are near to one is asked of an index in memory (`agent.identity.indexes`), and then read afresh.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._indexes = NameIndexes(store)

    async def enter(self, server: ServerRef, channel: ChannelRef, author: Author, now: datetime) -> Entrance:
        """Register where and by whom something was said; one round trip, which writes only what has changed.

        Names are cleaned and cut; ids are taken as they are.

        Raises:
            ValueError: an id is empty, too long, or holds what no id holds.
        """
        server, channel = checked_server(server), checked_channel(channel)
        check_id("account", author.external_id)
        shown = label(author.display_name, author.key)
        username = label(author.username, author.key) if author.username else None
        row = await self._fetch_one(
            "enter",
            server.platform,
            server.external_id,
            server.kind,
            server.name,
            channel.external_id,
            channel.name,
            channel.visibility,
            channel.parent_external_id,
            channel.parent_name,
            author.kind,
            author.external_id,
            author.kind.owns_memories,
            shown,
            normalise(shown),
            username,
            normalise(username) if username else None,
            now,
            author.platform or server.platform,
        )
        return Entrance(
            place=Place(Server(row["server_id"], server), Channel(row["channel_id"], channel)),
            account=Account(
                account_id=row["account_id"],
                user_id=row["user_id"],
                platform=author.platform or server.platform,
                key=author.key,
                display_name=shown,
                username=row["username"],
                privacy=PrivacyLevel(row["privacy_level"]),
                forgotten_before=row["forgotten_before"],
            ),
            blacklisted=row["blacklisted"],
            is_new=row["is_new"],
            revision=row["revision"],
        )

    async def participants(
        self,
        place: Place,
        keys: Sequence[ParticipantKey],
        speaker: Speaker | None = None,
        reserved: Sequence[str] = (),
        proxied: Mapping[ParticipantKey, tuple[Speaker, ParticipantKey]] = MappingProxyType({}),
    ) -> tuple[Participant, ...]:
        """Return who takes part in a conversation: the account that speaks first, then the others in the given order.

        People whose privacy is FULL are left out, except as the speaker; so are keys that nobody has entered with.

        Args:
            place: Where the conversation is.
            keys: The account that answers for the message, then the others; proxied identities by their own keys.
            speaker: Who said it, where that is not the account itself.
            reserved: Names that no handle may be, as the persona's.
            proxied: The identities among the keys, each with the account that answers for it.

        """
        wanted: dict[ParticipantKey, tuple[ParticipantKey, Speaker | None]] = {}
        for number, key in enumerate(keys):
            if number == 0:
                wanted[speaker.key if speaker is not None else key] = (key, speaker)
            elif key in proxied:
                identity, account_key = proxied[key]
                wanted.setdefault(key, (account_key, identity))
            else:
                wanted.setdefault(key, (key, None))
        asked = list(dict.fromkeys(account_key for account_key, _ in wanted.values()))
        rows = await self._fetch(
            "participants",
            place.server.server_id,
            place.platform,
            [key.kind.value for key in asked],
            [key.id for key in asked],
        )
        return _participants(rows, wanted, reserved)

    async def accounts(self, place: Place, keys: Sequence[ParticipantKey]) -> Mapping[ParticipantKey, Account]:
        """Return the accounts of some keys as a server shows them, by key; hidden people too."""
        asked = list(dict.fromkeys(keys))
        rows = await self._fetch(
            "participants",
            place.server.server_id,
            place.platform,
            [key.kind.value for key in asked],
            [key.id for key in asked],
        )
        return {account.key: account for account in map(account_from, rows)}

    async def find(self, platform: str, external_id: str) -> tuple[Account, ...]:
        """Return the accounts with a platform's id: one or none, except where two kinds share the digits."""
        if "\x00" in external_id:
            return ()
        return tuple(account_from(row) for row in await self._fetch("find", platform, clean(external_id)))

    async def members(self, server_id: int) -> Directory:
        """Return every member of a server, with every name borne there; hidden people too: for operators."""
        return _directory(await self._fetch("members", server_id))

    async def bearers(self, server_id: int, name: str, identifier: str | None = None) -> Directory:
        """Return the members of a server who bear a name (in any case and form), or have a platform's id."""
        return _directory(await self._fetch("bearers", server_id, normalise(name), identifier, BEARERS))

    async def lookalikes(self, server_id: int, looks: frozenset[str]) -> Directory:
        """Return the members of a server who bear a name that has one of these skeletons (`names.skeletons`)."""
        found = (await self._indexes.get(server_id)).lookalikes(looks)
        return _directory(await self._fetch("names_of", server_id, found, BEARERS)) if found else Directory()

    async def near(self, server_id: int, name: str) -> Directory:
        """Return the members of a server with a name near to this one, with every name borne there; nobody hidden.

        At most 64. Who is among them decides nothing: `agent.identity.suggestions` says which are worth a question.
        """
        index = await self._indexes.get(server_id)
        found = index.near(normalise(name), NEAREST)
        return _directory(await self._fetch("showable", server_id, found)) if found else Directory()

    async def beginning(self, server_id: int, letters: str) -> tuple[Account, ...]:
        """Return members of a server with a name that begins with some letters, to be offered; nobody hidden.

        At most 25, the shortest names first.
        """
        rows = await self._fetch("beginning", server_id, normalise(letters), OFFERED)
        return tuple(account_from(row) for row in rows)

    async def known_names_in(self, text: str, place: Place) -> tuple[Account, ...]:
        """Return members who are named in a text, by a name that only one person of this server bears.

        Only those whose memories may be shown here: without a privacy level and not on the blacklist. At most 8.
        """
        if not (found := phrases(text)):
            return ()
        rows = await self._fetch("known_names", place.server.server_id, list(found), KNOWN)
        return tuple(account_from(row) for row in rows)

    async def _fetch(self, query: str, *arguments: object) -> Sequence[Record]:
        async with self._store.connection() as connection:
            return await connection.fetch(QUERIES[query], *arguments)

    async def _fetch_one(self, query: str, *arguments: object) -> Record:
        async with self._store.connection() as connection:
            row = await connection.fetchrow(QUERIES[query], *arguments)
        if row is None:
            raise LookupError(f"the query {query} of people.sql returned no row")
        return row


def people_owner(server_id: int) -> str:
    """Return the key of a server's directory in `owner_revisions`."""
    return f"people:{server_id}"


def check_id(what: str, value: str) -> None:
    """Refuse what cannot be a platform's id.

    Raises:
        ValueError: it is empty, longer than 255 characters, or holds control characters or line breaks.
    """
    if not value or len(value) > ID_LIMIT or one_line(clean(value)) != value:
        shown = repr(value[:ID_LIMIT])
        raise ValueError(f"the {what} id {shown} is no id: expected 1 to {ID_LIMIT} characters in one line")


def checked_server(server: ServerRef) -> ServerRef:
    """Return a server whose id may be kept, with its name as it may be kept.

    Raises:
        ValueError: it is no id.
    """
    check_id("server", server.external_id)
    name = place_name(server.name, server.external_id)
    return server if name == server.name else ServerRef(server.platform, server.external_id, name, server.kind)


def checked_channel(channel: ChannelRef) -> ChannelRef:
    """Return a channel whose ids may be kept, with its names as they may be kept.

    Raises:
        ValueError: an id is none.
    """
    check_id("channel", channel.external_id)
    parent, parent_name = channel.parent_external_id, None
    if parent is not None:
        check_id("parent channel", parent)
        parent_name = place_name(channel.parent_name or "", parent)
    name = place_name(channel.name, channel.external_id)
    return ChannelRef(channel.external_id, name, channel.visibility, parent, parent_name)


def _participants(
    rows: Sequence[Record],
    wanted: Mapping[ParticipantKey, tuple[ParticipantKey, Speaker | None]],
    reserved: Sequence[str],
) -> tuple[Participant, ...]:
    """Return those who are wanted and known, with their handles; the first one is shown whatever the privacy."""
    accounts = {account.key: (account, bool(row["blacklisted"])) for row in rows for account in (account_from(row),)}
    people = [
        (*accounts[account_key], said or account_speaker(accounts[account_key][0]))
        for number, (account_key, said) in enumerate(wanted.values())
        if account_key in accounts and (number == 0 or RULES[accounts[account_key][0].privacy].reads_messages)
    ]
    labels = [label(who.display_name, who.key) for _, _, who in people]
    named = [Named(account.account_id, who.key, shown) for (account, _, who), shown in zip(people, labels, strict=True)]
    return tuple(
        Participant(handle, shown, account, who, blacklisted)
        for handle, shown, (account, blacklisted, who) in zip(
            assign_handles(named, reserved), labels, people, strict=True
        )
    )


def _directory(rows: Sequence[Record]) -> Directory:
    """Return the directory of rows that stand together by account."""
    entries = []
    for _, group in groupby(rows, key=lambda row: row["account_id"]):
        lines = list(group)
        names = tuple(Name(NameSource(row["source"]), row["value"], row["normalised"]) for row in lines)
        entries.append(Entry(account_from(lines[0]), names))
    return Directory(tuple(entries))
