"""The one webhook that the agent keeps in a channel, through which its personas speak there."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import nextcord
from cachetools import LRUCache
from nextcord.http import Route

from agent import logs
from agent.bridge import SendFailed
from agent.settings.errors import SecretError
from agent.store.errors import StoreError
from bridges.discord.names import webhook_name
from bridges.discord.refusals import failure_of

if TYPE_CHECKING:
    from agent.bridge import State
    from bridges.discord.client import DiscordClient
    from bridges.discord.guilds import Guilds

log = logs.get_logger(__name__)

_KEPT: Final = "webhook:"
"""Before a channel's id: the webhook's id and token, encrypted."""
_OWN: Final = "own-webhook:"
"""Before the id of every webhook that ever was the agent's: what it said is the agent's, whatever becomes of it."""
_LOCKS: Final = 1_000
_PATIENCE: Final = 8.0
"""Seconds in which a webhook must be found or made: nothing is posted meanwhile."""


@dataclass(frozen=True, slots=True)
class Hook:
    """A webhook of the agent's. Its token is a secret: it stands in addresses alone, where logs take it out."""

    id: str
    token: str

    def route(self, method: str, below: str = "", **parameters: Any) -> Route:
        """Return a route to it; the token is in the path as Discord writes it, so that `agent.redaction` finds it."""
        return Route(method, f"/webhooks/{self.id}/{self.token}{below}", **parameters)

    def __repr__(self) -> str:
        """Return it without the token."""
        return f"Hook({self.id})"


class Webhooks:
    """Finds, makes and remembers webhooks; their ids are known before they say anything."""

    def __init__(self, client: DiscordClient, guilds: Guilds, state: State) -> None:
        self._client = client
        self._guilds = guilds
        self._state = state
        self._hooks: dict[str, Hook] = {}
        self._locks: LRUCache[str, asyncio.Lock] = LRUCache(_LOCKS)

    async def load(self) -> None:
        """Read what is kept; webhooks whose tokens cannot be read any more are asked for again."""
        for key in await self._state.below(_OWN):
            self._guilds.own_webhooks.add(key.removeprefix(_OWN))
        try:
            kept = await self._state.below(_KEPT)
        except SecretError as error:
            log.warning("webhooks_not_readable", problem=str(error))
            return
        for key, value in kept.items():
            written = json.loads(value)
            self._know(key.removeprefix(_KEPT), Hook(written["id"], written["token"]))

    def known(self, channel_id: str) -> Hook | None:
        """Return the webhook of a channel, where it has one that is known."""
        return self._hooks.get(channel_id)

    async def of(self, channel_id: str) -> Hook:
        """Return the webhook of a channel, which is found or made when it is not known.

        Raises:
            SendFailed: there can be none (`bridges.discord.refusals.Refused`), or Discord does not answer.
        """
        lock = self._locks.setdefault(channel_id, asyncio.Lock())
        try:
            async with asyncio.timeout(_PATIENCE), lock:
                if (hook := self._hooks.get(channel_id)) is None:
                    hook = await self._found(channel_id) or await self._made(channel_id)
                    self._know(channel_id, hook)
                    await self._keep(channel_id, hook)
        except (nextcord.HTTPException, nextcord.errors.HTTPInternalCancelled, aiohttp.ClientError, OSError) as error:
            raise failure_of(error) from None
        return hook

    async def lost(self, channel_id: str, hook: Hook) -> None:
        """Forget a webhook that is gone, or whose token is not taken any more; what it said stays the agent's."""
        if self._hooks.get(channel_id) == hook:
            del self._hooks[channel_id]
            await self._state.remove(f"{_KEPT}{channel_id}")
            log.info("webhook_gone", channel=channel_id, webhook=hook.id)

    async def _keep(self, channel_id: str, hook: Hook) -> None:
        """Keep a webhook for the next start; where that fails it is found again then."""
        try:
            written = json.dumps({"id": hook.id, "token": hook.token})
            await self._state.put({f"{_OWN}{hook.id}": channel_id})
            await self._state.put({f"{_KEPT}{channel_id}": written}, secret=True)
        except StoreError as error:
            log.warning("webhook_not_kept", channel=channel_id, reason=str(error))

    def _know(self, channel_id: str, hook: Hook) -> None:
        self._hooks[channel_id] = hook
        self._guilds.own_webhooks.add(hook.id)

    async def _found(self, channel_id: str) -> Hook | None:
        """Return the oldest webhook of a channel that the agent has made, as before its state was lost."""
        written = await self._client.http.request(
            Route("GET", "/channels/{channel_id}/webhooks", channel_id=channel_id)
        )
        own = str(self._client.application_id)
        hooks = [each for each in written if str(each.get("application_id")) == own and each.get("token")]
        oldest = min(hooks, key=lambda each: int(each["id"]), default=None)
        return None if oldest is None else Hook(str(oldest["id"]), str(oldest["token"]))

    async def _made(self, channel_id: str) -> Hook:
        """Make a webhook; one whose answer is lost is found at the next try."""
        user = self._client.user
        written = await self._client.http.request(
            Route("POST", "/channels/{channel_id}/webhooks", channel_id=channel_id),
            json={"name": webhook_name(user.name if user is not None else "")},
            retry_request=False,
        )
        if not written.get("token"):
            raise SendFailed("Discord gave a webhook without a token")
        return Hook(str(written["id"]), str(written["token"]))
