"""What the agent posts on the fake platform, once for each key, and what goes wrong on the way."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import TYPE_CHECKING, Final

from agent.bridge import Capabilities, OutcomeUnknown, SendFailed, Sent
from agent.testing.fake_values import FakeMessage, Lost, Refused, SendFault, Slow
from agent.turn.split import MEASURES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.bridge import OutgoingMessage

type FaultRule = Callable[[OutgoingMessage, int], SendFault | None]
"""What goes wrong with a send: gets the message and the number of the try under its key, from 1."""

_READ_BACK: Final = 100
"""Messages that are looked through for one of unknown outcome where there are no keys."""


class Posting:
    """The sends of the agent.

    Args:
        capabilities: What the platform can do; without idempotency keys each send posts a message.
        put: Puts a message into its channel and returns it with its id.
        posted: The agent's messages so far, oldest first.

    """

    def __init__(
        self,
        capabilities: Capabilities,
        put: Callable[[OutgoingMessage], FakeMessage],
        posted: Sequence[FakeMessage],
    ) -> None:
        self.capabilities = capabilities
        self.tries: Counter[str] = Counter()
        """How often each key was sent, whatever came of it."""
        self.delay = 0.0
        """Seconds that each send takes."""
        self.is_up = True
        self._put = put
        self._posted = posted
        self._by_key: dict[str, FakeMessage] = {}
        self._next: deque[SendFault] = deque()
        self._rule: FaultRule | None = None

    def fail_next(self, *faults: SendFault) -> None:
        """Let these go wrong, one with each of the next sends."""
        self._next.extend(faults)

    def fail_by(self, rule: FaultRule | None) -> None:
        """Ask a rule at every send what goes wrong; None: nothing any more."""
        self._rule = rule

    @property
    def repeated(self) -> dict[str, int]:
        """Return the keys that were sent more than once, with how often."""
        return {key: count for key, count in self.tries.items() if count > 1}

    @property
    def doubled(self) -> dict[str, int]:
        """Return the keys under which more than one message stands on the platform: the people see them twice."""
        counts = Counter(message.key for message in self._posted if message.key is not None)
        return {key: count for key, count in counts.items() if count > 1}

    async def post(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        """Post a message as the platform would.

        Raises:
            SendFailed: it is refused.
        """
        self.tries[message.key] += 1
        fault = self._fault(message)
        seconds = fault.seconds if isinstance(fault, Slow) else self.delay
        if seconds:
            await asyncio.sleep(seconds)
        if not self.is_up:
            return OutcomeUnknown("the connection to the fake platform is lost")
        if isinstance(fault, Refused):
            raise SendFailed(fault.reason, retry_after=fault.retry_after)
        if isinstance(fault, Lost) and not fault.posted:
            return OutcomeUnknown("the send was lost on its way")
        sent = self._accept(message)
        return OutcomeUnknown("the answer to the send was lost") if isinstance(fault, Lost) else sent

    def find(self, message: OutgoingMessage) -> Sent | None:
        """Look for a message: by its key, or without keys by what stands in the channel's history."""
        if self.capabilities.has_idempotency_key:
            known = self._by_key.get(message.key)
            return Sent(known.message_id) if known else None
        for said in self._posted[-_READ_BACK:]:
            same_place = said.channel.external_id == message.channel.external_id
            if same_place and (said.text, said.reply_to, said.card) == (message.text, message.reply_to, message.card):
                return Sent(said.message_id)
        return None

    def _fault(self, message: OutgoingMessage) -> SendFault | None:
        if self._next:
            return self._next.popleft()
        return self._rule(message, self.tries[message.key]) if self._rule else None

    def _accept(self, message: OutgoingMessage) -> Sent:
        known = self._by_key.get(message.key) if self.capabilities.has_idempotency_key else None
        if known is None:
            self._check(message)
            known = self._by_key[message.key] = self._put(message)
        return Sent(known.message_id)

    def _check(self, message: OutgoingMessage) -> None:
        if message.card is None and not message.text.strip():
            raise SendFailed("the fake platform takes no empty message")
        limit, unit = self.capabilities.message_limit, self.capabilities.length_unit
        if (size := MEASURES[unit](message.text)) > limit:
            raise SendFailed(f"the fake platform takes {limit} {unit} at most, not {size}")
