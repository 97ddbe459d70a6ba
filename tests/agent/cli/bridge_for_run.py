"""A bridge that tells a test, by files, what happens to it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from agent.bridge import BridgeHost, Capabilities, HistoryMessage, OutgoingMessage, Sent, SentMessage
from agent.clock import SystemClock
from agent.events import Attachment, Author, MessageCreated
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import ChannelRef, ServerRef
from agent.settings import Section


class RunSettings(Section):
    folder: str
    token: str = ""
    say: str = ""
    start_seconds: float = 0.0
    stop_seconds: float = 0.0


class RunBridge:
    Settings = RunSettings
    name = "forrun"
    platform = "forrun"
    capabilities = Capabilities(2000, has_idempotency_key=True, typing=False)

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings

    def identity(self) -> str:
        return self.settings.token

    def agent_keys(self) -> frozenset[ParticipantKey]:
        return frozenset()

    async def start(self, host: BridgeHost) -> None:
        self._tell("starting")
        await asyncio.sleep(self.settings.start_seconds)
        if self.settings.say:
            await host.receive(
                MessageCreated(
                    "forrun",
                    "e1",
                    "m1",
                    ServerRef("forrun", "s", "s"),
                    ChannelRef("c", "c"),
                    Author(ParticipantKind.DISCORD_USER, "1", "ana"),
                    self.settings.say,
                    SystemClock().now(),
                    mentions_agent=True,
                )
            )
        self._tell("started")

    async def stop(self) -> None:
        self._tell("stopping")
        await asyncio.sleep(self.settings.stop_seconds)
        self._tell("stopped")

    async def send(self, message: OutgoingMessage) -> Sent:
        self._tell("sent")
        return Sent(message.key)

    async def edit(self, message_id: str, message: OutgoingMessage) -> None:
        raise AssertionError("nothing is edited")

    async def withdraw(self, message: SentMessage) -> None:
        raise AssertionError("nothing is withdrawn")

    async def find_sent(self, message: OutgoingMessage) -> Sent | None:
        return None

    async def history(self, server: ServerRef, channel: ChannelRef, limit: int) -> Sequence[HistoryMessage]:
        return ()

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        raise AssertionError(f"nobody asks for {attachment} of {limit}")

    async def typing(self, channel: ChannelRef) -> None:
        raise AssertionError("it cannot show that")

    def _tell(self, what: str) -> None:
        (Path(self.settings.folder) / what).touch()
