"""The Discord bridge does what every bridge must do, through the real client."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from agent.events import Author
from agent.places import ChannelRef, ServerRef, Visibility
from agent.testing.contract import FullBridgeContract
from bridges.discord.bridge import DiscordBridge
from bridges.discord.people import author_of
from tests.bridges.discord.worlds import settings_of
from tests.servers.discord.guilds import Guild
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Channel, Message, User


class DiscordContractWorld:
    """A guild with one channel, in which mara is."""

    def __init__(self, discord: LoopbackDiscord) -> None:
        self._discord = discord
        self._guild: Guild = discord.guild("Garden")
        self._mara: User = self._guild.member("mara")
        self._general: Channel = self._guild.channel("general")
        self._robot: User = self._guild.member(discord.user("robot", bot=True))
        self._last: Message | None = None
        self.bridge = DiscordBridge(settings_of(discord))
        self.server = ServerRef("discord", str(self._guild.id), "Garden")
        self.channel = ChannelRef(str(self._general.id), "general", Visibility.EVERYONE)
        self.person = author_of({"id": str(self._mara.id), "username": self._mara.name})

    def _said(self, message: Message) -> str:
        self._last = message
        return str(message.id)

    def _message(self, message_id: str) -> Message:
        return self._discord.core.world.message(self._general.id, int(message_id))

    async def say(self, text: str) -> str:
        return self._said(self._discord.say(self._mara, self._general, text))

    async def say_in_thread(self, text: str) -> str:
        return self._said(self._discord.say(self._mara, self._guild.thread(self._general, "plans", self._mara), text))

    async def say_as_bot(self, text: str) -> str:
        return self._said(self._discord.say(self._robot, self._general, text))

    async def say_directly(self, text: str) -> str:
        return self._said(self._discord.say(self._mara, self._discord.dm(self._mara), text))

    async def say_to_agent(self, text: str) -> str:
        return await self.say(f"{self._discord.bot.mention} {text}")

    async def reply_to(self, message_id: str, text: str) -> str:
        answered = self._message(message_id)
        return self._said(self._discord.say(self._mara, self._general, text, reply_to=answered))

    async def edit(self, message_id: str, text: str) -> None:
        self._discord.edit(self._message(message_id), text)

    async def delete(self, message_id: str) -> None:
        self._discord.delete(self._message(message_id))

    async def react(self, message_id: str, emoji: str) -> None:
        self._discord.react(self._mara, self._message(message_id), emoji)

    async def again(self) -> None:
        assert self._last is not None
        self._discord.core.emit_message("MESSAGE_CREATE", self._last)

    async def join(self, person: Author) -> None:
        user = self._discord.core.world.user(int(person.external_id))
        nick = None if person.display_name == user.name else person.display_name
        if any(member.user_id == user.id for member in self._guild.members):
            self._guild.nick(user, nick)
        else:
            self._guild.member(user, nick=nick)

    async def leave(self, person: Author) -> None:
        self._guild.leave(self._discord.core.world.user(int(person.external_id)))

    def mention(self, person: Author) -> str:
        return f"<@{person.external_id}>"

    async def pinged(self, message_id: str) -> Collection[str]:
        message = self._message(message_id)
        everyone = ["everyone"] if message.mention_everyone else []
        return [
            *(str(each) for each in message.mentions),
            *everyone,
            *(f"role {each}" for each in message.mention_roles),
        ]


class TestDiscordBridge(FullBridgeContract):
    @pytest.fixture
    def world(self, discord: LoopbackDiscord) -> DiscordContractWorld:
        return DiscordContractWorld(discord)
