"""`LoopbackDiscord`: what tests and demonstrations use."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from tests.servers.discord import openapi, payloads, people
from tests.servers.discord.asking import SETTLE, Asking, InteractionResult
from tests.servers.discord.core import BOT_NAME, TOKEN, Core
from tests.servers.discord.events import Intent
from tests.servers.discord.faults import Faults
from tests.servers.discord.gateway import Gateway
from tests.servers.discord.guilds import BOT, Guild
from tests.servers.discord.held import Held
from tests.servers.discord.ids import now
from tests.servers.discord.journal import Request
from tests.servers.discord.pending import Modal
from tests.servers.discord.permissions import EVERYONE, Permission
from tests.servers.discord.records import JSON, Channel, GuildRecord, Member, Message, Role, User
from tests.servers.discord.server import API, Server
from tests.servers.discord.talking import Talking

WAIT = 5.0


class LoopbackDiscord(Talking):
    """A Discord on the loopback interface, with one application and its bot.

    When it ends it raises an `AssertionError` for every request that does not fit Discord's description. `clock` tells
    the seconds since 1970 from which ids are made, and with them when messages were said.

    Example::

        async with LoopbackDiscord() as discord:
            guild = discord.guild("Garden")
            mara, general = guild.member("mara"), guild.channel("general")
            ...  # start the bot with discord.token, discord.api_base and discord.cdn_base
            asked = discord.say(mara, general, f"Hello {discord.bot.mention}")
            answer = await discord.answer(general, after=asked)
            assert answer.content == "Hello, mara"
    """

    def __init__(
        self,
        *,
        bot_name: str = BOT_NAME,
        token: str = TOKEN,
        port: int = 0,
        check_requests: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.core = Core(bot_name=bot_name, token=token, clock=clock)
        self._server = Server(self.core, port)
        self._asking = Asking(self.core)
        self._check = check_requests

    async def start(self) -> None:
        await self._server.start()

    async def stop(self) -> None:
        await self._server.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await self.stop()
        if kind is None and self._check:
            wrong = await self.violations()
            assert not wrong, "requests that Discord would not take:\n" + "\n".join(wrong)

    async def violations(self) -> list[str]:
        """What was wrong with the requests up to now; those of a kind once."""
        found = await asyncio.to_thread(openapi.violations, list(self.core.requests))
        return [*self._server.failures, *found]

    # Where it is and who the bot is

    @property
    def base(self) -> str:
        return self.core.base

    @property
    def api_base(self) -> str:
        return self.core.base + API

    @property
    def cdn_base(self) -> str:
        return self.core.cdn

    @property
    def gateway(self) -> Gateway:
        return self.core.gateway

    @property
    def faults(self) -> Faults:
        return self.core.faults

    @property
    def token(self) -> str:
        return self.core.gateway.token

    @property
    def bot(self) -> User:
        return self.core.world.bot

    @property
    def application_id(self) -> int:
        return self.core.world.application_id

    @property
    def owner(self) -> User:
        """The person who owns the application."""
        return self.core.owner

    def deny_intents(self, *intents: Intent) -> None:
        """Switch privileged intents off, as in the developer portal."""
        for one in intents:
            self.core.gateway.allowed &= ~one

    # Servers

    def guild(
        self, name: str = "Guild", *, owner: User | None = None, permissions: Permission = BOT, joined: bool = True
    ) -> Guild:
        """A server that the bot is in (unless `joined` is false), with these permissions of the bot's own role."""
        world = self.core.world
        owner = owner or self.core.person("owner")
        guild_id = world.ids.next_apart()
        world.guilds[guild_id] = GuildRecord(guild_id, name, owner.id)
        world.roles[guild_id] = Role(guild_id, guild_id, "@everyone", EVERYONE)
        own = Role(
            world.ids.next(), guild_id, world.bot.name, permissions, position=1, managed=True, bot_id=world.bot.id
        )
        world.roles[own.id] = own
        world.members[guild_id, owner.id] = Member(guild_id, owner.id, now())
        made = Guild(self.core, guild_id)
        if joined:
            people.joined(self.core, guild_id, world.bot, (own.id,))
        return made

    def outage(self, guild: Guild) -> None:
        """Let a server be unavailable; `recover` ends it."""
        self.gateway.emit("GUILD_DELETE", {"id": str(guild.id), "unavailable": True}, guild_id=guild.id)

    def recover(self, guild: Guild) -> None:
        record = self.core.world.guilds[guild.id]
        data = payloads.guild_create(self.core.world, record, unavailable=False)
        self.gateway.emit("GUILD_CREATE", data, guild_id=guild.id)

    def join(self, guild: Guild, user: User) -> None:
        guild.member(user)

    def leave(self, guild: Guild, user: User) -> None:
        guild.leave(user)

    def nick(self, guild: Guild, user: User, nick: str | None) -> None:
        guild.nick(user, nick)

    # Interactions

    async def slash(
        self,
        user: User,
        channel: Channel,
        path: Sequence[str] | str,
        options: Mapping[str, Any] | None = None,
        *,
        settle: bool = True,
        timeout: float = SETTLE,
    ) -> InteractionResult:
        """Call a command and wait for the answer; with `settle` also for the text of a deferred one.

        Raises:
            NotOffered: Discord's app would not have offered that.
            InteractionFailed: the application did not answer within three seconds.
        """
        parts = path.split() if isinstance(path, str) else path
        pending = self._asking.slash(user, channel, parts, options or {})
        return await self._asking.answered(pending, settle=settle, timeout=timeout)

    async def autocomplete(
        self, user: User, channel: Channel, path: Sequence[str] | str, options: Mapping[str, Any], focused: str
    ) -> list[JSON]:
        """What the application offers for the option `focused` while it is being typed."""
        parts = path.split() if isinstance(path, str) else path
        pending = self._asking.slash(user, channel, parts, options, focused)
        return (await self._asking.answered(pending, settle=False, timeout=SETTLE)).choices

    async def press(
        self, user: User, message: Message, custom_id: str, *, settle: bool = True, timeout: float = SETTLE
    ) -> InteractionResult:
        """Press a button."""
        pending = self._asking.press(user, message, custom_id)
        return await self._asking.answered(pending, settle=settle, timeout=timeout)

    async def select(
        self, user: User, message: Message, custom_id: str, values: Sequence[Any], *, timeout: float = SETTLE
    ) -> InteractionResult:
        """Choose in a select menu: texts, or people, roles and channels."""
        pending = self._asking.select(user, message, custom_id, values)
        return await self._asking.answered(pending, settle=True, timeout=timeout)

    async def submit(
        self, modal: Modal, values: Mapping[str, Any], *, settle: bool = True, timeout: float = SETTLE
    ) -> InteractionResult:
        """Fill a modal in, by the ids of its fields, and send it."""
        pending = self._asking.submit(modal, values)
        return await self._asking.answered(pending, settle=settle, timeout=timeout)

    async def menu(
        self,
        user: User,
        target: User | Message,
        name: str,
        *,
        channel: Channel | None = None,
        settle: bool = True,
        timeout: float = SETTLE,
    ) -> InteractionResult:
        """Choose a command in the menu of a message or (then `channel` is needed) of a person."""
        place = channel or (self.core.world.channel(target.channel_id) if isinstance(target, Message) else None)
        if place is None:
            raise ValueError("a person's menu is opened in a channel: name it")
        pending = self._asking.menu(user, place, target, name)
        return await self._asking.answered(pending, settle=settle, timeout=timeout)

    # Waiting and looking

    async def until[T](self, look: Callable[[], T], timeout: float = WAIT, what: str = "") -> T:
        """What `look` gives as soon as it is true; it is asked again whenever something happens here."""
        return await self.core.changes.until(look, timeout, what)

    async def connected(self, shards: int = 1, timeout: float = WAIT) -> None:
        """Wait until that many shards are connected and identified."""

        def count() -> bool:
            return sum(one.socket is not None for one in self.gateway.sessions.values()) >= shards

        await self.until(count, timeout, f"{shards} connected shard(s)")

    async def answer(
        self,
        channel: Channel,
        *,
        after: Message | None = None,
        matching: Callable[[Message], bool] = lambda _: True,
        timeout: float = WAIT,
    ) -> Message:
        """The first message of the bot's (also through its webhooks) in a channel after another one."""
        least = after.id if after is not None else 0

        def look() -> Message | None:
            found = (one for one in self.messages(channel) if one.id > least and self.is_own(one) and matching(one))
            return next(found, None)

        found = await self.until(look, timeout, f"answer in {channel.name or channel.id}")
        assert found is not None
        return found

    def is_own(self, message: Message) -> bool:
        """Whether the bot or one of its webhooks said it."""
        return self.bot.id == message.author.id or message.application_id == self.application_id

    def calls(self, method: str, path: str) -> list[Request]:
        """The requests for a route, the path as Discord's description writes it."""
        return [one for one in self.core.requests if (one.method, one.template) == (method, path)]

    async def called(self, method: str, path: str, *, times: int = 1, timeout: float = WAIT) -> list[Request]:
        """Wait until a route was asked so often."""
        await self.until(lambda: len(self.calls(method, path)) >= times, timeout, f"{method} {path} ({times} times)")
        return self.calls(method, path)

    @contextmanager
    def hold(self, *names: str) -> Iterator[Held]:
        """Keep events of these names (all without any) back; afterwards they are told once, or as `release` said."""
        held = Held(self.gateway.tell, names)
        self.gateway.held = held
        try:
            yield held
        finally:
            self.gateway.held = None
            held.finish()
