"""The personas of each server, read: held for one revision of the server."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from asyncpg import Record

from agent.cache import RevisionedCache
from agent.contracts.people import Persona
from agent.personas.calling import default_of
from agent.store.queries import load_queries
from agent.turn.values import server_owner

if TYPE_CHECKING:
    from agent.clock import Clock
    from agent.store.pool import Store
    from agent.tools import Connection

QUERIES = load_queries(__name__)
_SERVERS: Final = 2_048
"""Servers whose personas are held at most."""
_SECONDS: Final = 600.0
NO_AVATAR: Final = ""
"""Kept where a default persona shall have no picture although the deployment has set one."""


class PersonaDefaults(Protocol):
    """What a deployment sets for the default persona of every server: `[agent]` of the settings."""

    @property
    def name(self) -> str:
        """Its nickname."""
        ...

    @property
    def prompt(self) -> str:
        """Its prompt."""
        ...

    @property
    def avatar(self) -> str | None:
        """Its picture."""
        ...

    @property
    def triggers(self) -> tuple[str, ...]:
        """The words that call it besides its name."""
        ...


class Personas:
    """The personas of each server. What a default persona leaves open is as the deployment has set it now."""

    def __init__(self, store: Store, defaults: PersonaDefaults, clock: Clock) -> None:
        self.defaults = defaults
        self._store = store
        self._cache: RevisionedCache[tuple[Persona, ...]] = RevisionedCache(
            size=_SERVERS, seconds=_SECONDS, clock=clock
        )

    async def for_server(self, server_id: int, revision: int | None = None) -> tuple[Persona, ...]:
        """Return the personas of a server that somebody has entered: the default one first, then by age.

        With the server's revision (`Entrance.revision`) what is held for it is as good as the database's answer;
        without one the database is asked.
        """
        if revision is None:
            return await self._load(server_id)
        return await self._cache.get(server_owner(server_id), revision, partial(self._load, server_id))

    async def default(self, server_id: int) -> Persona:
        """Return the default persona of a server.

        Raises:
            LookupError: nobody has ever entered that server.
        """
        return default_of(await self.for_server(server_id))

    async def current(self, persona: Persona, revision: int | None) -> Persona:
        """Return a persona as it is at this revision; when it is gone, the default one of its server.

        Raises:
            LookupError: nobody has ever entered that server.
        """
        personas = await self.for_server(persona.server_id, revision)
        same = next((each for each in personas if each.persona_id == persona.persona_id), None)
        return same if same is not None else default_of(personas)

    async def of_message(self, platform: str, message_id: str, server_id: int) -> int | None:
        """Return the id of the persona that said a message of the agent's there; None when that is not known."""
        async with self._store.connection() as conn:
            found: int | None = await conn.fetchval(QUERIES["persona_of_message"], platform, message_id, server_id)
        return found

    async def read(self, conn: Connection, server_id: int) -> tuple[Persona, ...]:
        """Return the same on a connection of the caller's, as its transaction sees them."""
        return tuple(self._persona(row) for row in await conn.fetch(QUERIES["personas_of_server"], server_id))

    def forget(self, owner: str) -> None:
        """Let go of what is held of an owner whose state has changed."""
        self._cache.evict(owner)

    async def _load(self, server_id: int) -> tuple[Persona, ...]:
        async with self._store.connection() as conn:
            return await self.read(conn, server_id)

    def _persona(self, row: Record) -> Persona:
        nickname, prompt, triggers, avatar = row["nickname"], row["prompt"], row["triggers"], row["avatar"]
        if avatar is None and row["is_default"]:
            avatar = self.defaults.avatar
        return Persona(
            persona_id=row["persona_id"],
            server_id=row["server_id"],
            lineage_id=row["persona_lineage_id"],
            nickname=self.defaults.name if nickname is None else nickname,
            prompt=self.defaults.prompt if prompt is None else prompt,
            avatar=avatar or None,
            triggers=tuple(self.defaults.triggers if triggers is None else triggers),
            is_default=row["is_default"],
            affixes=tuple(row["affixes"]),
            is_renamed=row["is_default"] and nickname not in {None, self.defaults.name},
        )
