"""The relay: a bridge without a platform of its own, which joins two others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from agent import logs, metrics
from agent.bridge import BridgeStartFailed, Capabilities, SendFailed
from agent.files import FileRefused
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.store.errors import StoreError
from bridges.matrix.rules.relations import ENCRYPTED
from bridges.relay.commands import MatrixCommands
from bridges.relay.hearing import Hearing
from bridges.relay.homeserver import Homeserver, HomeserverRefused, Unreachable
from bridges.relay.intake import ENCRYPTION, MEMBER, TOMBSTONE, taken
from bridges.relay.lanes import Lanes
from bridges.relay.linking import Linking
from bridges.relay.listener import Listener
from bridges.relay.names import Names
from bridges.relay.registration import kept_tokens
from bridges.relay.repository import DISCORD, MATRIX, Rows
from bridges.relay.settings import RelaySettings
from bridges.relay.ties import Ties
from bridges.relay.to_discord import ToDiscord
from bridges.relay.to_matrix import ToMatrix
from bridges.relay.typed import TypedCommands
from bridges.relay.users import Looks, Users

if TYPE_CHECKING:
    import typer

    from agent.bridge import BridgeHost, HistoryMessage, OutcomeUnknown, OutgoingMessage, Sent, SentMessage
    from agent.commands import Command
    from agent.events import Attachment
    from agent.hookspecs import Health
    from agent.places import ChannelRef, ServerRef
    from bridges.relay.registration import Tokens
    from bridges.relay.repository import Waiting

log = logs.get_logger(__name__)

metrics.declare("relay_malformed", "counter", (), "Events of the homeserver that have no usable id, room or content.")

_ROOM_ITSELF: Final = frozenset({MEMBER, ENCRYPTION, TOMBSTONE, ENCRYPTED})
_EARLY_KEPT: Final = timedelta(hours=1)
"""How long an edit waits for its message."""
_EVENTS_KEPT: Final = timedelta(days=30)
_SWEEP_EVERY: Final = 3600.0
_HELLO: Final = 5.0
"""Seconds until a homeserver that did not answer is greeted again."""


@dataclass(frozen=True, slots=True)
class _Parts:
    ties: Ties
    listener: Listener
    lanes: Lanes
    linking: Linking
    to_discord: ToDiscord
    to_matrix: ToMatrix
    typed: TypedCommands
    users: Users


class RelayBridge:
    """Rooms of Matrix and channels as one conversation each."""

    Settings = RelaySettings
    name = "relay"
    platform = "relay"
    joins = True
    """It is started before the bridges that it joins, so that it misses nothing of what they bring."""

    def __init__(self, settings: RelaySettings, *, tokens: Tokens | None = None) -> None:
        """Take the tokens as well where they are kept elsewhere than in the bridge's state."""
        self.settings = settings
        self._tokens = tokens
        self.capabilities = Capabilities(1, has_idempotency_key=False, typing=False, withdraws=False, edits=False)
        self.names = Names(settings.prefix, settings.localpart, settings.server_name)
        self._parts: _Parts | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @staticmethod
    def register_cli(app: typer.Typer) -> None:
        """Add `isthmus relay`."""
        from bridges.relay.cli import app as commands

        app.add_typer(commands, name="relay")

    def commands(self) -> Sequence[Command]:
        """Return `/matrix …`."""
        return MatrixCommands(lambda: self._started.ties, self._wake_links).commands()

    def _wake_links(self) -> None:
        self._started.linking.wake()

    async def health(self) -> Sequence[Health]:
        """Say whether the homeserver answers (`isthmus doctor`)."""
        from agent.hookspecs import Health

        home = Homeserver(self.settings.homeserver, "")
        await home.open()
        try:
            await home.call("GET", "versions")
        except (Unreachable, HomeserverRefused) as error:
            remedy = "check homeserver in [bridges.relay]"
            return (Health("bridge relay", "fail", f"the homeserver does not answer: {error}", remedy),)
        finally:
            await home.close()
        return (Health("bridge relay", "ok", f"the homeserver answers at {self.settings.homeserver}"),)

    def identity(self) -> str:
        """Return the agent's user: only one process may carry its events."""
        return self.names.agent

    def agent_keys(self) -> frozenset[ParticipantKey]:
        """Return the agent's user in rooms."""
        return frozenset({ParticipantKey(ParticipantKind.MATRIX_USER, self.names.agent)})

    @property
    def port(self) -> int:
        """Where the homeserver's transactions are awaited."""
        return self.settings.port if self._parts is None else self._parts.listener.port

    async def start(self, host: BridgeHost) -> None:
        """Listen to the homeserver and to the other bridges, and go on with what waits.

        Raises:
            BridgeStartFailed: with the way out.
        """
        state = host.state(self.name)
        tokens = self._tokens or await kept_tokens(state)
        if tokens is None:
            raise BridgeStartFailed(
                "bridge relay: the homeserver does not know it yet: run isthmus relay registration, give the file to "
                "the homeserver (app_service_config_files), and restart that"
            )
        relaying = host.relaying
        home = Homeserver(self.settings.homeserver, tokens.to_homeserver)
        ties = Ties(self.settings, self.names, host, relaying, state, Rows(relaying.store, relaying.clock), home)
        users, linking = Users(ties), Linking(ties)
        to_discord, to_matrix = ToDiscord(ties), ToMatrix(ties, users)
        typed = TypedCommands(ties)
        lanes = Lanes(ties.rows, {MATRIX: self._from_matrix, DISCORD: self._from_discord})
        listener = Listener(tokens.from_homeserver, self._take, self.settings.host, self.settings.port)
        self._parts = _Parts(ties, listener, lanes, linking, to_discord, to_matrix, typed, users)
        await home.open()
        await linking.start()
        relaying.overhear(DISCORD, Hearing(ties, lanes.wake))
        await listener.start()
        await lanes.start()
        for work in (self._greet(), self._sweep()):
            task = asyncio.create_task(work)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Listen no more; what waits is carried at the next start."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if (parts := self._parts) is not None:
            await parts.listener.stop()
            await parts.linking.stop()
            await parts.lanes.stop()
            await parts.ties.home.close()

    async def idle(self) -> None:
        """Return when nothing waits to be carried over."""
        if self._parts is not None:
            await self._parts.lanes.idle()

    # What comes in --------------------------------------------------------------------------------------------

    async def _take(self, events: Sequence[Any]) -> None:
        """Keep what a transaction brings."""
        parts = self._started
        linked = parts.ties.links.by_room
        found = taken(events, self.names, linked, parts.ties.others, parts.ties.links.asked)
        if found.malformed:
            metrics.emit("relay_malformed", found.malformed)
            log.warning("events_malformed", count=found.malformed)
        for room in await parts.ties.rows.keep(MATRIX, found.heard):
            parts.lanes.wake(MATRIX, room)

    async def _from_matrix(self, waiting: Waiting, is_doubtful: bool) -> None:  # noqa: FBT001 - the lanes' form
        parts = self._started
        if waiting.kind in _ROOM_ITSELF:
            await parts.linking.heard(json.loads(waiting.payload))
            return
        link = parts.ties.links.by_room.get(waiting.room_id)
        if link is None:
            await parts.linking.answered(json.loads(waiting.payload))
            return
        room = await parts.linking.room(link.room_id)
        if not await parts.typed.take(json.loads(waiting.payload), room, link):
            await parts.to_discord.carry(waiting, link, is_doubtful)

    async def _from_discord(self, waiting: Waiting, is_doubtful: bool) -> None:  # noqa: FBT001 - the lanes' form
        parts = self._started
        link = parts.ties.links.by_room.get(waiting.room_id)
        if link is not None:
            await parts.linking.room(link.room_id)
            await parts.to_matrix.carry(waiting, link, is_doubtful)

    async def _greet(self) -> None:
        """Tell the homeserver that the relay is there: it brings at once what it held back."""
        parts = self._started
        while True:
            try:
                await parts.users.present("", Looks(self.names.agent, parts.ties.relaying.agent_name))
                await parts.ties.home.ping(f"isthmus-{self.names.localpart}")
            except Unreachable as unreachable:
                log.warning("homeserver_unreachable", reason=str(unreachable))
            except HomeserverRefused as refused:
                log.warning(
                    "homeserver_refuses", reason=str(refused), remedy="is the registration file of today's tokens?"
                )
            except StoreError as error:
                log.warning("homeserver_not_greeted", reason=str(error))
            else:
                return
            await asyncio.sleep(_HELLO)

    async def _sweep(self) -> None:
        rows, clock = self._started.ties.rows, self._started.ties.relaying.clock
        while True:
            now = clock.now()
            try:
                await rows.sweep(now - _EARLY_KEPT, now - _EVENTS_KEPT, now - timedelta(days=self.settings.kept_days))
            except StoreError as error:
                log.warning("sweep_failed", reason=str(error))
            await asyncio.sleep(_SWEEP_EVERY)

    @property
    def _started(self) -> _Parts:
        if self._parts is None:
            raise RuntimeError("the relay was not started")
        return self._parts

    # What a bridge with a platform of its own does; nothing is ever sent to this one. ---------------------------

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        """Refuse.

        Raises:
            SendFailed: always.
        """
        raise SendFailed(f"the relay has no channels of its own: {message.key}")

    async def find_sent(self, message: OutgoingMessage) -> Sent | None:  # noqa: ARG002 - nothing is sent
        """Find nothing."""
        return None

    async def edit(self, message_id: str, message: OutgoingMessage) -> None:
        """Refuse.

        Raises:
            SendFailed: always.
        """
        raise SendFailed(f"the relay has no channels of its own: {message_id}, {message.key}")

    async def withdraw(self, message: SentMessage) -> None:
        """Refuse.

        Raises:
            SendFailed: always.
        """
        raise SendFailed(f"the relay has no channels of its own: {message.message_id}")

    async def history(self, server: ServerRef, channel: ChannelRef, limit: int) -> Sequence[HistoryMessage]:  # noqa: ARG002
        """Return nothing."""
        return ()

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:  # noqa: ARG002 - it has no files
        """Refuse.

        Raises:
            FileRefused: always.
        """
        raise FileRefused(f"{attachment.name}: the relay keeps no files")

    async def typing(self, channel: ChannelRef) -> None:
        """Show nothing."""
