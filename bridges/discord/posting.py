"""What the agent sends: its own messages under a nonce, with explicit allowed mentions."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import nextcord
from nextcord.http import Route

from agent.bridge import OutcomeUnknown, OutgoingMessage, SendFailed, Sent, SentMessage
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.mentions import give_form

if TYPE_CHECKING:
    from bridges.discord.client import DiscordClient

_NONCE: Final = 25
"""Characters of a nonce that Discord takes."""
_UNKNOWN_MESSAGE: Final = 10008
_GONE: Final = frozenset({10003, _UNKNOWN_MESSAGE})
"""Codes that say that a message or its channel is not there any more."""
_TRY_AGAIN: Final = 5.0
"""Seconds after which what failed on Discord's side is tried again."""


def nonce_of(key: str) -> str:
    """Return the nonce of an idempotency key: the same key gives the same nonce, on every start."""
    return hashlib.sha256(key.encode()).hexdigest()[:_NONCE]


def mention_of(key: ParticipantKey) -> str:
    """Return how Discord writes a mention; what is no account of Discord is no mention."""
    return f"<@{key.id}>" if key.kind in {ParticipantKind.DISCORD_USER, ParticipantKind.BOT} else f"@{key.id}"


def allowed_mentions(message: OutgoingMessage) -> dict[str, Any]:
    """Return whom a message may ping: those whom it names, and never everyone or a role."""
    users = [key.id for key in message.mentions if key.kind is ParticipantKind.DISCORD_USER]
    return {"parse": [], "users": users[:100], "roles": [], "replied_user": False}


def body_of(message: OutgoingMessage) -> dict[str, Any]:
    """Return a message as Discord takes it, without a nonce."""
    text = give_form(message.text, message.mentions, mention_of)
    body: dict[str, Any] = {"content": text, "allowed_mentions": allowed_mentions(message)}
    if message.reply_to is not None:
        body["message_reference"] = {"message_id": message.reply_to, "fail_if_not_exists": False}
    return body


class Posting:
    """Posts, edits and deletes the agent's own messages."""

    def __init__(self, client: DiscordClient) -> None:
        self._client = client

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        """Post a message; the same key twice posts it once, as long as Discord remembers the nonce (some minutes).

        Raises:
            SendFailed: Discord refused.
        """
        route = Route("POST", "/channels/{channel_id}/messages", channel_id=message.channel.external_id)
        body = {**body_of(message), "nonce": nonce_of(message.key), "enforce_nonce": True}
        try:
            posted = await self._client.http.request(route, json=body)
        except (nextcord.HTTPException, aiohttp.ClientError, OSError) as error:
            return outcome_of(error)
        return Sent(str(posted["id"]))

    async def edit(self, message_id: str, message: OutgoingMessage) -> None:
        """Give a message another text.

        Raises:
            SendFailed: Discord refused, or it is gone.
        """
        route = Route(
            "PATCH",
            "/channels/{channel_id}/messages/{message_id}",
            channel_id=message.channel.external_id,
            message_id=message_id,
        )
        body = body_of(message)
        body.pop("message_reference", None)
        await self._request(route, json=body)

    async def withdraw(self, message: SentMessage) -> None:
        """Delete a message; one that is gone already is done.

        Raises:
            SendFailed: Discord refused.
        """
        route = Route(
            "DELETE",
            "/channels/{channel_id}/messages/{message_id}",
            channel_id=message.channel_id,
            message_id=message.message_id,
        )
        try:
            await self._request(route)
        except SendFailed as failure:
            if not isinstance(failure.__cause__, nextcord.HTTPException) or failure.__cause__.code not in _GONE:
                raise

    async def _request(self, route: Route, **options: Any) -> Any:
        try:
            return await self._client.http.request(route, **options)
        except (nextcord.HTTPException, aiohttp.ClientError, OSError) as error:
            raise failure_of(error) from error


def outcome_of(error: Exception) -> OutcomeUnknown:
    """Return what a failed post means: nothing is known when Discord did not answer, else it refused.

    Raises:
        SendFailed: nothing was posted.
    """
    if isinstance(error, nextcord.HTTPException) and error.status < 500:  # noqa: PLR2004  # HTTP's own numbers
        raise failure_of(error) from error
    return OutcomeUnknown(type(error).__name__)


def failure_of(error: Exception) -> SendFailed:
    """Return a refusal in words that hold no token."""
    if not isinstance(error, nextcord.HTTPException):
        return SendFailed(type(error).__name__, retry_after=_TRY_AGAIN)
    if error.status == 429 or error.status >= 500:  # noqa: PLR2004  # HTTP's own numbers
        return SendFailed(f"Discord answered {error.status}", retry_after=_TRY_AGAIN)
    return SendFailed(
        f"Discord answered {error.status} ({error.code}: {error.text.splitlines()[0] if error.text else ''})"
    )
