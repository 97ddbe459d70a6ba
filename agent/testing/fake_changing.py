"""What the agent does on the fake platform with messages that it has sent: another text, or none."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.bridge import SendFailed
from agent.testing.fake_values import ConnectionLost, Refused, Slow

if TYPE_CHECKING:
    from agent.bridge import OutgoingMessage, SentMessage
    from agent.testing.fake_archive import Archive
    from agent.testing.fake_values import FakeMessage


class Changing:
    """Edits and deletions of the agent's own messages."""

    def __init__(self, archive: Archive) -> None:
        self.withdrawn: list[str] = []
        """The ids of messages that were to be deleted, once for each call."""
        self.edited: list[str] = []
        """The ids of messages that were to be changed, once for each call."""
        self.is_up = True
        self._archive = archive
        self._next: deque[Refused | Slow] = deque()

    def fail_next(self, *faults: Refused | Slow) -> None:
        """Let these go wrong, one with each of the next calls."""
        self._next.extend(faults)

    async def edit(self, message_id: str, message: OutgoingMessage) -> None:
        """Give a message another text.

        Raises:
            SendFailed: it is refused, or there is no such message of the agent.
            ConnectionLost: nothing can be reached.
        """
        self.edited.append(message_id)
        await self._fail()
        known = self._find(message_id)
        if known is None:
            raise SendFailed("there is no such message of the agent")
        self._archive.replace(
            known, replace(known, text=message.text, card=message.card, allowed_mentions=message.mentions)
        )

    async def withdraw(self, message: SentMessage) -> None:
        """Delete a message; one that is gone already is done.

        Raises:
            SendFailed: it is refused.
            ConnectionLost: nothing can be reached.
        """
        self.withdrawn.append(message.message_id)
        await self._fail()
        known = self._find(message.message_id)
        if known is not None and known.channel.external_id == message.channel_id:
            self._archive.replace(known, None)

    def _find(self, message_id: str) -> FakeMessage | None:
        return next((one for one in self._archive.from_agent if one.message_id == message_id), None)

    async def _fail(self) -> None:
        if not self.is_up:
            raise ConnectionLost("the connection to the fake platform is lost")
        fault = self._next.popleft() if self._next else None
        if isinstance(fault, Slow):
            await asyncio.sleep(fault.seconds)
        elif fault is not None:
            raise SendFailed(fault.reason, retry_after=fault.retry_after)
