"""A chat platform in memory, for tests: people talk, the agent answers, and everything is remembered.

It lives in the test, so it survives the agent: one that was killed and started again finds its history and is told
what it missed. `FakeBridge(platform)` connects an agent of the same process, `serve` one of another process.

    platform = FakePlatform()
    async with running_agent(database_url, bridge=FakeBridge(platform)):
        answer = await platform.ask("ana", "hello")

Channels are named by their path: `general`, the thread `general/plans`, the direct conversation `@ana`.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import islice
from mimetypes import guess_type
from typing import TYPE_CHECKING, Any, Final

from agent.bridge import Capabilities, HistoryMessage
from agent.clock import SystemClock
from agent.events import Attachment, Author, MessageCreated, MessageDeleted, MessageEdited, ReactionAdded, Reply
from agent.files import FileRefused, too_large
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import Visibility
from agent.testing.fake_archive import Archive
from agent.testing.fake_changing import Changing
from agent.testing.fake_delivery import Delivery
from agent.testing.fake_members import Membership
from agent.testing.fake_posting import Posting
from agent.testing.fake_values import (
    AGENT_KEY,
    ConnectionLost,
    FakeMessage,
    NothingCame,
    Replay,
    channel_ref,
    server_ref,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agent.bridge import OutgoingMessage
    from agent.clock import Clock
    from agent.commands import CommandReply
    from agent.places import ChannelRef, ServerRef

PATIENCE: Final = 10.0
"""Seconds that a test waits for what should come at once."""


class FakePlatform:
    """A chat platform.

    Args:
        name: The platform's name, as in `fake:ana`.
        capabilities: What it can do.
        replay: What an agent is told when it connects.
        identity: What only one agent may hold at a time; empty: any number may connect.
        agent_name: What the agent is called here.
        clock: The time of what is said.

    """

    def __init__(
        self,
        name: str = "fake",
        *,
        capabilities: Capabilities | None = None,
        replay: Replay = Replay.MISSED,
        identity: str = "",
        agent_name: str = "Isthmus",
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self.capabilities = capabilities or Capabilities(2000, has_idempotency_key=True)
        self.identity = identity
        self.agent = Author(AGENT_KEY.kind, AGENT_KEY.id, agent_name, is_bot=True)
        self._archive = Archive()
        self.events = Delivery(replay)
        """What the agent is told; its switches double, hold back, reorder and replay events."""
        self.members = Membership(name, self.events)
        """Who is in which server; nobody needs to be, to speak there."""
        self.sends = Posting(self.capabilities, self._put, self._archive.from_agent)
        """What the agent sends; its switches make sends fail, get lost, or take long."""
        self.changes = Changing(self._archive)
        """What the agent does with messages that it has sent; its switches make that fail."""
        self.history_delay = 0.0
        """Seconds that reading history takes."""
        self.typing: list[ChannelRef] = []
        """Where the agent showed that it writes."""
        self._clock = clock or SystemClock()
        self._files: dict[str, bytes] = {}
        self._people: dict[str, Author] = {}
        self._visible: dict[str, Visibility] = {}
        self._number = 1000
        self._given: set[str] = set()
        self._cuts: list[Callable[[], object]] = []

    # What people do -------------------------------------------------------------------------------------------

    def person(
        self,
        name: str,
        *,
        display_name: str | None = None,
        is_bot: bool = False,
        can_manage: bool = False,
        kind: ParticipantKind = ParticipantKind.CONSOLE_USER,
    ) -> Author:
        """Register somebody; `name` is their id here. Who speaks without being registered is an ordinary person."""
        author = Author(kind, name, display_name or name, name, is_bot=is_bot, can_manage=can_manage)
        self._people[name] = author
        return author

    def restrict(self, channel: str, *, server: str = "home") -> None:
        """Let only some members read a channel."""
        self._visible[channel_ref(server, channel).external_id] = Visibility.RESTRICTED

    def place(self, channel: str = "general", *, server: str = "home") -> tuple[ServerRef, ChannelRef]:
        """Return a channel and its server as the agent knows them."""
        found = channel_ref(server, channel)
        if found.visibility is Visibility.EVERYONE:
            visibility = self._visible.get(found.external_id) or self._visible.get(found.parent_external_id or "")
            found = replace(found, visibility=visibility or Visibility.EVERYONE)
        return server_ref(self.name, server, channel), found

    async def say(
        self,
        person: str,
        text: str,
        *,
        channel: str = "general",
        server: str = "home",
        to_agent: bool = True,
        reply_to: FakeMessage | None = None,
        mentions: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
    ) -> FakeMessage:
        """Let somebody say something; returns when the agent, if one is connected, has taken it.

        Args:
            person: Who says it.
            text: What.
            channel: Where, as a path.
            server: In which server.
            to_agent: Whether it mentions the agent.
            reply_to: Which message it answers.
            mentions: The people whom it mentions.
            files: What is uploaded with it, by name.

        Raises:
            EventRefused: the agent raised.

        """
        where = self.place(channel, server=server)
        author = self._people.get(person) or self.person(person)
        message_id = self._next_id()
        said = FakeMessage(message_id, *where, author, text, self._clock.now(), f"created:{message_id}")
        uploaded = self._uploaded(message_id, files or {})
        said = replace(
            said,
            reply_to=reply_to.message_id if reply_to else None,
            attachments=uploaded,
        )
        self._archive.add(said)
        keys = tuple(ParticipantKey((self._people.get(one) or self.person(one)).kind, one) for one in mentions)
        reply = Reply(reply_to.message_id, to_agent=reply_to.from_agent) if reply_to else None
        await self.events.bring(
            MessageCreated(
                self.name, f"created:{message_id}", message_id, *where, author, text, said.occurred_at,
                mentions_agent=to_agent, mentions=keys, reply=reply, attachments=uploaded,
            )
        )  # fmt: skip
        return said

    def _uploaded(self, message_id: str, files: Mapping[str, bytes]) -> tuple[Attachment, ...]:
        found = []
        for name, content in files.items():
            url = f"{self.name}://files/{message_id}/{name}"
            self._files[url] = content
            found.append(Attachment(name, guess_type(name)[0] or "application/octet-stream", len(content), url))
        return tuple(found)

    def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """Return what was uploaded.

        Raises:
            FileRefused: it is not there, or larger than `limit`.
        """
        content = self._files.get(attachment.url)
        if content is None:
            raise FileRefused(f"{attachment.name}: it is not there any more")
        if len(content) > limit:
            raise too_large(attachment.name, limit)
        return content

    async def ask(self, person: str, text: str, *, channel: str = "general", server: str = "home") -> FakeMessage:
        """Say something to the agent and return the first message of its answer."""
        said = await self.say(person, text, channel=channel, server=server)
        return await self.answer(said)

    async def edit(self, message: FakeMessage, text: str, *, mentions_agent: bool = False) -> None:
        """Let its author give a message another text, which may mention the agent."""
        now = self._clock.now()
        self._archive.replace(message, replace(message, text=text))
        event_id = f"edited:{message.message_id}:{self._next_id()}"
        where = (message.server, message.channel)
        await self.events.bring(
            MessageEdited(
                self.name,
                event_id,
                message.message_id,
                *where,
                message.author,
                text,
                now,
                mentions_agent=mentions_agent,
                said_at=message.occurred_at,
                attachments=message.attachments,
            )
        )

    async def delete(self, message: FakeMessage) -> None:
        """Delete a message."""
        self._archive.replace(message, None)
        where = (message.server, message.channel)
        event_id = f"deleted:{message.message_id}"
        await self.events.bring(MessageDeleted(self.name, event_id, message.message_id, *where, self._clock.now()))

    async def react(self, person: str, message: FakeMessage, emoji: str) -> None:
        """Let somebody react to a message."""
        author = self._people.get(person) or self.person(person)
        event_id = f"reaction:{message.message_id}:{self._next_id()}"
        where = (message.server, message.channel)
        await self.events.bring(
            ReactionAdded(self.name, event_id, message.message_id, *where, author, emoji, self._clock.now())
        )

    async def run_command(
        self, person: str, *path: str, channel: str = "general", server: str = "home", **options: Any
    ) -> CommandReply:
        """Let somebody run a command, as in `run_command("ana", "memories", "list", page=2)`."""
        author = self._people.get(person) or self.person(person)
        return await self.events.listener.run_command(path, options, *self.place(channel, server=server), author)

    async def stop_turn(self, channel: str = "general", *, server: str = "home") -> bool:
        """Abort the running turn of a channel."""
        return await self.events.listener.stop_turn(*self.place(channel, server=server))

    # What came of it ------------------------------------------------------------------------------------------

    @property
    def messages(self) -> Sequence[FakeMessage]:
        """Return everything that stands on the platform, oldest first."""
        return self._archive.all

    @property
    def from_agent(self) -> Sequence[FakeMessage]:
        """Return what the agent has posted, oldest first, notices included."""
        return self._archive.from_agent

    def answers_to(self, message: FakeMessage) -> Sequence[FakeMessage]:
        """Return what the agent has answered to a person's message so far, without notices."""
        return () if message.from_agent else self._archive.answers_to(message.event_id)

    def pinged(self, message: FakeMessage) -> frozenset[str]:
        """Return whom a message pings: the ids of people, and `everyone`."""
        pings = {one.external_id for one in self._people.values() if f"@{one.external_id}" in message.text}
        pings |= {one.external_id for one in self._people.values() if f"<@{one.external_id}>" in message.text}
        pings |= {"everyone"} if "@everyone" in message.text else set()
        if message.allowed_mentions is not None:
            pings &= {key.id for key in message.allowed_mentions}
        return frozenset(pings)

    async def answer(self, message: FakeMessage, *, timeout: float = PATIENCE) -> FakeMessage:
        """Wait for the first message of the answer to a message."""
        (first, *_) = await self._until(lambda: self.answers_to(message), 1, f"no answer to {message.text!r}", timeout)
        return first

    async def answers(self, count: int = 1, *, timeout: float = PATIENCE) -> list[FakeMessage]:
        """Wait for the next messages of the agent that were not returned before, notices left out.

        Raises:
            NothingCame: fewer came within `timeout` seconds.
        """
        return await self._fresh(lambda message: message.card is None, count, "messages of the agent", timeout)

    async def notices(self, count: int = 1, *, timeout: float = PATIENCE) -> list[FakeMessage]:
        """Wait for the next notices that were not returned before.

        Raises:
            NothingCame: fewer came within `timeout` seconds.
        """
        return await self._fresh(lambda message: message.card is not None, count, "notices", timeout)

    async def settled(self) -> None:
        """Return when no event is on its way to a connected agent."""
        await self.events.settled()

    # What breaks ----------------------------------------------------------------------------------------------

    def lose_connection(self) -> None:
        """Cut every agent off: events pile up, sends end unknown, history cannot be read."""
        self.sends.is_up = self.changes.is_up = False
        self.events.lose_connection()
        for cut in self._cuts:
            cut()

    def reconnect(self) -> None:
        """Let agents in again; they are told what they missed."""
        self.sends.is_up = self.changes.is_up = True
        self.events.reconnect()

    def on_lost(self, cut: Callable[[], object]) -> None:
        """Call `cut` whenever the connection is lost."""
        self._cuts.append(cut)

    # What a bridge asks for -----------------------------------------------------------------------------------

    async def history(self, channel: ChannelRef, limit: int) -> Sequence[HistoryMessage]:
        """Return the last messages of a channel, oldest first, notices left out.

        Raises:
            ConnectionLost: the platform cannot be reached.
        """
        if self.history_delay:
            await asyncio.sleep(self.history_delay)
        if not self.events.is_up:
            raise ConnectionLost("the connection to the fake platform is lost")
        newest_first = (m for m in reversed(self._archive.of_channel(channel.external_id)) if m.card is None)
        said = list(islice(newest_first, max(limit, 0)))
        return tuple(
            HistoryMessage(
                m.message_id, m.author, m.text, m.occurred_at, m.from_agent, m.reply_to, m.attachments, m.extras
            )
            for m in reversed(said)
        )

    # Inside ---------------------------------------------------------------------------------------------------

    def _next_id(self) -> str:
        self._number += 1
        return str(self._number)

    def _put(self, message: OutgoingMessage) -> FakeMessage:
        name = message.persona_name or self.agent.display_name
        posted = FakeMessage(
            message_id=self._next_id(),
            server=message.server,
            channel=message.channel,
            author=replace(self.agent, display_name=name),
            text=message.text,
            occurred_at=self._clock.now(),
            event_id=message.event_id,
            reply_to=message.reply_to,
            card=message.card,
            key=message.key,
            part=message.part,
            allowed_mentions=message.mentions,
            persona_name=message.persona_name,
            from_agent=True,
            file=message.file,
        )
        self._archive.add(posted)
        return posted

    async def _fresh(
        self, fits: Callable[[FakeMessage], bool], count: int, what: str, timeout: float
    ) -> list[FakeMessage]:
        def fresh() -> list[FakeMessage]:
            return [m for m in self.from_agent if m.message_id not in self._given and fits(m)][:count]

        found = await self._until(fresh, count, f"fewer than {count} {what}", timeout)
        self._given |= {message.message_id for message in found}
        return list(found)

    async def _until(
        self, find: Callable[[], Sequence[FakeMessage]], count: int, complaint: str, timeout: float
    ) -> Sequence[FakeMessage]:
        try:
            async with asyncio.timeout(timeout):
                return await self._archive.until(find, count)
        except TimeoutError:
            came = "\n".join(f"  {m.author.display_name}: {m.text!r}" for m in self.messages[-10:])
            raise NothingCame(f"{complaint} within {timeout:g} s; the last messages:\n{came}") from None
