"""A bridge to the fake platform: of this process, or of the one whose socket the settings name.

[bridges.fake]
module = "agent.testing.fake_bridge"
socket = "platform.sock"
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import Field

from agent.bridge import Capabilities
from agent.identity.keys import ParticipantKey
from agent.settings import Section
from agent.testing.fake_values import AGENT_KEY, ConnectionLost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.bridge import BridgeHost, HistoryMessage, OutcomeUnknown, OutgoingMessage, Sent, SentMessage
    from agent.events import Attachment
    from agent.places import ChannelRef, ServerRef
    from agent.testing.fake_platform import FakePlatform

__all__ = ["FakeBridge", "FakeBridgeSettings", "bridge_section"]


class FakeBridgeSettings(Section):
    """`[bridges.fake]`: where the platform is served, and what it is like (`bridge_section` writes them)."""

    socket: str = ""
    """The path of the unix socket; empty for a platform of this process."""
    platform: str = "fake"
    identity: str = ""
    has_idempotency_key: bool = True
    message_limit: int = Field(default=2000, ge=1)
    length_unit: str = "characters"
    typing: bool = True
    card_limit: int = Field(default=4096, ge=100)
    actions: bool = False
    files: bool = True
    withdraws: bool = True
    edits: bool = True


def bridge_section(platform: FakePlatform, socket: Path) -> dict[str, Any]:
    """Return the section `[bridges.fake]` of plugins.toml for an agent that shall reach a platform at a socket."""
    capabilities = platform.capabilities
    return {
        "module": __name__,
        "socket": str(socket),
        "platform": platform.name,
        "identity": platform.identity,
        "has_idempotency_key": capabilities.has_idempotency_key,
        "message_limit": capabilities.message_limit,
        "length_unit": capabilities.length_unit,
        "typing": capabilities.typing,
        "card_limit": capabilities.card_limit,
        "actions": capabilities.actions,
        "files": capabilities.files,
        "withdraws": capabilities.withdraws,
        "edits": capabilities.edits,
    }


class _Reachable(Protocol):
    """A platform as the bridge uses it."""

    async def start(self, host: BridgeHost) -> None: ...

    async def stop(self) -> None: ...

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown: ...

    async def find_sent(self, message: OutgoingMessage) -> Sent | None: ...

    async def edit(self, message_id: str, message: OutgoingMessage) -> None: ...

    async def withdraw(self, message: SentMessage) -> None: ...

    async def history(self, channel: ChannelRef, limit: int) -> Sequence[HistoryMessage]: ...

    async def fetch(self, attachment: Attachment, limit: int) -> bytes: ...

    async def typing(self, channel: ChannelRef) -> None: ...


class FakeBridge:
    """The bridge of a `FakePlatform`.

    Args:
        settings: For a platform of another process.
        platform: The platform of this process; it wins over the settings.

    """

    Settings = FakeBridgeSettings
    name = "fake"

    def __init__(self, settings: FakeBridgeSettings | None = None, *, platform: FakePlatform | None = None) -> None:
        settings = settings or FakeBridgeSettings()
        self.platform = platform.name if platform else settings.platform
        self.capabilities = platform.capabilities if platform else _capabilities(settings)
        self._identity = platform.identity if platform else settings.identity
        self._there = _there(settings, platform)

    def identity(self) -> str:
        """Return what only one process may hold at a time."""
        return self._identity

    def agent_keys(self) -> frozenset[ParticipantKey]:
        """Return the agent's account, which is the same on every fake platform."""
        return frozenset({AGENT_KEY})

    async def start(self, host: BridgeHost) -> None:
        """Connect; what was missed follows at once.

        Raises:
            BridgeStartFailed: no platform is served at the socket.
        """
        await self._there.start(host)

    async def stop(self) -> None:
        """Let go of the platform."""
        await self._there.stop()

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        """Post one message under its key.

        Raises:
            SendFailed: the platform refused.
        """
        return await self._there.send(message)

    async def find_sent(self, message: OutgoingMessage) -> Sent | None:
        """Look for a message of unknown outcome.

        Raises:
            ConnectionLost: the platform cannot be reached.
        """
        return await self._there.find_sent(message)

    async def edit(self, message_id: str, message: OutgoingMessage) -> None:
        """Give a message of the agent another text.

        Raises:
            SendFailed: the platform refused.
            ConnectionLost: it cannot be reached.
        """
        await self._there.edit(message_id, message)

    async def withdraw(self, message: SentMessage) -> None:
        """Delete a message of the agent.

        Raises:
            SendFailed: the platform refused.
            ConnectionLost: it cannot be reached.
        """
        await self._there.withdraw(message)

    async def history(
        self,
        server: ServerRef,  # noqa: ARG002  # a channel's id says its server too
        channel: ChannelRef,
        limit: int,
    ) -> Sequence[HistoryMessage]:
        """Return the last messages of a channel, oldest first.

        Raises:
            ConnectionLost: the platform cannot be reached.
        """
        return await self._there.history(channel, limit)

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """Return what a file holds that was uploaded to the platform.

        Raises:
            FileRefused: it is not there, or larger than `limit`.
            ConnectionLost: the platform cannot be reached.
        """
        return await self._there.fetch(attachment, limit)

    async def typing(self, channel: ChannelRef) -> None:
        """Show that an answer is being written."""
        await self._there.typing(channel)


class _Here:
    """A platform of this process."""

    def __init__(self, platform: FakePlatform) -> None:
        self._platform = platform
        self._host: BridgeHost | None = None

    async def start(self, host: BridgeHost) -> None:
        await self.stop()
        self._host = host
        self._platform.events.connect(host)

    async def stop(self) -> None:
        host, self._host = self._host, None
        if host is not None:
            await self._platform.events.disconnect(host)

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        return await self._platform.sends.post(message)

    async def find_sent(self, message: OutgoingMessage) -> Sent | None:
        if not self._platform.events.is_up:
            raise ConnectionLost("the connection to the fake platform is lost")
        return self._platform.sends.find(message)

    async def edit(self, message_id: str, message: OutgoingMessage) -> None:
        await self._platform.changes.edit(message_id, message)

    async def withdraw(self, message: SentMessage) -> None:
        await self._platform.changes.withdraw(message)

    async def history(self, channel: ChannelRef, limit: int) -> Sequence[HistoryMessage]:
        return await self._platform.history(channel, limit)

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        return self._platform.fetch(attachment, limit)

    async def typing(self, channel: ChannelRef) -> None:
        self._platform.typing.append(channel)


def _there(settings: FakeBridgeSettings, platform: FakePlatform | None) -> _Reachable:
    if platform is not None:
        return _Here(platform)
    if not settings.socket:
        raise ValueError("a FakeBridge needs a platform, or the socket at which one is served")
    from agent.testing.fake_remote import RemotePlatform

    return RemotePlatform(Path(settings.socket))


def _capabilities(settings: FakeBridgeSettings) -> Capabilities:
    return Capabilities(
        settings.message_limit,
        settings.has_idempotency_key,
        typing=settings.typing,
        length_unit=settings.length_unit,
        card_limit=settings.card_limit,
        actions=settings.actions,
        files=settings.files,
        withdraws=settings.withdraws,
        edits=settings.edits,
    )
