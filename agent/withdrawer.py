"""Deletes the notices that were withdrawn, after the commit that withdrew them, whoever committed it and when."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from agent import logs, metrics
from agent.bridge import SendFailed
from agent.store.errors import StoreError
from agent.store.notices import WITHDRAWN

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from agent.bridge import Bridge, SentMessage
    from agent.store.notices import Withdrawal, WithdrawalRows

log = logs.get_logger(__name__)

LOOK_EVERY: Final = 15.0
"""Seconds after which it looks unasked: for what another process has withdrawn, and for what is due again."""
DEADLINE: Final = 30.0
"""Seconds that one platform call may take."""
SIDE_BY_SIDE: Final = 4
"""Withdrawals under way at once; they never wait in line with answers."""


async def _unheard(_: SentMessage) -> None:
    """Tell nobody."""


class Withdrawer:
    """Carries out withdrawals for the platforms that this process serves."""

    def __init__(
        self,
        rows: WithdrawalRows,
        bridges: Mapping[str, Bridge],
        on_withdrawn: Callable[[SentMessage], Awaitable[None]] = _unheard,
    ) -> None:
        """Take what is told of each message that is gone, before that is settled."""
        self._rows = rows
        self._on_withdrawn = on_withdrawn
        self._bridges = bridges
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._rest = asyncio.Event()
        self._rest.set()

    def start(self) -> None:
        """Begin; what an earlier process left is done first."""
        if self._bridges:
            self.wake()
            self._task = asyncio.create_task(self._run(), name="withdraw notices")

    async def stop(self) -> None:
        """End; what is not settled is done by whoever serves the platform next."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    def wake(self) -> None:
        """Look at once."""
        if self._bridges:
            self._rest.clear()
            self._wake.set()

    def hear(self, owner: str) -> None:
        """Look when notices were withdrawn (a listener of `agent.invalidation`)."""
        if owner == WITHDRAWN:
            self.wake()

    @property
    def is_busy(self) -> bool:
        """Tell whether something was withdrawn and is not looked at yet."""
        return self._task is not None and not self._rest.is_set()

    async def idle(self) -> None:
        """Return when everything that is due was tried."""
        if self._task is not None:
            await self._rest.wait()

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY):
                    await self._wake.wait()
            self._wake.clear()
            try:
                while found := await self._rows.take(self._bridges):
                    await self._carry_out(found)
            except StoreError as error:
                log.warning("withdrawals_not_read", reason=str(error))
            except Exception:
                log.exception("withdrawals_failed")
            if not self._wake.is_set():
                self._rest.set()

    async def _carry_out(self, found: tuple[Withdrawal, ...]) -> None:
        free = asyncio.Semaphore(SIDE_BY_SIDE)

        async def one(withdrawal: Withdrawal) -> None:
            async with free:
                await self._withdraw(withdrawal)

        async with asyncio.TaskGroup() as group:
            for withdrawal in found:
                group.create_task(one(withdrawal))

    async def _withdraw(self, withdrawal: Withdrawal) -> None:
        """Delete one message and settle its row; a failure that passes puts it off."""
        message = withdrawal.message
        bridge = self._bridges[message.platform]
        if not bridge.capabilities.withdraws:
            await self._settle(withdrawal, "unsupported", "the platform cannot delete what was sent")
            return
        try:
            async with asyncio.timeout(DEADLINE):
                await bridge.withdraw(message)
                await self._on_withdrawn(message)
        except SendFailed as failure:
            if failure.retry_after is None:
                await self._settle(withdrawal, "failed", failure.reason)
            else:
                await self._rows.put_off(withdrawal, failure.reason)
        except TimeoutError:
            await self._rows.put_off(withdrawal, "no answer in time")
        except Exception as error:
            log.exception("withdraw_raised", platform=message.platform)
            await self._rows.put_off(withdrawal, type(error).__name__)
        else:
            await self._settle(withdrawal, "sent")

    async def _settle(self, withdrawal: Withdrawal, state: str, reason: str | None = None) -> None:
        metrics.emit("notices_withdrawn", platform=withdrawal.message.platform, state=state)
        if state != "sent":
            log.warning("notice_not_withdrawn", outbox_id=withdrawal.outbox_id, state=state, reason=reason)
        await self._rows.settle(withdrawal, state, reason)
