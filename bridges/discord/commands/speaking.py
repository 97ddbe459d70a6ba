"""How the answer to one interaction reaches its asker: at once or later, for all or for the asker alone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from bridges.discord.commands.asked import EPHEMERAL
from bridges.discord.commands.replies import drawn, hidden
from bridges.discord.commands.wire import AnswerLost, Callback

if TYPE_CHECKING:
    from agent.commands import CommandReply
    from bridges.discord.commands.asked import Asked
    from bridges.discord.commands.replies import Drawn
    from bridges.discord.commands.wire import Wire

AT_ONCE: Final = 1.0
"""Seconds that an answer may take before it is put off; Discord waits for three."""

LARGE: Final = 512 * 1024
"""Bytes of files that could be on their way for too long: what takes more is put off first."""


class Speaking:
    """Says one reply.

    Args:
        wire: What posts it.
        asked: What it answers.
        private: Whether the reply will be for the asker alone, as far as that is known before it is there.
        replaces: Whether it takes the place of the message whose button was pressed.

    """

    def __init__(self, wire: Wire, asked: Asked, *, private: bool, replaces: bool = False) -> None:
        self._wire = wire
        self._asked = asked
        self._private = private
        self._replaces = replaces
        self._put_off = False

    async def answer(self, work: asyncio.Task[CommandReply], title: str) -> None:
        """Wait for a reply and say it; what takes long is put off first.

        Raises:
            AnswerLost: Discord did not take it.
        """
        await asyncio.wait({work}, timeout=AT_ONCE)
        if not work.done():
            try:
                await self._wait_longer()
            except AnswerLost:
                await work  # what was asked for is still done, and not broken off half way
                raise
        await self.say(await work, title)

    async def say(self, reply: CommandReply, title: str) -> None:
        """Say a reply. Raises AnswerLost."""
        messages = drawn(reply, title, self._asked.locale, self._asked.upload_limit)
        private = reply.private or not reply.ok
        if self._replaces and reply.ok and len(messages) == 1 and self._may_replace(private=private):
            await self._replace(messages[0])
            return
        rest = list(messages)
        if self._put_off and not self._replaces:
            if private == self._private:
                first = rest.pop(0)
                await self._wire.edit(self._asked, first.body, first.files)
            else:
                await self._wire.remove(self._asked)
        elif not self._put_off and sum(len(file.content) for file in rest[0].files) > LARGE:
            self._private, self._replaces = private, False
            await self._wait_longer()
            first = rest.pop(0)
            await self._wire.edit(self._asked, first.body, first.files)
        elif not self._put_off:
            first = rest.pop(0)
            await self._wire.first(self._asked, Callback.MESSAGE, _body(first, private=private), first.files)
        for each in rest:
            await self._wire.further(self._asked, _body(each, private=private), each.files)

    async def _wait_longer(self) -> None:
        if self._replaces:
            await self._wire.first(self._asked, Callback.LATER_UPDATE)
        else:
            flags = {"flags": EPHEMERAL} if self._private else {}
            await self._wire.first(self._asked, Callback.LATER, flags)
        self._put_off = True

    def _may_replace(self, *, private: bool) -> bool:
        """Tell whether what is said may stand in the pressed button's message: nothing private in public."""
        return self._asked.is_shown_to_one or not private

    async def _replace(self, message: Drawn) -> None:
        body = dict(message.body) if message.files else {**message.body, "attachments": []}
        if self._put_off:
            await self._wire.edit(self._asked, body, message.files)
        else:
            await self._wire.first(self._asked, Callback.UPDATE, body, message.files)


def _body(message: Drawn, *, private: bool) -> dict[str, Any]:
    return hidden(message.body) if private else dict(message.body)
