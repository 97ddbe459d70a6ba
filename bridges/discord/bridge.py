"""The bridge to Discord: one bot, all its servers."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import nextcord

from agent import logs
from agent.bridge import Capabilities, HistoryMessage, OutcomeUnknown, OutgoingMessage, SendFailed, Sent, SentMessage
from agent.clock import Clock, SystemClock
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import ServerKind
from bridges.discord.bodies import MESSAGE_LIMIT, PERSONA_ROOM
from bridges.discord.cards import CARD_LIMIT
from bridges.discord.client import DiscordClient, intents_for, use_bases
from bridges.discord.commands.serving import Serving
from bridges.discord.connection import AGAIN, Connection
from bridges.discord.escaping import escaped_length
from bridges.discord.finding import Finding
from bridges.discord.guilds import Guilds
from bridges.discord.incoming import Incoming, agent_key
from bridges.discord.lanes import Lanes
from bridges.discord.missed import Missed
from bridges.discord.places import PLATFORM
from bridges.discord.posting import Posting
from bridges.discord.presence import LOOK_EVERY, StatusLight
from bridges.discord.reading import Reading
from bridges.discord.refusals import NO_PERMISSION, Refused
from bridges.discord.reporting import Reporting
from bridges.discord.settings import DiscordSettings
from bridges.discord.voices import Voices
from bridges.discord.watching import Watching
from bridges.discord.webhooks import Webhooks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.bridge import BridgeHost
    from agent.events import Attachment
    from agent.hookspecs import Health
    from agent.places import ChannelRef, ServerRef
    from agent.setup import Setup

log = logs.get_logger(__name__)

CAPABILITIES: Final = Capabilities(
    MESSAGE_LIMIT,
    has_idempotency_key=True,
    card_limit=CARD_LIMIT,
    card_measure=escaped_length,
    actions=True,
    persona_keys=False,
    key_seconds=90.0,
    persona_room=PERSONA_ROOM,
    code_files=True,
)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What there is of the bridge from its start on."""

    client: DiscordClient
    guilds: Guilds
    connection: Connection
    posting: Posting
    finding: Finding
    reporting: Reporting
    reading: Reading
    missed: Missed
    light: StatusLight
    voices: Voices


