"""The fake platform across processes: served on a unix socket in the test, reached from the agent's process."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final

from agent.bridge import BridgeStartFailed, OutcomeUnknown, SendFailed, Sent
from agent.files import FileRefused
from agent.testing import fake_codec as codec
from agent.testing.fake_values import ConnectionLost
from agent.testing.wire import LINE_LIMIT, CallFailed, Peer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from agent.bridge import BridgeHost, HistoryMessage, OutgoingMessage, SentMessage
    from agent.commands import CommandReply
    from agent.directory_changes import DirectoryChange
    from agent.events import Attachment, Author, Event
    from agent.places import ChannelRef, ServerRef
    from agent.testing.fake_platform import FakePlatform

PATIENCE: Final = 10.0
"""Seconds that an agent waits at its start for a platform that is not there yet."""
_PAUSE: Final = 0.02


class RemoteAgent:
    """An agent in another process, as the platform sees it (`fake_delivery.Listener`)."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def receive(self, event: Event) -> None:
        """Tell of an event; returns when it is acknowledged."""
        await self._peer.call("receive", codec.dump(codec.EVENT, event))

    async def observe(self, change: DirectoryChange) -> None:
        """Tell of members, channels or a server."""
        await self._peer.call("observe", codec.dump(codec.CHANGE, change))

    async def run_command(
        self, path: tuple[str, ...], options: dict[str, Any], server: ServerRef, channel: ChannelRef, author: Author
    ) -> CommandReply:
        """Run a command."""
        place = {"server": codec.dump(codec.SERVER, server), "channel": codec.dump(codec.CHANNEL, channel)}
        data = {"path": path, "options": options, **place, "author": codec.dump(codec.AUTHOR, author)}
        reply: CommandReply = codec.load(codec.REPLY, await self._peer.call("run_command", data))
        return reply

    async def stop_turn(self, server: ServerRef, channel: ChannelRef) -> bool:
        """Abort the running turn of a channel."""
        place = {"server": codec.dump(codec.SERVER, server), "channel": codec.dump(codec.CHANNEL, channel)}
        return bool(await self._peer.call("stop_turn", place))


@contextlib.asynccontextmanager
async def serve(platform: FakePlatform, path: Path) -> AsyncIterator[None]:
    """Serve a platform on a unix socket (its path may be about 100 bytes long) for agents of other processes."""
    peers: set[Peer] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(reader, writer, lambda name, data: _answer(platform, name, data))
        if not platform.events.is_up:
            await peer.close()
            return
        agent = RemoteAgent(peer)
        peers.add(peer)
        platform.events.connect(agent)
        try:
            await peer.run()
        finally:
            peers.discard(peer)
            await platform.events.disconnect(agent)

    server = await asyncio.start_unix_server(connected, path, limit=LINE_LIMIT)

    def cut() -> None:
        for peer in peers:
            peer.abort()

    platform.on_lost(cut)
    try:
        yield
    finally:
        server.close()
        for peer in list(peers):
            await peer.close()
        await server.wait_closed()


async def _answer(platform: FakePlatform, name: str, data: Any) -> Any:
    match name:
        case "send":
            try:
                return codec.dump_outcome(await platform.sends.post(codec.load(codec.MESSAGE, data)))
            except SendFailed as failure:
                raise codec.as_call_failed(failure) from failure
        case "find_sent":
            return codec.dump_outcome(platform.sends.find(codec.load(codec.MESSAGE, data)))
        case "edit" | "withdraw":
            await _change(platform, name, data)
            return None
        case "history":
            channel = codec.load(codec.CHANNEL, data["channel"])
            return codec.dump_history(await platform.history(channel, data["limit"]))
        case "fetch":
            try:
                return platform.fetch(codec.load(codec.ATTACHMENT, data["attachment"]), data["limit"]).hex()
            except FileRefused as refused:
                raise CallFailed("FileRefused", str(refused)) from refused
        case "hello":
            return None
        case "typing":
            platform.typing.append(codec.load(codec.CHANNEL, data))
            return None
        case _:
            raise CallFailed("NoSuchCall", name)


async def _change(platform: FakePlatform, name: str, data: Any) -> None:
    try:
        if name == "edit":
            await platform.changes.edit(data["message_id"], codec.load(codec.MESSAGE, data["message"]))
        else:
            await platform.changes.withdraw(codec.load(codec.SENT, data))
    except SendFailed as failure:
        raise codec.as_call_failed(failure) from failure


