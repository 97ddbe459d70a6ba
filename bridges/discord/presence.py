"""The agent's presence: green, yellow while its model is away, red while its database is."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

import nextcord

from agent import logs
from agent.ailments import Ailment

if TYPE_CHECKING:
    from agent.bridge import BridgeHost
    from bridges.discord.client import DiscordClient

log = logs.get_logger(__name__)

LOOK_EVERY: Final = 20.0
"""Seconds; Discord takes 5 changes in 20 seconds."""
_PATIENCE: Final = 10.0
STATUSES: Final = {
    None: nextcord.Status.online,
    Ailment.MODEL: nextcord.Status.idle,
    Ailment.DATABASE: nextcord.Status.dnd,
}


class StatusLight:
    """Shows how the agent is. A session that begins anew is green and says nothing: it has to be told."""

    def __init__(self, client: DiscordClient, host: BridgeHost, text: str, every: float = LOOK_EVERY) -> None:
        self._client = client
        self._host = host
        self._activity = nextcord.CustomActivity(name=text) if text else None
        self._every = every
        self._shown: nextcord.Status = nextcord.Status.online
        self._anew = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look."""
        self._task = asyncio.create_task(self._run(), name="discord presence")

    def session_began(self) -> None:
        """Show it in a new session."""
        self._anew.set()

    async def stop(self) -> None:
        """Look no longer."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._every):
                    await self._anew.wait()
            is_anew = self._anew.is_set()
            self._anew.clear()
            try:
                await self._look(is_anew=is_anew)
            except Exception as error:  # noqa: BLE001 - a light is only comfort, and is lit again at the next look
                log.debug("presence_not_shown", reason=type(error).__name__)

    async def _look(self, *, is_anew: bool) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                ailment = await self._host.ailment()
        except TimeoutError:
            ailment = Ailment.DATABASE
        status = STATUSES[ailment]
        if status is self._shown and not is_anew:
            return
        if status is not self._shown:
            log.info("presence_changed", status=status.value)
        self._shown = status
        await self._client.change_presence(status=status, activity=self._activity)
