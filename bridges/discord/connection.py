"""Login and gateway: what goes wrong at the start is told in one line, with the way out."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

import aiohttp
import nextcord

from agent import logs
from agent.bridge import BridgeStartFailed

if TYPE_CHECKING:
    from bridges.discord.client import DiscordClient
    from bridges.discord.settings import DiscordSettings

log = logs.get_logger(__name__)

PATIENCE: Final = 60.0
"""Seconds until Discord must have sent the list of servers."""
_DENIED: Final = 4014
_BAD_TOKEN: Final = 4004


class Connection:
    """Keeps one client connected; it resumes and reconnects by itself."""

    def __init__(self, client: DiscordClient, settings: DiscordSettings) -> None:
        self._client = client
        self._settings = settings
        self._task: asyncio.Task[None] | None = None
        self.trouble: str | None = None
        """Why the connection ended for good; None while it lasts."""

    async def open(self) -> None:
        """Log in and wait until the servers are known.

        Raises:
            BridgeStartFailed: with the way out.
        """
        try:
            await self._client.login(self._settings.token.resolve().get_secret_value())
        except nextcord.LoginFailure:
            raise BridgeStartFailed(
                f"bridge discord: Discord refuses the token ({self._settings.token}): make a new one in the developer "
                "portal (Bot, Reset Token) and run isthmus setup discord"
            ) from None
        except (nextcord.HTTPException, aiohttp.ClientError, OSError) as error:
            raise BridgeStartFailed(
                f"bridge discord: {self._settings.api_base} cannot be reached ({type(error).__name__}): check the "
                "network, or api_base in [bridges.discord]"
            ) from error
        self._task = asyncio.create_task(self._stay(), name="discord gateway")
        ready = asyncio.create_task(self._client.wait_until_ready())
        try:
            await asyncio.wait({self._task, ready}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        if self.trouble is not None:
            raise BridgeStartFailed(f"bridge discord: {self.trouble}")
        if not self._client.is_ready():
            raise BridgeStartFailed(
                f"bridge discord: Discord's gateway did not answer within {PATIENCE:.0f} seconds; try again later"
            )

    async def close(self) -> None:
        """Close the connection."""
        with contextlib.suppress(aiohttp.ClientError, OSError):
            await self._client.close()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _stay(self) -> None:
        try:
            await self._client.connect()
        except nextcord.PrivilegedIntentsRequired:
            self.trouble = self._denied()
        except nextcord.ConnectionClosed as error:
            self.trouble = self._closed(error.code)
        except (nextcord.DiscordException, aiohttp.ClientError, OSError) as error:
            self.trouble = f"the gateway cannot be reached ({type(error).__name__})"
        if self.trouble is not None:
            log.error("discord_connection_ended", problem=self.trouble)

    def _closed(self, code: int) -> str:
        if code == _DENIED:
            return self._denied()
        if code == _BAD_TOKEN:
            return f"Discord no longer takes the token ({self._settings.token}): run isthmus setup discord"
        return f"Discord closed the connection with code {code}"

    def _denied(self) -> str:
        wanted = [
            *(["Message Content Intent (or message_content = false)"] if self._settings.message_content else []),
            *(["Server Members Intent (or members = false)"] if self._settings.members else []),
        ]
        return (
            f"the developer portal denies an intent: switch on, under Bot, {' and '.join(wanted)} in [bridges.discord]"
        )
