"""What the agent sends: its own messages under a nonce, its personas' through webhooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import aiohttp
import nextcord
from cachetools import LRUCache
from nextcord.http import Route

from agent.bridge import OutcomeUnknown, OutgoingMessage, SendFailed, Sent, SentMessage
from agent.places import ChannelRef
from bridges.discord import refusals
from bridges.discord.bodies import as_options, edit_of, nonce_of, own_body
from bridges.discord.refusals import code_of, failure_of, outcome_of
from bridges.discord.speaking import Speaking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridges.discord.client import DiscordClient
    from bridges.discord.guilds import Guilds
    from bridges.discord.reporting import Reporting
    from bridges.discord.webhooks import Webhooks

_WITHDRAWN: Final = 1_000
"""Withdrawals whose events may be on their way."""
_MESSAGE: Final = "/channels/{channel_id}/messages/{message_id}"


class Posting:
    """Posts, edits and deletes what the agent and its personas say."""

    def __init__(self, client: DiscordClient, guilds: Guilds, webhooks: Webhooks, reporting: Reporting) -> None:
        self._client = client
        self._guilds = guilds
        self._reporting = reporting
        self.speaking = Speaking(client, webhooks, self._post, reporting.no_webhook)
        """What personas say, and people from elsewhere."""
        self._withdrawn: LRUCache[str, bool] = LRUCache(_WITHDRAWN)

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        """Post a message; the same key twice posts it once, as long as Discord remembers the nonce (some minutes).

        A persona's message in a server has no key. What is refused for good is reported.

        Raises:
            SendFailed: Discord refused.
        """
        try:
            self._check_place(message)
            if message.persona_name is not None:
                return await self.speaking.send(message)
            return await self._post(message)
        except SendFailed as failure:
            if failure.retry_after is None:
                self._reporting.undelivered(message, failure)
            raise

    def _check_place(self, message: OutgoingMessage) -> None:
        """Refuse a channel that is none, or another server's: a setting may name any, as that of the thought log."""
        channel = message.channel.external_id
        if not (channel.isascii() and channel.isdecimal()):
            raise SendFailed(f"no channel in Discord has the id {channel!r}")
        if self._guilds.is_elsewhere(int(channel), message.server):
            raise SendFailed(f"the channel {channel} is none of the server {message.server.external_id}")

    async def _post(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        """Post as the agent itself, without what it may not use there."""
        route = Route("POST", "/channels/{channel_id}/messages", channel_id=message.channel.external_id)
        body = {**self._body(message), "nonce": nonce_of(message.key), "enforce_nonce": True}
        try:
            posted = await self._client.http.request(route, **as_options(body, message.file))
        except (nextcord.HTTPException, nextcord.errors.HTTPInternalCancelled, aiohttp.ClientError, OSError) as error:
            return outcome_of(error)
        return Sent(str(posted["id"]))

    def _body(self, message: OutgoingMessage) -> dict[str, Any]:
        allowed = self._guilds.permissions(int(message.channel.external_id))
        if allowed is None:
            return own_body(message)
        return own_body(message, embeds=allowed.embed_links, refers=allowed.read_message_history)

    async def edit(self, message_id: str, message: OutgoingMessage) -> None:
        """Give a message another text.

        Raises:
            SendFailed: Discord refused, or it is gone.
        """
        if message.persona_name is not None and await self.speaking.edit(message_id, message):
            return
        route = Route("PATCH", _MESSAGE, channel_id=message.channel.external_id, message_id=message_id)
        await self._request(route, **as_options(edit_of(self._body(message)), message.file))

    async def withdraw(self, message: SentMessage) -> None:
        """Delete a message; one that is gone already is done.

        Raises:
            SendFailed: Discord refused.
        """
        self._withdrawn[message.message_id] = True
        try:
            await self._delete(message)
        except BaseException:
            self._withdrawn.pop(message.message_id, None)
            raise

    def has_withdrawn(self, kind: str, data: Mapping[str, Any]) -> bool:
        """Tell whether an event of the gateway is the agent's own deletion."""
        return kind == "MESSAGE_DELETE" and str(data["id"]) in self._withdrawn

    async def _delete(self, message: SentMessage) -> None:
        route = Route("DELETE", _MESSAGE, channel_id=message.channel_id, message_id=message.message_id)
        try:
            await self._request(route)
        except SendFailed as failure:
            if code_of(failure) in refusals.GONE:
                return
            if code_of(failure) not in refusals.MAY_NOT:
                raise
            channel = ChannelRef(message.channel_id, "", parent_external_id=self._guilds.parent_of(message.channel_id))
            if not await self.speaking.delete(channel, message.message_id):
                raise

    async def _request(self, route: Route, **options: Any) -> Any:
        try:
            return await self._client.http.request(route, **options)
        except (nextcord.HTTPException, aiohttp.ClientError, OSError) as error:
            raise failure_of(error) from error
