"""A gateway session: what it was told, so that a client that comes back hears what it missed."""

import asyncio
import json
import secrets
from collections import deque
from dataclasses import dataclass, field

from aiohttp import web

from tests.servers.discord.events import Intent
from tests.servers.discord.records import JSON

KEPT = 2000
"""How many events a session can replay."""


@dataclass(slots=True)
class Session:
    """One shard's session. It outlives its socket."""

    intents: Intent
    shard: tuple[int, int]
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    seq: int = 0
    told: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=KEPT))
    socket: "Socket | None" = None
    presence: JSON | None = None

    def tell(self, name: str, data: JSON) -> None:
        """Write an event down, and send it when somebody is connected."""
        self.seq += 1
        frame = json.dumps({"op": 0, "t": name, "s": self.seq, "d": data})
        self.told.append((self.seq, frame))
        if self.socket is not None:
            self.socket.send_text(frame)

    def missed(self, seq: int) -> list[str] | None:
        """The frames after `seq`; None when they are not kept any more or never were."""
        if seq > self.seq or (self.told and seq < self.told[0][0] - 1):
            return None
        return [frame for number, frame in self.told if number > seq]


class Socket:
    """A connection. Frames are put into a queue here and written in order by its own task."""

    def __init__(self, response: web.WebSocketResponse, request: web.Request) -> None:
        self.response = response
        self.request = request
        self.session: Session | None = None
        self.queue: asyncio.Queue[str | tuple[int, bytes] | None] = asyncio.Queue()

    def send_text(self, frame: str) -> None:
        self.queue.put_nowait(frame)

    def send(self, op: int, data: object) -> None:
        self.send_text(json.dumps({"op": op, "d": data, "s": None, "t": None}))

    def close(self, code: int, reason: str = "") -> None:
        """Close after everything that is queued was written."""
        self.queue.put_nowait((code, reason.encode()))

    def abort(self) -> None:
        """Cut the line without a word."""
        if self.request.transport is not None:
            self.request.transport.abort()

    async def write(self) -> None:
        while (frame := await self.queue.get()) is not None:
            if self.response.closed:
                return
            if isinstance(frame, tuple):
                await self.response.close(code=frame[0], message=frame[1], drain=False)
                return
            try:
                await self.response.send_str(frame)
            except ConnectionError:
                return
