"""The fake platform as a world of the bridge contract."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from typing import TYPE_CHECKING

from agent.testing.fake_values import EventRefused

if TYPE_CHECKING:
    from agent.bridge import Bridge
    from agent.events import Author
    from agent.testing.fake_platform import FakePlatform
    from agent.testing.fake_values import FakeMessage


class FakeWorld:
    def __init__(self, platform: FakePlatform, bridge: Bridge) -> None:
        self.platform = platform
        self.bridge = bridge
        self.server, self.channel = platform.place("general")
        self.person: Author = platform.person("ana")

    def _find(self, message_id: str) -> FakeMessage:
        return next(message for message in self.platform.messages if message.message_id == message_id)

    async def _say(
        self,
        person: str,
        text: str,
        *,
        channel: str = "general",
        to_agent: bool = False,
        reply_to: FakeMessage | None = None,
    ) -> str:
        # What the agent raises is not the business of the people on the platform.
        with contextlib.suppress(EventRefused):
            await self.platform.say(person, text, channel=channel, to_agent=to_agent, reply_to=reply_to)
        return next(message for message in reversed(self.platform.messages) if not message.from_agent).message_id

    async def say(self, text: str) -> str:
        return await self._say("ana", text)

    def mention(self, person: Author) -> str:
        return f"<@{person.external_id}>"

    async def pinged(self, message_id: str) -> Collection[str]:
        return self.platform.pinged(self._find(message_id))

    async def again(self) -> None:
        await self.platform.events.again(self.platform.events.journal[-1])

    async def edit(self, message_id: str, text: str) -> None:
        await self.platform.edit(self._find(message_id), text)

    async def delete(self, message_id: str) -> None:
        await self.platform.delete(self._find(message_id))

    async def react(self, message_id: str, emoji: str) -> None:
        await self.platform.react("ana", self._find(message_id), emoji)

    async def say_in_thread(self, text: str) -> str:
        return await self._say("ana", text, channel="general/plans")

    async def say_as_bot(self, text: str) -> str:
        self.platform.person("robot", is_bot=True)
        return await self._say("robot", text)

    async def say_directly(self, text: str) -> str:
        return await self._say("ana", text, channel="@ana")

    async def say_to_agent(self, text: str) -> str:
        return await self._say("ana", text, to_agent=True)

    async def join(self, person: Author) -> None:
        await self.platform.members.join(person)

    async def leave(self, person: Author) -> None:
        await self.platform.members.leave(person)

    async def reply_to(self, message_id: str, text: str) -> str:
        return await self._say("ana", text, reply_to=self._find(message_id))
