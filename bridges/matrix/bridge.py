"""The bridge to Matrix: one account, all its rooms."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from agent import logs
from agent.bridge import BridgeStartFailed, Capabilities, HistoryMessage, OutcomeUnknown, OutgoingMessage, Sent
from agent.clock import Clock, SystemClock
from agent.files import MEBIBYTE
from agent.identity.keys import ParticipantKey, ParticipantKind
from bridges.matrix.client import NETWORK, MatrixError
from bridges.matrix.parts import Parts, build
from bridges.matrix.places import PLATFORM
from bridges.matrix.settings import MatrixSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.bridge import BridgeHost, SentMessage
    from agent.events import Attachment
    from agent.hookspecs import Health
    from agent.places import ChannelRef, ServerRef
    from agent.setup import Setup
    from bridges.matrix.joining import Joining
    from bridges.matrix.syncing import Syncing

log = logs.get_logger(__name__)

CARD_LIMIT: Final = 8_000
"""Bytes of a notice's card; the rest goes along as a file."""


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
        self._parts: Parts | None = None

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
        settings = self.settings
        folder = (settings.store or host.folder(self.name)) if settings.encryption else None
        state = host.state(self.name)
        parts = self._parts = build(host, state, settings, self._clock)
        parts.syncing.log_in_again = partial(parts.login.renew, folder)
        try:
            await parts.login.open()
            if folder is not None:
                await parts.login.open_keys(folder)
                await parts.encryption.load()
            await parts.world.load(state)
            await parts.serving.start()
            await self._begin(parts.joining, parts.syncing)
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
    def _started(self) -> Parts:
        if self._parts is None:
            raise RuntimeError("the bridge was not started")
        return self._parts
