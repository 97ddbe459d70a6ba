"""Which place and person a command means: `platform:id`, or a name that is unique; the terminal's by default."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from agent.cli.errors import CallRefused
from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.places import ChannelRef, ServerKind, ServerRef, Visibility
from agent.store.queries import load_queries
from agent.terminal import PLATFORM, NameRefused, Whereabouts, id_of, system_user

if TYPE_CHECKING:
    from agent.store.pool import Store

QUERIES = load_queries("agent.cli")
_SHOWN: Final = 5
_PLATFORMS: Final = frozenset({PLATFORM, "discord", "matrix"})


@dataclass(frozen=True, slots=True)
class Asked:
    """The options as they were given."""

    server: str | None = None
    channel: str | None = None
    person: str | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    """A place, and who acts there."""

    server: ServerRef
    channel: ChannelRef
    author: Author


async def find_place(store: Store, asked: Asked) -> Spot:
    """Return the place and person that the options mean.

    Where nobody of that name is known yet, a bare name means one of the terminal.

    Raises:
        CallRefused: nothing is known under that id, or several bear that name.
    """
    try:
        author = await _person(store, asked.person)
        server = await _server(store, asked.server, author)
        return Spot(server, await _channel(store, asked.channel, server), author)
    except NameRefused as error:
        raise CallRefused(str(error)) from None


async def find_server(store: Store, text: str | None) -> ServerRef:
    """Return the server that `--server` means; a bare name that nobody knows yet means one of the terminal.

    Raises:
        CallRefused: nothing is known under that id, or several bear that name.
    """
    try:
        return await _server(store, text, await _person(store, None))
    except NameRefused as error:
        raise CallRefused(str(error)) from None


async def find_account(store: Store, text: str) -> int:
    """Return the account that somebody means by `platform:id`, or by a name that is unique.

    Raises:
        CallRefused: nobody is known by that, or several are.
    """
    wanted = _wanted("USER", text)
    row = await _one(store, "find_accounts", wanted)  # ids of Matrix begin with @
    if row is None:
        row = await _one(store, "find_accounts", replace(wanted, key=(wanted.key or "").removeprefix("@")))
    if row is None:
        raise CallRefused(f"USER {text}: nobody of that id or name has been seen")
    account_id: int = row["account_id"]
    return account_id


async def find_server_id(store: Store, server: ServerRef) -> int | None:
    """Return the row of a server; None when nobody has entered it."""
    async with store.connection() as connection:
        found: int | None = await connection.fetchval(QUERIES["server_id"], server.platform, server.external_id)
    return found


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One option, split: without a platform the key is a name."""

    option: str
    text: str
    platform: str | None = None
    key: str | None = None


def _wanted(option: str, text: str) -> _Wanted:
    platform, colon, key = text.partition(":")
    if colon and platform in _PLATFORMS:
        if not key.strip():
            raise CallRefused(f"{option} {text!r} lacks the id behind the platform")
        return _Wanted(option, text, platform, key.strip())
    if not text.strip():
        raise CallRefused(f"{option} cannot be empty")
    return _Wanted(option, text, None, text.strip())


async def _person(store: Store, text: str | None) -> Author:
    if text is None:
        return Whereabouts(system_user(os.environ)).author
    wanted = _wanted("--as", text)
    if wanted.platform is None:
        wanted = replace(wanted, key=(wanted.key or "").removeprefix("@"))
    row = await _one(store, "find_accounts", wanted)
    if row is None:
        if wanted.platform not in {None, PLATFORM}:
            raise CallRefused(f"--as {text}: nobody with that id has been seen; let them write something first")
        return Whereabouts("you").spoken_by(wanted.key or "").author
    kind = ParticipantKind(row["kind"])
    in_terminal = row["platform"] == PLATFORM
    return Author(kind, row["external_id"], row["display_name"], row["username"], can_manage=in_terminal)


async def _server(store: Store, text: str | None, author: Author) -> ServerRef:
    if text is None:
        return Whereabouts("you").server_ref
    wanted = _wanted("--server", text)
    row = await _one(store, "find_servers", wanted)
    if row is not None:
        return ServerRef(row["platform"], row["external_id"], row["name"], ServerKind(row["kind"]))
    if wanted.platform not in {None, PLATFORM}:
        raise CallRefused(f"--server {text}: no server with that id has been seen")
    key = wanted.key or ""
    if key.startswith("@"):
        return Whereabouts(author.display_name).spoken_by(key).in_direct().server_ref
    return Whereabouts("you").in_server(key).server_ref


async def _channel(store: Store, text: str | None, server: ServerRef) -> ChannelRef:
    direct = server.kind is ServerKind.DIRECT
    if text is None and server.platform == PLATFORM:
        where = Whereabouts(server.name.removeprefix("@")).in_direct() if direct else Whereabouts("you", server.name)
        return where.channel_ref
    wanted = _Wanted("--channel", f"of {server.name}") if text is None else _wanted("--channel", text)
    if wanted.platform not in {None, server.platform}:
        raise CallRefused(f"--channel {text}: it is on {wanted.platform}, and the server on {server.platform}")
    key = None if wanted.key is None else wanted.key.removeprefix("#")
    row = await _one(store, "find_channels", replace(wanted, key=key), server)
    if row is not None:
        return ChannelRef(
            row["external_id"],
            row["name"],
            Visibility(row["visibility"]),
            row["parent_external_id"],
            row["parent_name"],
        )
    if key is None or server.platform != PLATFORM or direct:
        raise CallRefused(f"--channel {text or ''}: no such channel of {server.name} has been seen")
    return _new_channel(key, server)


def _new_channel(key: str, server: ServerRef) -> ChannelRef:
    """Return a channel or thread of the terminal: `general`, `general/plans`, or with the server's id before it."""
    parts = key.split("/")
    if len(parts) > 1 and parts[0] == server.external_id:
        parts = parts[1:]
    if len(parts) > 2:  # noqa: PLR2004 - a channel and its thread
        raise NameRefused("a channel is CHANNEL or CHANNEL/THREAD")
    where = Whereabouts("you", server.name).in_channel(parts[0])
    return (where if len(parts) == 1 else where.in_thread(parts[1])).channel_ref


async def _one(store: Store, query: str, wanted: _Wanted, server: ServerRef | None = None) -> Any | None:
    """Return the one row that is meant, or None.

    Raises:
        CallRefused: there are several; the text lists them.
    """
    within = () if server is None else (server.platform, server.external_id)
    folded = None if wanted.key is None else id_of(wanted.key)
    async with store.connection() as connection:
        rows = await connection.fetch(QUERIES[query], wanted.platform, wanted.key, folded, *within)
    if wanted.platform is not None:
        # The id as it was typed wins over the one that differs by letter case only.
        rows = [row for row in rows if row["external_id"] == wanted.key] or rows
    if len(rows) > 1:
        shown = ", ".join(f"{row['platform']}:{row['external_id']} ({row['label']})" for row in rows[:_SHOWN])
        more = ", …" if len(rows) > _SHOWN else ""
        raise CallRefused(f"{wanted.option} {wanted.text} may mean {shown}{more}: say which, as platform:id")
    return rows[0] if rows else None
