"""Commands are taken from rooms and run: each at most once, in the order of their room, without holding up the sync."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

from agent import logs
from agent.commands import CommandReply, GivenMessage
from bridges.matrix.commands.answering import Answering, Asked
from bridges.matrix.commands.confirming import VALID, Offered, step_by_code, step_by_reaction
from bridges.matrix.commands.typed import Given, Help, Run, asked_in
from bridges.matrix.commands.words import Words
from bridges.matrix.places import split_channel, thread_channel
from bridges.matrix.reading import moment_of
from bridges.matrix.rules.content import said_in
from bridges.matrix.rules.room import room_name, shown_names
from bridges.matrix.rules.values import table, text
from bridges.matrix.watching import members_of

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from agent.bridge import BridgeHost, State
    from agent.clock import Clock
    from agent.commands import Step
    from agent.events import Attachment, Author, MessageCreated, ReactionAdded
    from agent.files import GivenFile
    from agent.places import ChannelRef
    from bridges.matrix.commands.confirming import Offers
    from bridges.matrix.known import Known
    from bridges.matrix.media import Media
    from bridges.matrix.reading import Reading
    from bridges.matrix.settings import MatrixSettings
    from bridges.matrix.world import World

log = logs.get_logger(__name__)

_RAN: Final = "ran:"
_PATIENCE: Final = 2.0
"""Seconds that a reaction waits for the answer that it may belong to."""
_REMEMBERED: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that came with a message (`agent.files.GivenFile`)."""

    attachment: Attachment
    media: Media

    @property
    def name(self) -> str:
        """Its name."""
        return self.attachment.name

    async def read(self, limit: int) -> bytes:
        """Return what is in it. Raises FileRefused."""
        return await self.media.fetch(self.attachment, limit)


@dataclass(frozen=True, slots=True)
class Seeing:
    """What commands need to see."""

    world: World
    known: Known
    reading: Reading
    media: Media


