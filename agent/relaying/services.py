"""The core's side of a relay: who hears what, who may post, and who said what was posted for others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.identity.names import normalise
from agent.relaying.hearing import OWN, Said
from agent.store.queries import load_queries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.bridge import Bridge, OutgoingMessage, SentMessage
    from agent.core import Core
    from agent.events import Event
    from agent.places import ChannelRef, ServerRef
    from agent.relaying.hearing import Hearer
    from agent.relaying.mouthpiece import Mouthpiece
    from agent.sender import Sender
    from agent.store.outbox import OutboxRows

QUERIES = load_queries("agent.relaying", "relaying.sql")


class Relaying:
    """What a relay gets from the core (`agent.bridge.BridgeHost.relaying`)."""

    def __init__(self, core: Core, outbox: OutboxRows, bridges: Mapping[str, Bridge]) -> None:
        self._core = core
        self.store = core.store
        self.clock = core.clock
        self.locale = core.settings.locale
        self.agent_name = core.settings.name
        self._outbox = outbox
        self._bridges = bridges
        self._hearers: dict[str, Hearer] = {}
        self._claimed: frozenset[tuple[str, str]] = frozenset()
        self._trusted: set[tuple[str, str]] = set()
        self.sender: Sender | None = None
        """Posts what is committed; set when there is one."""

    def overhear(self, platform: str, hearer: Hearer) -> None:
        """Let somebody hear what happens on a platform."""
        self._hearers[platform] = hearer

    def claim(self, places: frozenset[tuple[str, str]]) -> None:
        """Take channels (platform and id) for the relay: what another bridge hears in them is not taken twice."""
        self._claimed = places

    def bridge(self, platform: str) -> Bridge | None:
        """Return the bridge that serves a platform."""
        return self._bridges.get(platform)

    def mouthpiece(self, platform: str) -> Mouthpiece | None:
        """Return what lets others speak on a platform; None where its bridge offers nothing of that kind."""
        found = getattr(self._bridges.get(platform), "mouthpiece", None)
        return cast("Mouthpiece | None", found)

    async def post(self, *messages: OutgoingMessage) -> None:
        """Commit messages of the agent to the outbox, one transaction for all; a key that is there posts nothing.

        Their keys begin with `agent.relaying.hearing.OWN`, so that they are not heard again.

        Raises:
            StoreError: nothing was committed.
        """
        async with self.store.transaction() as conn:
            posted = [each for message in messages for each in await self._outbox.add(conn, (message,))]
        if self.sender is not None:
            self.sender.post(posted)

    async def heard(self, event: Event) -> bool:
        """Tell the hearer of a platform; False when the event is another bridge's echo of what the relay carries."""
        channel = event.channel
        places = {(event.platform, channel.external_id), (event.platform, channel.parent_external_id)}
        if not places.isdisjoint(self._claimed) and not event.event_id.startswith(OWN):
            return False
        hearer = self._hearers.get(event.platform)
        if hearer is not None and not event.event_id.startswith(OWN):
            await hearer.hear(event)
        return True

    async def said(self, said: Said) -> None:
        """Tell the hearer of what the agent said."""
        hearer = self._hearers.get(said.message.platform)
        if hearer is not None and not said.message.key.startswith(OWN):
            await hearer.hear_agent(said)

    async def withdrawn(self, message: SentMessage) -> None:
        """Tell the hearer of what the agent has deleted."""
        if (hearer := self._hearers.get(message.platform)) is not None:
            await hearer.hear_withdrawal(message)

    async def account_of(self, server: ServerRef, channel: ChannelRef, author: Author) -> int:
        """Register somebody from elsewhere in a server, and return the account's id."""
        entrance = await self._core.people.enter(server, channel, author, self.clock.now())
        return entrance.account.account_id

    async def is_borne(self, server: ServerRef, channel: ChannelRef, author: Author) -> bool:
        """Tell whether somebody else in a server, or one of the agent's personas there, has the name of somebody."""
        entrance = await self._core.people.enter(server, channel, author, self.clock.now())
        server_id, name = entrance.place.server.server_id, normalise(author.display_name)
        personas = await self._core.personas.for_server(server_id, entrance.revision)
        if any(normalise(persona.nickname) == name for persona in personas):
            return True
        bearers = await self._core.people.bearers(server_id, author.display_name)
        return any(each.account.account_id != entrance.account.account_id for each in bearers.entries)

    async def authors(self, server: ServerRef, message_ids: Sequence[str]) -> dict[str, Author]:
        """Return those of the messages that a relay has posted for people from elsewhere, each with who said it.

        Of somebody who was forgotten nothing is left but that it was not the agent.
        """
        if not message_ids:
            return {}
        async with self.store.connection() as conn:
            rows = await conn.fetch(QUERIES["authors"], server.platform, list(message_ids), server.external_id)
        return {row["message_id"]: _author(dict(row)) for row in rows}

    async def load(self, platforms: Sequence[str]) -> None:
        """Read which webhooks are trusted on some platforms."""
        async with self.store.connection() as conn:
            rows = await conn.fetch(QUERIES["trusted"], list(platforms))
        self._trusted = {(row["platform"], row["webhook_id"]) for row in rows}

    def trusts(self, platform: str, webhook_id: str) -> bool:
        """Tell whether an administrator has named a webhook as another bridge's."""
        return (platform, webhook_id) in self._trusted

    async def trust(self, server: ServerRef, webhook_id: str) -> bool:
        """Count those as people who speak through a webhook of a server; False when it is so already."""
        async with self.store.connection() as conn:
            added = await conn.fetchval(
                QUERIES["trust"], server.platform, webhook_id, server.external_id, self.clock.now()
            )
        self._trusted.add((server.platform, webhook_id))
        return added is not None

    async def distrust(self, server: ServerRef, webhook_id: str) -> bool:
        """Count them so no longer; False when the server has named no such webhook."""
        async with self.store.connection() as conn:
            removed = await conn.fetchval(QUERIES["distrust"], server.platform, webhook_id, server.external_id)
        if removed is not None:
            self._trusted.discard((server.platform, webhook_id))
        return removed is not None

    async def trusted_in(self, server: ServerRef) -> tuple[str, ...]:
        """Return the webhooks that a server has named."""
        async with self.store.connection() as conn:
            rows = await conn.fetch(QUERIES["trusted_in"], server.platform, server.external_id)
        return tuple(row["webhook_id"] for row in rows)


def _author(row: Mapping[str, Any]) -> Author:
    if row["external_id"] is None:
        return Author(ParticipantKind.WEBHOOK, str(row["webhook_id"]), "", is_bot=True)
    return Author(
        ParticipantKind(row["kind"]),
        row["external_id"],
        row["display_name"],
        row["username"],
        platform=row["platform"],
    )
