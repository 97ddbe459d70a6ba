"""Posts what stands in the outbox: in order within a channel, side by side across channels."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agent import logs, metrics
from agent.bridge import OutcomeUnknown, SendFailed, Sent, TellsLosses
from agent.fitting import fitted
from agent.places import conversation_key
from agent.relaying.hearing import Said

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from agent.bridge import Bridge
    from agent.store.outbox import OutboxRows, Posted
    from agent.store.pool import Store

log = logs.get_logger(__name__)

SEND_DEADLINE: Final = 30.0
"""Seconds that one platform call may take before its outcome counts as unknown."""
MOST_TRIES: Final = 6
LONGEST_PAUSE: Final = 60.0
FRESH: Final = 1.0
"""Seconds after which a message that waits is looked up again before it is sent: it may have been taken back."""
LOOK_AGAIN: Final = (0.5, 2.0)
"""Seconds until it is looked again for a message whose history could not be read."""
LOST: Final = frozenset({"failed", "unknown"})
"""States of messages that did not arrive, or of which nobody knows it."""
SETTLE_DEADLINE: Final = 60.0
"""Seconds that the database may be away while an outcome is written down."""


def _nobody() -> None:
    """Tell nobody."""


async def _unheard(_: Said) -> None:
    """Tell nobody."""


class Sender:
    """Carries committed messages to their platforms and settles each row.

    `on_withdrawn` is called when a message was sent that had been withdrawn meanwhile; `on_sent` before a message is
    settled that was sent, again and again until it returns.
    """

    def __init__(
        self,
        rows: OutboxRows,
        store: Store,
        bridges: Mapping[str, Bridge],
        on_withdrawn: Callable[[], None] = _nobody,
        on_sent: Callable[[Said], Awaitable[None]] = _unheard,
    ) -> None:
        self._rows = rows
        self._on_withdrawn = on_withdrawn
        self._on_sent = on_sent
        self._store = store
        self._bridges = bridges
        self._waiting: dict[str, deque[Posted]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._known: dict[int, float] = {}
        """When each message that waits was queued, by the loop's clock."""

    def post(self, messages: Iterable[Posted]) -> None:
        """Queue committed messages, those aside that it has already; returns at once."""
        for posted in messages:
            if posted.outbox_id in self._known:
                continue
            self._known[posted.outbox_id] = asyncio.get_running_loop().time()
            channel = conversation_key(posted.message.platform, posted.message.channel)
            self._waiting.setdefault(channel, deque()).append(posted)
            if channel not in self._tasks:
                self._tasks[channel] = asyncio.create_task(self._drain(channel), name=f"send {channel}")

    @property
    def is_busy(self) -> bool:
        """Tell whether anything waits."""
        return bool(self._tasks)

    async def idle(self) -> None:
        """Return when nothing waits."""
        while self._tasks:
            await asyncio.wait(set(self._tasks.values()))

    async def stop(self) -> None:
        """Stop sending; what is not settled is taken over at the next start."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drain(self, channel: str) -> None:
        waiting = self._waiting[channel]
        try:
            while waiting:
                posted = waiting.popleft()
                try:
                    await self._deliver(posted)
                except Exception:
                    log.exception("message_not_settled", outbox_id=posted.outbox_id)
                finally:
                    del self._known[posted.outbox_id]
        finally:
            del self._tasks[channel], self._waiting[channel]

    async def _deliver(self, posted: Posted) -> None:
        bridge = self._bridges.get(posted.message.platform)
        if bridge is None:
            await self._settle(posted, "failed", reason="no bridge for this platform")
            return
        posted = replace(posted, message=fitted(posted.message, bridge.capabilities))
        if posted.edits is not None and not bridge.capabilities.edits:
            await self._settle(posted, "unsupported", reason="the platform cannot change what was sent")
            return
        # An edit is harmless twice, as a message under a key is.
        keyed = bridge.capabilities.has_key(posted.message) or posted.edits is not None
        if not keyed and posted.was_sending:
            await self._read_back(bridge, posted, "the process ended while it was being sent")
            return
        if keyed and posted.left_for is not None and self._is_forgotten(bridge, posted, posted.left_for):
            reason = "it was left for longer than the platform remembers its key"
            if await self._stands(bridge, posted, reason):
                return
        # A key makes a second call harmless: only what has none, may not be committed, or has waited is marked first;
        # and a notice, so that one that is withdrawn while it is sent is known to be on its way.
        is_fresh = posted.certain and posted.message.card is None and not self._has_waited(posted)
        if not (keyed and is_fresh) and not await self._claim(posted):
            return
        await self._send(bridge, posted, keyed=keyed)

    def _has_waited(self, posted: Posted) -> bool:
        return asyncio.get_running_loop().time() - self._known[posted.outbox_id] > FRESH

    def _is_forgotten(self, bridge: Bridge, posted: Posted, seconds: float) -> bool:
        """Tell whether the platform may have forgotten the key of a message that it took so long ago."""
        remembered = bridge.capabilities.key_seconds
        return posted.edits is None and remembered is not None and seconds > remembered

    async def _claim(self, posted: Posted) -> bool:
        """Mark a message as about to be sent; False when it was never committed or was taken back meanwhile."""
        return await self._store.retrying(lambda: self._rows.claim(posted.outbox_id), patience=SETTLE_DEADLINE)

    async def _send(self, bridge: Bridge, posted: Posted, *, keyed: bool) -> None:
        reason, loop = "", asyncio.get_running_loop()
        in_doubt: float | None = None  # since when it may stand there
        for attempt in range(MOST_TRIES):
            if attempt and not await self._claim(posted):
                if in_doubt is not None:  # it may stand there, and must go again
                    await self._read_back(bridge, posted, "taken back while nobody knew whether it was sent")
                else:
                    await self._settle(posted, "cancelled", reason="taken back while it waited")
                return
            if in_doubt is not None and self._is_forgotten(bridge, posted, loop.time() - in_doubt):
                if await self._stands(bridge, posted, reason):
                    return
                in_doubt = None
            began = loop.time()
            try:
                outcome = await self._call(bridge, posted)
            except SendFailed as failure:
                reason = failure.reason
                if failure.retry_after is None:
                    break
                await asyncio.sleep(min(max(failure.retry_after, 0.05), LONGEST_PAUSE))
                continue
            if isinstance(outcome, Sent):
                await self._settle(posted, "sent", message_id=outcome.message_id)
                return
            reason, in_doubt = outcome.reason, in_doubt if in_doubt is not None else began
            if not keyed:
                await self._read_back(bridge, posted, reason)
                return
            await asyncio.sleep(min(0.1 * 2**attempt, LONGEST_PAUSE))
        await self._settle(posted, "failed", reason=reason)

    async def _call(self, bridge: Bridge, posted: Posted) -> Sent | OutcomeUnknown:
        """Call the platform; whatever goes wrong on the way leaves the outcome unknown."""
        try:
            async with asyncio.timeout(SEND_DEADLINE):
                if posted.edits is None:
                    return await bridge.send(posted.message)
                await bridge.edit(posted.edits, posted.message)
                return Sent(posted.edits)
        except SendFailed:
            raise
        except TimeoutError:
            return OutcomeUnknown("no answer in time")
        except Exception as error:
            log.exception("send_raised", platform=posted.message.platform)
            return OutcomeUnknown(type(error).__name__)

    async def _read_back(self, bridge: Bridge, posted: Posted, reason: str) -> None:
        """Settle a message that is not sent again, whether it is found or not."""
        if not await self._stands(bridge, posted, reason):
            await self._settle(posted, "unknown", reason=reason)

    async def _stands(self, bridge: Bridge, posted: Posted, reason: str) -> bool:
        """Settle a message that stands on the platform, or of which that cannot be found out; False: it does not."""
        for pause in (*LOOK_AGAIN, None):
            try:
                async with asyncio.timeout(SEND_DEADLINE):
                    found = await bridge.find_sent(replace(posted.message, made_at=posted.made_at))
            except Exception:
                log.exception("read_back_failed", platform=posted.message.platform)
                if pause is not None:
                    await asyncio.sleep(pause)
                continue
            if found is not None:
                await self._settle(posted, "sent", message_id=found.message_id)
            return found is not None
        await self._settle(posted, "unknown", reason=reason)
        return True

    async def _settle(
        self, posted: Posted, state: str, *, message_id: str | None = None, reason: str | None = None
    ) -> None:
        metrics.emit("messages_out", platform=posted.message.platform, state=state)
        if state != "sent":
            log.warning("message_not_sent", key=posted.message.key, state=state, reason=reason)
            bridge = self._bridges.get(posted.message.platform)
            if state in LOST and posted.edits is None and isinstance(bridge, TellsLosses):
                bridge.undelivered(posted.message, reason or state)
        if state == "sent" and message_id is not None:
            said = Said(posted.message, message_id, is_edit=posted.edits is not None)
            await self._store.retrying(lambda: self._on_sent(said), patience=SETTLE_DEADLINE)
        withdrawn = await self._store.retrying(
            lambda: self._rows.settle(posted, state, message_id=message_id, reason=reason), patience=SETTLE_DEADLINE
        )
        if withdrawn:
            self._on_withdrawn()
