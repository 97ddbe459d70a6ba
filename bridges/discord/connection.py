"""Login and gateway: what goes wrong is told in one line, with the way out."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

import aiohttp
import nextcord

from agent import logs
from agent.bridge import BridgeStartFailed
from bridges.discord.checking import TokenRefused, Unreachable, application_of

if TYPE_CHECKING:
    from bridges.discord.client import DiscordClient
    from bridges.discord.settings import DiscordSettings

log = logs.get_logger(__name__)

PATIENCE: Final = 60.0
"""Seconds until Discord must have sent the list of servers."""
AGAIN: Final = 300.0
"""Seconds until a connection is tried again that Discord has ended for good; it takes 1,000 new sessions a day."""
_DENIED: Final = 4014
_BAD_TOKEN: Final = 4004


class Connection:
    """Keeps one client connected; it resumes and reconnects by itself, and what Discord ended is tried again."""

    def __init__(self, client: DiscordClient, settings: DiscordSettings, again: float = AGAIN) -> None:
        self._client = client
        self._settings = settings
        self._again = again
        self._task: asyncio.Task[None] | None = None
        self._has_begun = False
        self.trouble: str | None = None
        """Why there is no connection; None while there is."""

    async def open(self) -> None:
        """Log in and wait until the servers are known.

        Raises:
            BridgeStartFailed: with the way out.
        """
        await self._log_in()
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
        self._has_begun = True
        user, shards = self._client.user, len(self._client.shards)
        log.info("discord_connected", bot=str(user), servers=len(self._client.guilds), shards=shards)

    async def close(self) -> None:
        """Close the connection."""
        with contextlib.suppress(aiohttp.ClientError, OSError):
            await self._client.close()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _log_in(self) -> None:
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

    async def _stay(self) -> None:
        """Stay connected. Before the start is done the first failure ends it; later it is tried again and again."""
        while True:
            self.trouble = await self._ended()
            if self.trouble is None or not self._has_begun:
                return
            log.error("discord_connection_ended", problem=self.trouble, again_in_seconds=self._again)
            await self._client.reopen()  # what REST still takes goes on
            await asyncio.sleep(self._again)

    async def _ended(self) -> str | None:
        """Connect, and return why that ended; None when it was closed."""
        try:
            if self.trouble is not None:
                await self._log_in()
                self.trouble = None
            await self._client.connect()
        except BridgeStartFailed as failure:
            return str(failure).removeprefix("bridge discord: ")
        except nextcord.PrivilegedIntentsRequired:
            return await self._denied()
        except nextcord.ConnectionClosed as error:
            return await self._closed(error.code)
        except (nextcord.DiscordException, aiohttp.ClientError, OSError) as error:
            return f"the gateway cannot be reached ({type(error).__name__})"
        except Exception as error:
            log.exception("gateway_failed")
            return f"Discord sent something that was not understood ({type(error).__name__})"
        return None

    async def _closed(self, code: int) -> str:
        if code == _DENIED:
            return await self._denied()
        if code == _BAD_TOKEN:
            return f"Discord no longer takes the token ({self._settings.token}): run isthmus setup discord"
        return f"Discord closed the connection with code {code}"

    async def _denied(self) -> str:
        """Name the intents that are switched off; both that are asked for where Discord does not say."""
        settings = self._settings
        has_content = has_members = False
        with contextlib.suppress(TokenRefused, Unreachable):
            found = await application_of(settings.token.resolve().get_secret_value(), settings.api_base)
            has_content, has_members = found.has_content, found.has_members
        asked = (
            ("Message Content Intent (or message_content = false)", settings.message_content, has_content),
            ("Server Members Intent (or members = false)", settings.members, has_members),
        )
        missing = [text for text, is_wanted, is_on in asked if is_wanted and not is_on]
        wanted = missing or [text for text, is_wanted, _ in asked if is_wanted]
        return (
            f"the developer portal denies an intent: switch on, under Bot, {' and '.join(wanted)} in [bridges.discord]"
        )
