"""A real agent in the loopback Discord, whose clock stands still between two things that happen."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from unittest import mock

from nextcord.asset import Asset
from nextcord.http import Route

from agent.confirmations import make_code
from agent.testing.scripted_model import Step
from bridges.discord.client import DiscordClient
from bridges.discord.commands import speaking
from tests.bridges.discord.worlds import DiscordWorld, discord_agent
from tests.clocks import ManualClock
from tests.screens.messages import picture
from tests.screens.views import Viewer
from tests.servers.discord.guilds import Guild
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import EVERYONE, Permission
from tests.servers.discord.records import Channel, Message, User

BEGIN = datetime(2026, 11, 27, 18, 30, tzinfo=UTC)
SETTINGS = {"plugins": {"memory": {"max_memory_length": 5000}, "privacy": {}}}


@dataclass(frozen=True, slots=True)
class Stage:
    """A server with two people, the first of whom manages it, and the agent."""

    discord: LoopbackDiscord
    world: DiscordWorld
    clock: ManualClock
    viewer: Viewer
    guild: Guild
    mara: User
    ben: User
    general: Channel

    def later(self, **by: float) -> None:
        """Let time pass: `hours=2`."""
        self.clock.advance(timedelta(**by))

    def say(self, who: User, text: str, answers: Message | None = None) -> Message:
        """Let somebody say something in #general, a minute after what was last; `{bot}` mentions the agent."""
        self.later(minutes=1)
        return self.discord.say(who, self.general, text.format(bot=self.discord.bot.mention), reply_to=answers)

    async def ask(self, who: User, text: str, *script: Step) -> tuple[Message, list[Message]]:
        """Let somebody ask; return what was said and all that the agent posted by its end, oldest first."""
        self.world.model.say(*script)
        asked = self.say(who, text)
        await self.discord.answer(self.general, after=asked, matching=lambda one: not one.embeds)
        await self.world.agent.idle()
        return asked, [one for one in self.discord.messages(self.general) if one.id > asked.id]

    async def show_notices(self, visibility: str) -> None:
        """Choose how much of a notice the server sees."""
        await self.discord.slash(self.mara, self.general, "notices visibility", {"level": visibility})

    async def draw(self, title: str, *messages: Message, asked: str = "") -> str:
        """Draw messages of the channel; the last one answers the command `asked`."""
        shown = [self.viewer.message(one, asked if one is messages[-1] else "") for one in messages]
        return await asyncio.to_thread(
            picture, title, shown, self.viewer.naming
        )  # the loop is watched: it is the agent's


@contextlib.asynccontextmanager
async def staged(database_url: str) -> AsyncIterator[Stage]:
    """Begin in an empty server, on an empty database."""
    clock = ManualClock(BEGIN)
    with _at_once(), same_codes():
        async with LoopbackDiscord(bot_name="Isthmus", clock=lambda: clock.now().timestamp()) as discord:
            discord.core.deadline = 60  # nothing is put off, however slow the machine is
            guild = discord.guild("Garden")
            chief = guild.role("Chief", EVERYONE | Permission.MANAGE_GUILD)
            mara, ben = guild.member("mara", nick="Mara", roles=[chief]), guild.member("ben", nick="Ben")
            general = guild.channel("general")
            async with discord_agent(discord, database_url, SETTINGS, clock=clock) as world:
                yield Stage(discord, world, clock, Viewer(discord), guild, mara, ben, general)


@contextlib.contextmanager
def same_codes() -> Iterator[None]:
    """Let every question that asks back have the code ABCDEFGH."""
    with mock.patch.object(make_code, "__defaults__", (lambda length: bytes(range(8, 8 + length)),)):
        yield


@contextlib.contextmanager
def _at_once() -> Iterator[None]:
    """Let a session begin at once, where nextcord waits as Discord wants it; give nextcord its addresses back."""

    async def identify(_: DiscordClient, __: int | None, *, initial: bool = False) -> None:
        """Wait for nothing."""

    before = Route.BASE, Asset.BASE
    try:
        with (
            mock.patch.object(DiscordClient, "before_identify_hook", identify),
            mock.patch.object(speaking, "AT_ONCE", 60.0),
        ):
            yield
    finally:
        Route.BASE, Asset.BASE = before
