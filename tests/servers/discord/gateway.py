"""The gateway: identify, resume, heartbeats, members by chunks; and the ways in which it fails."""

import asyncio
import contextlib
import json
from collections.abc import Callable

from aiohttp import WSMsgType, web

from tests.servers.discord import payloads
from tests.servers.discord.changes import Changes
from tests.servers.discord.errors import DiscordError
from tests.servers.discord.events import KNOWN, PRIVILEGED, Event, Intent, is_visible, shard_of, told_to
from tests.servers.discord.held import Held
from tests.servers.discord.members import chunks
from tests.servers.discord.records import JSON
from tests.servers.discord.sessions import Session, Socket
from tests.servers.discord.world import World

HEARTBEAT_MS = 41_250
FRAME_LIMIT = 4096


class GatewayError(Exception):
    """A frame after which Discord closes the connection."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


class Gateway:
    """Sessions and sockets of the one bot that is under test."""

    def __init__(self, world: World, changes: Changes, token: str) -> None:
        self.world = world
        self.changes = changes
        self.token = token
        self.allowed = PRIVILEGED
        """The privileged intents that are switched on in the developer portal."""
        self.sessions: dict[str, Session] = {}
        self.sockets: set[Socket] = set()
        self.received: list[JSON] = []
        """Every frame that a client sent."""
        self.closes: list[int] = []
        """The codes with which this side closed connections."""
        self.deaf = False
        """Answer no heartbeat."""
        self.forgets = False
        """Refuse every attempt to resume (op 9, false)."""
        self.replays = 0
        """How many events that were already told are told again at a resume."""
        self.heartbeat_ms = HEARTBEAT_MS
        self.url: Callable[[], str] = str
        self.held: Held | None = None
        self.happened: list[Event] = []

    def emit(self, name: str, data: JSON, *, guild_id: int | None = None, channel_id: int | None = None) -> None:
        """Tell every session that may hear of it, or keep it while events are held."""
        event = Event(name, data, guild_id, channel_id)
        self.happened.append(event)
        if self.held is not None and self.held.takes(event):
            self.held.keep(event)
        else:
            self.tell(event)
        self.changes.notify()

    def tell(self, event: Event) -> None:
        if not is_visible(self.world, event):
            return
        for session in self.sessions.values():
            if (data := told_to(self.world, event, session.intents, session.shard)) is not None:
                session.tell(event.name, data)

    # What goes wrong

    def drop(self, code: int | None = None) -> None:
        """Lose every connection: with a close code, or without a word. The sessions stay and can be resumed."""
        for socket in list(self.sockets):
            if socket.session is not None:
                socket.session.socket = None
            if code is None:
                socket.abort()
            else:
                self._close(socket, code, "")

    def reconnect(self) -> None:
        """Ask every client to reconnect and resume (op 7)."""
        for socket in self.sockets:
            socket.send(7, None)

    def invalidate(self, *, resumable: bool) -> None:
        """Call every session invalid (op 9). Unless it is resumable the session is gone, with all that it missed."""
        for socket in list(self.sockets):
            if not resumable and socket.session is not None:
                self.sessions.pop(socket.session.id, None)
                socket.session.socket = None
            socket.send(9, resumable)

    # A connection

    async def serve(self, request: web.Request) -> web.StreamResponse:
        response = web.WebSocketResponse(max_msg_size=1 << 20, autoping=True)
        await response.prepare(request)
        socket = Socket(response, request)
        self.sockets.add(socket)
        socket.send(10, {"heartbeat_interval": self.heartbeat_ms, "_trace": []})
        writer = asyncio.create_task(socket.write())
        try:
            await self._listen(socket)
        finally:
            self._left(socket)
            socket.queue.put_nowait(None)
            with contextlib.suppress(ConnectionError):
                await writer
        return response

    async def _listen(self, socket: Socket) -> None:
        async for message in socket.response:
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                self._handle(socket, _frame(message.data))
            except GatewayError as error:
                self._close(socket, error.code, error.reason)
            self.changes.notify()

    def _close(self, socket: Socket, code: int, reason: str) -> None:
        self.closes.append(code)
        socket.close(code, reason)

    def _left(self, socket: Socket) -> None:
        self.sockets.discard(socket)
        session = socket.session
        if session is None or session.socket is not socket:
            return
        session.socket = None
        if socket.response.close_code in {1000, 1001}:
            self.sessions.pop(session.id, None)
        self.changes.notify()

    def _handle(self, socket: Socket, frame: JSON) -> None:
        self.received.append(frame)
        op, data = frame.get("op"), frame.get("d")
        if op == 1:
            if not self.deaf:
                socket.send(11, None)
            return
        if op in {2, 6}:
            self._authenticate(socket, data, resumes=op == 6)
            return
        if op not in {3, 4, 8}:
            raise GatewayError(4001, "Unknown opcode.")
        if socket.session is None:
            raise GatewayError(4003, "Not authenticated.")
        if op == 3:
            socket.session.presence = frame["d"]
        if op == 8:
            self._members(socket.session, frame["d"])

    def _authenticate(self, socket: Socket, data: JSON | None, *, resumes: bool) -> None:
        if socket.session is not None:
            raise GatewayError(4005, "Already authenticated.")
        if not isinstance(data, dict) or data.get("token") != self.token:
            raise GatewayError(4004, "Authentication failed.")
        if resumes:
            self._resume(socket, data)
        else:
            self._identify(socket, data)

    def _identify(self, socket: Socket, data: JSON) -> None:
        intents = data.get("intents")
        if not isinstance(intents, int) or intents & ~int(KNOWN):
            raise GatewayError(4013, "Invalid intent(s).")
        if Intent(intents) & PRIVILEGED & ~self.allowed:
            raise GatewayError(4014, "Disallowed intent(s).")
        number, count = data.get("shard") or (0, 1)
        if not 0 <= number < count:
            raise GatewayError(4010, "Invalid shard.")
        session = Session(Intent(intents), (number, count), presence=data.get("presence"), socket=socket)
        socket.session = session
        self.sessions[session.id] = session
        here = [
            guild
            for guild in self.world.guilds.values()
            if (guild.id, self.world.bot.id) in self.world.members and shard_of(guild.id, count) == number
        ]
        session.tell("READY", self._ready(session, [{"id": str(guild.id), "unavailable": True} for guild in here]))
        for guild in here:
            whole = payloads.guild_create(self.world, guild, unavailable=False)
            event = Event("GUILD_CREATE", whole, guild.id)
            if (told := told_to(self.world, event, session.intents, session.shard)) is not None:
                session.tell("GUILD_CREATE", told)

    def _ready(self, session: Session, guilds: list[JSON]) -> JSON:
        return {
            "v": 10,
            "user": payloads.user(self.world.bot) | {"verified": True, "mfa_enabled": True, "email": None},
            "guilds": guilds,
            "session_id": session.id,
            "resume_gateway_url": self.url(),
            "shard": list(session.shard),
            "application": {"id": str(self.world.application_id), "flags": self.flags},
            "private_channels": [],
            "_trace": [],
        }

    @property
    def flags(self) -> int:
        """The application's flags: which privileged intents it has, as a bot of few servers."""
        bits = {Intent.GUILD_PRESENCES: 1 << 13, Intent.GUILD_MEMBERS: 1 << 15, Intent.MESSAGE_CONTENT: 1 << 19}
        return sum(bit for intent, bit in bits.items() if intent in self.allowed)

    def _resume(self, socket: Socket, data: JSON) -> None:
        session = self.sessions.get(str(data.get("session_id")))
        seq = data.get("seq")
        if session is None or self.forgets or not isinstance(seq, int):
            if session is not None:
                self.sessions.pop(session.id)
            socket.send(9, False)
            return
        frames = session.missed(max(0, seq - self.replays))
        if frames is None:
            raise GatewayError(4007, "Invalid seq.")
        socket.session = session
        session.socket = socket
        for frame in frames:
            socket.send_text(frame)
        session.tell("RESUMED", {"_trace": []})

    def _members(self, session: Session, data: JSON) -> None:
        everybody = data.get("query") == "" and not data.get("limit")
        if everybody and Intent.GUILD_MEMBERS not in session.intents:
            raise GatewayError(4014, "Disallowed intent(s).")
        try:
            found = chunks(self.world, data)
        except DiscordError as error:
            raise GatewayError(4002, f"Decode error: {error}") from error
        for chunk in found:
            session.tell("GUILD_MEMBERS_CHUNK", chunk)


def _frame(text: str) -> JSON:
    if len(text.encode()) > FRAME_LIMIT:
        raise GatewayError(4002, "Decode error: the frame is too long.")
    try:
        frame = json.loads(text)
    except ValueError as error:
        raise GatewayError(4002, "Decode error.") from error
    if not isinstance(frame, dict):
        raise GatewayError(4002, "Decode error.")
    return frame