class DiscordBridge:
    """The agent in Discord."""

    Settings = DiscordSettings
    name = "discord"
    platform = PLATFORM

    def __init__(self, settings: DiscordSettings, *, clock: Clock | None = None) -> None:
        self.settings = settings
        self.capabilities = CAPABILITIES
        self._clock = clock or SystemClock()
        self._lanes = Lanes()
        self._parts: _Parts | None = None
        self._commands: Serving | None = None

    @staticmethod
    def setup(setup: Setup) -> None:
        """Ask for the token, and write what the agent needs (`isthmus setup discord`).

        Raises:
            SetupFailed: Discord took no token, or something could not be written.
        """
        from bridges.discord.setting_up import set_up

        set_up(setup)

    async def health(self) -> Sequence[Health]:
        """Say what Discord thinks of the token, the intents and the permissions (`isthmus doctor`)."""
        from bridges.discord.checking import health

        return await health(self.settings)

    def identity(self) -> str:
        """Return the bot's id, which stands in the token, or a hash of a token of another form."""
        token = self.settings.token.resolve().get_secret_value()
        first = token.partition(".")[0]
        try:
            identifier = base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)).decode("ascii")
        except (binascii.Error, UnicodeDecodeError):
            identifier = ""
        return identifier if identifier.isdecimal() else hashlib.sha256(token.encode()).hexdigest()[:16]

    def agent_keys(self) -> frozenset[ParticipantKey]:
        """Return the agent's own account, once it is logged in, and the webhooks of its personas."""
        if self._parts is None or not self._parts.guilds.is_known:
            return frozenset()
        guilds = self._parts.guilds
        hooks = (ParticipantKey(ParticipantKind.WEBHOOK, each) for each in guilds.own_webhooks)
        return frozenset({agent_key(guilds.agent_id), *hooks})

    async def start(self, host: BridgeHost) -> None:
        """Log in and bring events.

        Raises:
            BridgeStartFailed: with the way out.
        """
        use_bases(self.settings.api_base, self.settings.cdn_base)
        intents = intents_for(message_content=self.settings.message_content, members=self.settings.members)
        client = DiscordClient(intents=intents, ready_seconds=self.settings.ready_seconds)
        guilds = Guilds(client, self.settings.allowed_bots)
        incoming = Incoming(guilds, host, self._lanes, self._clock)
        reading, connection = Reading(client, incoming, host), Connection(client, self.settings, AGAIN)
        missed = Missed(client, reading, incoming, self._lanes, self._clock)
        state = host.state(self.name)
        webhooks, reporting = Webhooks(client, guilds, state), Reporting(client, state)
        posting, finding = Posting(client, guilds, webhooks, reporting), Finding(guilds, reading, host)

        def take(kind: str, data: Mapping[str, Any]) -> None:
            if not posting.has_withdrawn(kind, data):
                incoming.take(kind, data)

        client.payloads.sink = take
        light = StatusLight(client, host, self.settings.status, LOOK_EVERY)
        voices = Voices(client, guilds, posting, finding)
        self._parts = _Parts(client, guilds, connection, posting, finding, reporting, reading, missed, light, voices)
        watching = Watching(host, self._lanes, state)
        client.watching, client.on_session = watching, partial(_session, client, watching, missed, light)
        client.payloads.on_begin = missed.begin
        await webhooks.load()
        await missed.start(state)
        self._commands = Serving(client, host, guilds, incoming, reading)
        try:
            await connection.open()
            await self._commands.declare(state)
            light.start()
        except BaseException:
            await connection.close()
            raise

    async def stop(self) -> None:
        """Close the connection and drop what was not taken yet; it is found again in the history."""
        if self._commands is not None:
            await self._commands.stop()
        if self._parts is not None:
            await self._parts.light.stop()
            await self._parts.reporting.stop()
            await self._parts.connection.close()
        await self._lanes.stop()
        if self._parts is not None:
            await self._parts.missed.stop()

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        """Post one message under its key.

        Raises:
            SendFailed: Discord refused.
        """
        return await self._started.posting.send(message)

    def undelivered(self, message: OutgoingMessage, reason: str) -> None:
        """Tell whoever asked that a message was given up, unless that was told already."""
        failure = SendFailed(reason) if self.may_post(message) else Refused(reason, NO_PERMISSION)
        self._started.reporting.undelivered(message, failure)

    async def find_sent(self, message: OutgoingMessage) -> Sent | None:
        """Look for a message in the history of its channel.

        Raises:
            Exception: the history does not tell.
        """
        return await self._started.finding.find(message)

    async def edit(self, message_id: str, message: OutgoingMessage) -> None:
        """Give a message of the agent another text.

        Raises:
            SendFailed: Discord refused, or it is gone.
        """
        await self._started.posting.edit(message_id, message)

    async def withdraw(self, message: SentMessage) -> None:
        """Delete a message of the agent.

        Raises:
            SendFailed: Discord refused.
        """
        await self._started.posting.withdraw(message)

    async def history(self, server: ServerRef, channel: ChannelRef, limit: int) -> Sequence[HistoryMessage]:
        """Return the last messages of a channel, oldest first."""
        return await self._started.reading.history(server, channel, limit)

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """Return what a file holds that came with a message.

        Raises:
            FileRefused: it cannot be read, or is larger than `limit`.
        """
        return await self._started.reading.fetch(attachment, limit)

    def may_post(self, message: OutgoingMessage) -> bool:
        """Tell whether the agent, or its persona through a webhook, may write in a channel; True where not known."""
        channel = message.channel
        if message.server.kind is ServerKind.DIRECT or not channel.external_id.isdecimal():
            return True
        allowed = self._started.guilds.permissions(int(channel.external_id))
        if allowed is None or (message.persona_name is not None and allowed.manage_webhooks):
            return True
        may_write = allowed.send_messages if channel.parent_external_id is None else allowed.send_messages_in_threads
        return allowed.view_channel and may_write

    def may_send_files(self, channel: ChannelRef) -> bool:
        """Tell whether the agent may attach files in a channel; True where that is not known."""
        allowed = self._started.guilds.permissions(int(channel.external_id))
        return allowed is None or allowed.attach_files

    async def typing(self, channel: ChannelRef) -> None:
        """Show that an answer is being written."""
        try:
            await self._started.client.http.send_typing(int(channel.external_id))
        except (nextcord.HTTPException, aiohttp.ClientError, OSError, ValueError) as error:
            log.debug("typing_not_shown", reason=type(error).__name__)

    @property
    def mouthpiece(self) -> Voices | None:
        """What lets people from elsewhere speak here (`agent.relaying.mouthpiece.Mouthpiece`), from the start on."""
        return None if self._parts is None else self._parts.voices

    @property
    def _started(self) -> _Parts:
        if self._parts is None:
            raise RuntimeError("the bridge was not started")
        return self._parts


async def _session(
    client: DiscordClient, watching: Watching, missed: Missed, light: StatusLight, shard_id: int
) -> None:
    """Catch up with what has happened before a session of a shard."""
    light.session_began()
    missed.catch_up(shard_id)
    present = {guild.id for guild in client.guilds}
    await watching.session(present, lambda guild_id: (guild_id >> 22) % (client.shard_count or 1) == shard_id)
