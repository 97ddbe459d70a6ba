"""The bridge to Matrix: one account, all its rooms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from agent import logs
from agent.bridge import BridgeStartFailed, Capabilities, HistoryMessage, OutcomeUnknown, OutgoingMessage, Sent
from agent.clock import Clock, SystemClock
from agent.files import MEBIBYTE
from agent.identity.keys import ParticipantKey, ParticipantKind
from bridges.matrix.client import NETWORK, Client, MatrixError
from bridges.matrix.commands.answering import Answering
from bridges.matrix.commands.confirming import Offers
from bridges.matrix.commands.serving import Seeing, Serving
from bridges.matrix.direct import DirectRooms
from bridges.matrix.encryption import Encryption
from bridges.matrix.incoming import Incoming
from bridges.matrix.joining import Joining
from bridges.matrix.known import Known
from bridges.matrix.login import Login
from bridges.matrix.media import Media
from bridges.matrix.places import PLATFORM
from bridges.matrix.posting import Posting
from bridges.matrix.reading import Reading
from bridges.matrix.rules.outgoing import Typing
from bridges.matrix.settings import MatrixSettings
from bridges.matrix.syncing import Syncing
from bridges.matrix.unread import Unread
from bridges.matrix.watching import Watching
from bridges.matrix.world import World

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.bridge import BridgeHost, SentMessage
    from agent.events import Attachment
    from agent.hookspecs import Health
    from agent.places import ChannelRef, ServerRef
    from agent.setup import Setup

log = logs.get_logger(__name__)

CARD_LIMIT: Final = 8_000
"""Bytes of a notice's card; the rest goes along as a file."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """What there is of the bridge from its start on."""

    client: Client
    syncing: Syncing
    serving: Serving
    posting: Posting
    reading: Reading
    media: Media


class MatrixBridge:
    """The agent in Matrix."""

    Settings = MatrixSettings
    name = "matrix"
    platform = PLATFORM

    def __init__(self, settings: MatrixSettings, *, clock: Clock | None = None) -> None:
        self.settings = settings
        self._clock = clock or SystemClock()
        self.capabilities = Capabilities(
            settings.message_limit, has_idempotency_key=True, length_unit="bytes", card_limit=CARD_LIMIT
        )
        self._parts: _Parts | None = None

    @staticmethod
    def setup(setup: Setup) -> None:
        """Ask for the account, and write what the agent needs (`isthmus setup matrix`).

        Raises:
            agent.setup.SetupFailed: with the way out.
        """
        from bridges.matrix.setting_up import set_up

        set_up(setup)

    async def health(self) -> Sequence[Health]:
        """Return whether the homeserver answers (`isthmus doctor`)."""
        from bridges.matrix.checking import health

        return await health(self.settings)

    def identity(self) -> str:
        """Return the account: two processes on one account would answer everything twice."""
        return self.settings.user

    def agent_keys(self) -> frozenset[ParticipantKey]:
        """Return the agent's account."""
        return frozenset({ParticipantKey(ParticipantKind.MATRIX_USER, self.settings.user)})

    async def start(self, host: BridgeHost) -> None:
        """Log in and bring events.

        Raises:
            BridgeStartFailed: with the way out.
        """
        settings, state = self.settings, host.state(self.name)
        client, world = Client(settings.homeserver, settings.user), World(settings.user)
        encryption = Encryption(client, state)
        known, media = Known(client, encryption), Media(client)
        reading = Reading(client, world, encryption, known, frozenset(settings.allowed_bots))
        typing = Typing(settings.command_prefix, frozenset(command.path[0] for command in host.commands))
        posting = Posting(client, world, encryption, media, typing)
        incoming = Incoming(world, host, known, encryption, reading)
        joining = Joining(client, world, settings)
        direct = DirectRooms(client, world, state, joining)
        answering = Answering(
            posting, world, direct, typing, language=settings.language, limit=self.capabilities.message_limit
        )
        seeing, offers = Seeing(world, known, reading, media), Offers(state)
        serving = Serving(
            host, state, self._clock, seeing=seeing, answering=answering, offers=offers, settings=settings
        )
        incoming.commanded, incoming.reacted = serving.message, serving.reaction
        if settings.encryption:
            incoming.unreadable = Unread(encryption, posting, settings.language).take
        syncing = Syncing(
            client, world, state, encryption, incoming, Watching(host, world), joining, reading, self._clock
        )
        login = Login(client, settings, state)
        folder = (settings.store or host.folder(self.name)) if settings.encryption else None
        syncing.log_in_again = partial(login.renew, folder)
        self._parts = _Parts(client, syncing, serving, posting, reading, media)
        try:
            await login.open()
            if folder is not None:
                await login.open_keys(folder)
                await encryption.load()
            await world.load(state)
            await serving.start()
            await self._begin(joining, syncing)
        except BaseException:
            await self.stop()
            raise

    async def _begin(self, joining: Joining, syncing: Syncing) -> None:
        try:
            await joining.read_direct()
            await syncing.start()
        except (MatrixError, *NETWORK) as error:
            raise BridgeStartFailed(
                f"Matrix: {self.settings.homeserver} did not tell what is in the rooms "
                f"({error if isinstance(error, MatrixError) else type(error).__name__}): try again, "
                f"and look at its log"
            ) from error

    async def stop(self) -> None:
        """Close the connection; what was not taken comes again at the next start."""
        if self._parts is not None:
            parts, self._parts = self._parts, None
            await parts.syncing.stop()
            await parts.serving.stop()
            await parts.client.close()

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        """Post one message under its key.

        Raises:
            SendFailed: the homeserver refused.
        """
        return await self._started.posting.send(message)

    async def find_sent(self, message: OutgoingMessage) -> Sent | None:
        """Return nothing: a message under a transaction id is sent again instead."""
        log.debug("nothing_to_read_back", key=message.key)
        return None

    async def edit(self, message_id: str, message: OutgoingMessage) -> None:
        """Give a message of the agent another text.

        Raises:
            SendFailed: the homeserver refused.
        """
        await self._started.posting.edit(message_id, message)

    async def withdraw(self, message: SentMessage) -> None:
        """Redact a message of the agent.

        Raises:
            SendFailed: the homeserver refused.
        """
        await self._started.posting.withdraw(message)

    async def history(self, server: ServerRef, channel: ChannelRef, limit: int) -> Sequence[HistoryMessage]:
        """Return the last messages of a room or thread, oldest first."""
        log.debug("history_read", server=server.external_id, channel=channel.external_id)
        return await self._started.reading.history(channel, limit)

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """Return what a file holds that came with a message.

        Raises:
            FileRefused: it cannot be read, or is larger than `limit`.
        """
        return await self._started.media.fetch(attachment, min(limit, self.settings.file_limit * MEBIBYTE))

    async def typing(self, channel: ChannelRef) -> None:
        """Show that an answer is being written."""
        await self._started.posting.typing(channel)

    @property
    def _started(self) -> _Parts:
        if self._parts is None:
            raise RuntimeError("the bridge was not started")
        return self._parts
