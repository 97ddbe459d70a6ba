"""Personas: they speak through the channel's webhook, or as the agent with their name in front."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import nextcord
from cachetools import TTLCache

from agent import logs
from agent.bridge import OutcomeUnknown, SendFailed, Sent
from agent.places import ServerKind
from agent.relaying.mouthpiece import Voiced
from bridges.discord import refusals
from bridges.discord.bodies import as_options, edit_of, persona_body
from bridges.discord.described import described
from bridges.discord.names import NEUTRAL, webhook_name
from bridges.discord.refusals import Refused, code_of, outcome_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nextcord.http import Route

    from agent.bridge import OutgoingMessage
    from agent.places import ChannelRef
    from bridges.discord.client import DiscordClient
    from bridges.discord.webhooks import Hook, Webhooks

log = logs.get_logger(__name__)

_NO_HOOK: Final = frozenset(
    {refusals.NO_ACCESS, refusals.NO_PERMISSION, refusals.MOST_WEBHOOKS, refusals.NO_WEBHOOKS_HERE}
)
"""Codes that say that a channel can have no webhook of the agent's."""
_STALE: Final = frozenset({refusals.UNKNOWN_WEBHOOK, refusals.BAD_WEBHOOK_TOKEN})
_BARRED: Final = 600.0
"""Seconds until it is tried again whether the agent may have a webhook."""
_PLACES: Final = 10_000
_LOCKED: Final = 12.0
"""Seconds that a message waits for a bucket that is empty, before its channel's queue looks after it."""
_LOOK: Final = 0.25
_TRIES: Final = 4

type AsAgent = Callable[[OutgoingMessage], Awaitable[Sent | OutcomeUnknown]]
type Barred = Callable[[OutgoingMessage], None]


def home_of(channel: ChannelRef) -> str:
    """Return the channel whose webhook speaks in a channel: itself, or what a thread hangs below."""
    return channel.parent_external_id or channel.external_id


class Speaking:
    """Posts what personas say.

    `as_agent` posts a message as the agent itself; `on_barred` is called where the agent may have no webhook.
    """

    def __init__(self, client: DiscordClient, webhooks: Webhooks, as_agent: AsAgent, on_barred: Barred) -> None:
        self._client = client
        self._webhooks = webhooks
        self._as_agent = as_agent
        self._on_barred = on_barred
        self._barred: TTLCache[str, bool] = TTLCache(_PLACES, _BARRED)

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        """Post what a persona says; it is called once, since webhooks have no keys.

        Raises:
            SendFailed: nothing was posted.
        """
        home = home_of(message.channel)
        if message.server.kind is ServerKind.DIRECT or home in self._barred:
            return await self._as_agent(message)
        try:
            hook = await self._webhooks.of(home)
        except Refused as refused:
            if refused.code not in _NO_HOOK:
                raise
            self._barred[home] = True
            self._on_barred(message)
            return await self._as_agent(message)
        outcome = await self._post(message, home, hook)
        return Sent(outcome.message_id) if isinstance(outcome, Voiced) else outcome

    async def voice(self, message: OutgoingMessage, quote: str) -> Voiced | OutcomeUnknown:
        """Post what somebody says from elsewhere, under the persona's name and picture of the message.

        Raises:
            SendFailed: nothing was posted.
        """
        home = home_of(message.channel)
        return await self._post(message, home, await self._webhooks.of(home), quote)

    async def _post(self, message: OutgoingMessage, home: str, hook: Hook, quote: str = "") -> Voiced | OutcomeUnknown:
        """Post through a webhook; one that is gone is replaced, a name or picture that is refused is left out."""
        name, avatar, renewed = webhook_name(message.persona_name or ""), True, False
        for _ in range(_TRIES):
            body = persona_body(message, username=name, avatar=avatar, quote=quote)
            try:
                posted = await self._request(hook, "POST", message, body, wait="true")
            except nextcord.HTTPException as error:
                if error.code in _STALE and not renewed:
                    renewed = True
                    await self._webhooks.lost(home, hook)
                    hook = await self._webhooks.of(home)
                elif error.code == refusals.BAD_FORM and "username" in error.text and name != NEUTRAL:
                    name = NEUTRAL
                elif error.code == refusals.BAD_FORM and "avatar_url" in error.text and avatar:
                    avatar = False
                else:
                    return outcome_of(error)
            except (aiohttp.ClientError, OSError, nextcord.errors.HTTPInternalCancelled) as error:
                return outcome_of(error)
            else:
                return Voiced(str(posted["id"]), hook.id, described(posted).attachments)
        raise SendFailed("Discord takes neither the persona's name nor its picture")

    async def edit(self, message_id: str, message: OutgoingMessage, quote: str = "") -> bool:
        """Give what a persona said another text; False when no webhook of the agent's has said it.

        Raises:
            SendFailed: Discord refused.
        """
        body = edit_of(persona_body(message, username=NEUTRAL, quote=quote))
        return await self._change("PATCH", message.channel, message_id, message, body)

    async def delete(self, channel: ChannelRef, message_id: str) -> bool:
        """Delete what a persona said; False when no webhook of the agent's has said it.

        Raises:
            SendFailed: Discord refused.
        """
        return await self._change("DELETE", channel, message_id)

    async def _change(
        self,
        method: str,
        channel: ChannelRef,
        message_id: str,
        message: OutgoingMessage | None = None,
        body: dict[str, Any] | None = None,
    ) -> bool:
        hook = self._webhooks.known(home_of(channel))
        if hook is None:
            return False
        route = hook.route(method, "/messages/{message_id}", message_id=message_id)
        options = {} if message is None or body is None else as_options(body, message.file)
        try:
            await self._client.http.request(route, auth=None, params=_thread(channel), **options)
        except (nextcord.HTTPException, aiohttp.ClientError, OSError) as error:
            if code_of(error) in _STALE:
                await self._webhooks.lost(home_of(channel), hook)
                return False
            if code_of(error) == refusals.UNKNOWN_MESSAGE:
                return False
            raise refusals.failure_of(error) from None
        return True

    async def _request(
        self, hook: Hook, method: str, message: OutgoingMessage, body: dict[str, Any], **query: str
    ) -> Any:
        """Call once. While nextcord holds the bucket shut nothing is called, so that waiting for it is safe."""
        route = hook.route(method)
        loop = asyncio.get_running_loop()
        until = loop.time() + _LOCKED
        while True:
            try:
                return await self._client.http.request(
                    route,
                    auth=None,
                    params={**query, **_thread(message.channel)},
                    retry_request=False,
                    **as_options(body, message.file),
                )
            except nextcord.errors.HTTPInternalCancelled:
                if loop.time() > until:
                    raise
                self._unlock(route)
                await asyncio.sleep(_LOOK)

    def _unlock(self, route: Route) -> None:
        """Let a bucket open again whose last call had no answer: nextcord does that only for calls that wait in it."""
        limit = self._client.http._get_url_rate_limit(route.method, route, None)  # noqa: SLF001 - it has no other way
        if limit is not None and limit.locked and not limit.resetting:
            limit.start_reset_task()


def _thread(channel: ChannelRef) -> dict[str, str]:
    return {"thread_id": channel.external_id} if channel.parent_external_id is not None else {}