class Serving:
    """Takes what people ask for."""

    def __init__(
        self,
        host: BridgeHost,
        state: State,
        clock: Clock,
        *,
        seeing: Seeing,
        answering: Answering,
        offers: Offers,
        settings: MatrixSettings,
    ) -> None:
        self._host = host
        self._state = state
        self._clock = clock
        self._seeing = seeing
        self._answering = answering
        self._offers = offers
        self._settings = settings
        self._tasks: dict[asyncio.Task[None], str] = {}
        """What is being done, and for whom."""
        self._order: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def start(self) -> None:
        """Forget what is over."""
        now = self._clock.now()
        await self._offers.sweep(now)
        ran = await self._state.below(_RAN)
        old = [key for key, when in ran.items() if when < (now - _REMEMBERED).isoformat()]
        if old:
            await self._state.remove(*old)

    async def stop(self) -> None:
        """Break off what runs."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def message(self, message: MessageCreated) -> bool:
        """Take a message that is a command, or a reply with a code; tell whether it is one."""
        if await self._confirmed(message):
            return True
        if not message.text.lstrip().startswith(self._settings.command_prefix):
            return False
        asked = asked_in(
            message.text,
            self._host.commands,
            self._words(message.channel),
            await self._given(message),
            prefix=self._settings.command_prefix,
            locale=self._settings.language,
        )
        if asked is None:
            return False
        where = Asked(message.event_id, message.author.external_id, message.channel)
        if isinstance(asked, Help):
            await self._begin(where, self._tell(where, CommandReply(asked.text, ok=asked.ok)))
        else:
            await self._begin(where, self._run(where, message, asked))
        return True

    async def reaction(self, reaction: ReactionAdded) -> bool:
        """Take a reaction that asks for what an answer offers; tell whether it is one."""
        offered = await self._offered(reaction.message_id, reaction.author.external_id)
        step = None if offered is None else step_by_reaction(offered, reaction.emoji)
        if offered is None or step is None:
            return False
        where = Asked(reaction.event_id, reaction.author.external_id, reaction.channel, in_reply=False)
        await self._begin(where, self._step(where, reaction.author, reaction.message_id, offered, step))
        return True

    async def _confirmed(self, message: MessageCreated) -> bool:
        if message.reply is None or not message.reply.to_agent:
            return False
        answered = message.reply.message_id
        offered = await self._offered(answered, message.author.external_id)
        step = None if offered is None else step_by_code(offered, message.text)
        if offered is None or step is None:
            return False
        where = Asked(message.event_id, message.author.external_id, message.channel)
        await self._begin(where, self._step(where, message.author, answered, offered, step))
        return True

    async def _offered(self, answered: str, asker: str) -> Offered | None:
        """Return what an answer offers to somebody; one that stands already may still be being written down."""
        offered = await self._offers.of(answered, asker, self._clock.now())
        running = {task for task, user_id in self._tasks.items() if user_id == asker}
        if offered is None and running:
            await asyncio.wait(running, timeout=_PATIENCE)
            offered = await self._offers.of(answered, asker, self._clock.now())
        return offered

    async def _begin(self, where: Asked, work: Coroutine[Any, Any, None]) -> None:
        """Do something once, even when its event comes again, behind what was asked for in that room before."""
        key = _RAN + where.event_id
        if await self._state.get(key) is not None:
            work.close()
            return
        await self._state.put({key: self._clock.now().isoformat()})
        lock = self._order.setdefault(split_channel(where.channel.external_id)[0], asyncio.Lock())
        task = asyncio.create_task(self._in_order(lock, work), name=f"matrix command {where.event_id}")
        self._tasks[task] = where.user_id
        task.add_done_callback(self._tasks.pop)

    @staticmethod
    async def _in_order(lock: asyncio.Lock, work: Coroutine[Any, Any, None]) -> None:
        try:
            async with lock:
                await work
        except Exception:
            log.exception("command_not_answered")
        finally:
            work.close()

    async def _run(self, where: Asked, event: MessageCreated, run: Run) -> None:
        reply = await self._host.run_command(run.command.path, run.options, event.server, event.channel, event.author)
        await self._tell(where, reply)

    async def _step(self, where: Asked, author: Author, answered: str, offered: Offered, step: Step) -> None:
        """Do what an answer offers: in the channel where it was asked for, with the rights that its asker has there."""
        await self._offers.done(answered)
        world, (origin, thread) = self._seeing.world, split_channel(offered.channel)
        room_id = world.current(origin)
        if room_id not in world.rooms:
            return
        server, channel = world.place(room_id)
        if thread:
            channel = thread_channel(channel, thread, "")
        author = replace(author, can_manage=world.can_manage(room_id, author.external_id))
        reply = await self._host.run_command(step.path, dict(step.options), server, channel, author)
        await self._tell(where, reply, offered.channel)

    async def _tell(self, where: Asked, reply: CommandReply, channel: str = "") -> None:
        said = await self._answering.say(where, reply)
        if said is not None and reply.steps:
            asked_in = channel or where.channel.external_id
            expires = self._clock.now() + VALID
            await self._offers.keep(said, Offered(where.user_id, asked_in, expires, reply.steps))

    def _words(self, channel: ChannelRef) -> Words:
        """Return who and what can be named in the server of a channel."""
        world = self._seeing.world
        room_id = world.current(split_channel(channel.external_id)[0])
        server = world.place(room_id)[0].external_id
        rooms = next((rooms for each, rooms in world.servers().values() if each.external_id == server), [])
        people = {user: member.display_name for user, member in members_of(rooms, world.agent_id).items()}
        here = shown_names(world.rooms[room_id])
        return Words(
            {user: name for user, name in {**people, **here}.items() if user != world.agent_id},
            {
                world.origin(room.room_id): (
                    room.room_id,
                    world.origin(room.room_id),
                    text(room.content("m.room.canonical_alias").get("alias")),
                    room_name(room, world.agent_id),
                )
                for room in rooms
                if not room.is_space
            },
        )

    async def _given(self, message: MessageCreated) -> Given:
        """Return what came with a command: the message that it answers, and a file of either."""
        file: GivenFile | None = None
        if message.attachments:
            file = SentFile(message.attachments[0], self._seeing.media)
        if message.reply is None or message.reply.author is None:
            return Given(None, file)
        reply, room_id = message.reply, self._seeing.world.current(split_channel(message.channel.external_id)[0])
        event = await self._seeing.known.event(room_id, reply.message_id)
        if event is not None and file is None:
            said = said_in(text(event.get("type")), table(event.get("content")), "", is_reply=False)
            file = SentFile(said.attachments[0], self._seeing.media) if said.attachments else None
        moment = None if event is None else moment_of(event)
        return Given(GivenMessage(reply.message_id, message.reply.author, reply.text, moment, reply.to_agent), file)
