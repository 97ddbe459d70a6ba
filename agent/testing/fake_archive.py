"""Every message of the fake platform, found by channel and by the event that it answers."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.testing.fake_values import FakeMessage


class Archive:
    """The messages, oldest first, and a way to wait for more."""

    def __init__(self) -> None:
        self.all: list[FakeMessage] = []
        """Everything that stands on the platform."""
        self.from_agent: list[FakeMessage] = []
        """What the agent has posted, notices included."""
        self._channels: defaultdict[str, list[FakeMessage]] = defaultdict(list)
        self._answers: defaultdict[str, list[FakeMessage]] = defaultdict(list)
        self._waiting: list[asyncio.Future[None]] = []

    def add(self, message: FakeMessage) -> None:
        """Keep a message, and wake whoever waits for one."""
        for kept in self._lists(message):
            kept.append(message)
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def replace(self, message: FakeMessage, by: FakeMessage | None) -> None:
        """Put another message in the place of one, or nothing.

        Raises:
            KeyError: there is no such message.
        """
        for kept in self._lists(message):
            index = next((i for i, known in enumerate(kept) if known.message_id == message.message_id), None)
            if index is None:
                raise KeyError(message.message_id)
            kept[index : index + 1] = [by] if by is not None else []

    def of_channel(self, external_id: str) -> Sequence[FakeMessage]:
        """Return the messages of a channel."""
        return self._channels.get(external_id, ())

    def answers_to(self, event_id: str | None) -> Sequence[FakeMessage]:
        """Return what the agent has answered to an event, without notices."""
        return self._answers.get(event_id or "", ())

    async def until[T](self, find: Callable[[], Sequence[T]], count: int) -> Sequence[T]:
        """Return what `find` finds as soon as that is at least `count`."""
        while len(found := find()) < count:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future
        return found

    def _lists(self, message: FakeMessage) -> list[list[FakeMessage]]:
        lists = [self.all, self._channels[message.channel.external_id]]
        if message.from_agent:
            lists.append(self.from_agent)
            if message.card is None and message.event_id is not None:
                lists.append(self._answers[message.event_id])
        return lists