class RemotePlatform:
    """A platform of another process, as the bridge sees it; connects again whenever the connection is lost."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._peer: Peer | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self, host: BridgeHost) -> None:
        """Connect, waiting a while for a platform that is not there yet.

        Raises:
            BridgeStartFailed: it did not come.
        """
        await self.stop()
        try:
            async with asyncio.timeout(PATIENCE):
                reading = await self._connect(host)
        except TimeoutError:
            await self.stop()
            raise BridgeStartFailed(
                f"bridge fake: no platform is served at {self._path}: serve one there, or set enabled = false"
            ) from None
        self._task = asyncio.create_task(self._stay(reading, host), name="connection to the fake platform")

    async def stop(self) -> None:
        """Close the connection."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        peer, self._peer = self._peer, None
        if peer is not None:
            await peer.close()

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        """Post a message."""
        try:
            outcome = codec.load_outcome(await self._call("send", codec.dump(codec.MESSAGE, message)))
        except ConnectionLost as error:
            return OutcomeUnknown(str(error))
        except CallFailed as failure:
            raise codec.as_send_failed(failure) from failure
        return outcome or OutcomeUnknown("the fake platform gave no outcome")

    async def find_sent(self, message: OutgoingMessage) -> Sent | None:
        """Look for a message of unknown outcome."""
        found = codec.load_outcome(await self._call("find_sent", codec.dump(codec.MESSAGE, message)))
        return found if isinstance(found, Sent) else None

    async def edit(self, message_id: str, message: OutgoingMessage) -> None:
        """Give a message of the agent another text."""
        await self._change("edit", {"message_id": message_id, "message": codec.dump(codec.MESSAGE, message)})

    async def withdraw(self, message: SentMessage) -> None:
        """Delete a message of the agent."""
        await self._change("withdraw", codec.dump(codec.SENT, message))

    async def _change(self, name: str, data: Any) -> None:
        try:
            await self._call(name, data)
        except CallFailed as failure:
            raise codec.as_send_failed(failure) from failure

    async def history(self, channel: ChannelRef, limit: int) -> Sequence[HistoryMessage]:
        """Return the last messages of a channel."""
        data = {"channel": codec.dump(codec.CHANNEL, channel), "limit": limit}
        messages: tuple[HistoryMessage, ...] = codec.load(codec.HISTORY, await self._call("history", data))
        return messages

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """Return what a file holds that was uploaded."""
        try:
            found = await self._call("fetch", {"attachment": codec.dump(codec.ATTACHMENT, attachment), "limit": limit})
        except CallFailed as failure:
            raise FileRefused(failure.args[-1]) from failure
        return bytes.fromhex(found)

    async def typing(self, channel: ChannelRef) -> None:
        """Show that an answer is being written, if anybody is there to see it."""
        with contextlib.suppress(ConnectionLost):
            await self._call("typing", codec.dump(codec.CHANNEL, channel))

    async def _call(self, name: str, data: Any) -> Any:
        if self._peer is None:
            raise ConnectionLost("the fake platform is not connected")
        return await self._peer.call(name, data)

    async def _connect(self, host: BridgeHost) -> asyncio.Task[None]:
        """Connect, trying again and again; return the task that reads until the connection is lost."""
        while True:
            with contextlib.suppress(ConnectionError, FileNotFoundError):
                reader, writer = await asyncio.open_unix_connection(self._path, limit=LINE_LIMIT)
                self._peer = Peer(reader, writer, lambda name, data: _serve_agent(host, name, data))
                reading = asyncio.create_task(self._peer.run(), name="reading from the fake platform")
                await self._peer.call("hello")
                return reading
            await asyncio.sleep(_PAUSE)

    async def _stay(self, reading: asyncio.Task[None], host: BridgeHost) -> None:
        """Connect again whenever the connection is lost."""
        while True:
            await asyncio.wait({reading})
            self._peer = None
            await asyncio.sleep(_PAUSE)
            reading = await self._connect(host)


async def _serve_agent(host: BridgeHost, name: str, data: Any) -> Any:
    match name:
        case "receive":
            await host.receive(codec.load(codec.EVENT, data))
            return None
        case "observe":
            await host.observe(codec.load(codec.CHANGE, data))
            return None
        case "run_command":
            place = codec.load(codec.SERVER, data["server"]), codec.load(codec.CHANNEL, data["channel"])
            author = codec.load(codec.AUTHOR, data["author"])
            reply = await host.run_command(tuple(data["path"]), data["options"], *place, author)
            return codec.dump(codec.REPLY, reply)
        case "stop_turn":
            place = codec.load(codec.SERVER, data["server"]), codec.load(codec.CHANNEL, data["channel"])
            return await host.stop_turn(*place)
        case _:
            raise CallFailed("NoSuchCall", name)
