"""Answers to interactions over HTTP; they go by a token that is good for 15 minutes, and never as the bot."""

from __future__ import annotations

import json
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import nextcord
from nextcord.http import Route
from nextcord.webhook.async_ import AsyncWebhookAdapter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.files import ReplyFile
    from bridges.discord.commands.asked import Asked

type Body = Mapping[str, Any]

PATIENCE: Final = 60.0
"""Seconds that one answer may take on its way, files included."""
_REFUSED: Final = frozenset({400, 413})
"""What an answer that Discord does not like, or finds too large, is answered with."""
_ANSWERED: Final = 40060
_CALLBACK: Final = "/interactions/{webhook_id}/{webhook_token}/callback"
_ORIGINAL: Final = "/webhooks/{webhook_id}/{webhook_token}/messages/@original"
_FOLLOW_UP: Final = "/webhooks/{webhook_id}/{webhook_token}"


class Callback(IntEnum):
    """Kinds of the first answer."""

    MESSAGE = 4
    LATER = 5
    """A message that comes later; people see that it is being written."""
    LATER_UPDATE = 6
    UPDATE = 7
    CHOICES = 8
    FORM = 9


class AnswerLost(Exception):
    """An answer did not reach Discord; the reason holds no token.

    `refused` means that Discord would take another one in its place.
    """

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.refused = refused


class Wire:
    """Posts answers."""

    def __init__(self) -> None:
        self._adapter = AsyncWebhookAdapter()
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def first(
        self, asked: Asked, kind: Callback, data: Body | None = None, files: Sequence[ReplyFile] = ()
    ) -> None:
        """Answer for the first time.

        Raises:
            AnswerLost: it came too late, or Discord refused.
        """
        body: dict[str, Any] = {"type": int(kind)}
        if data is not None:
            body["data"] = _listed(data, files)
        route = Route("POST", _CALLBACK, webhook_id=asked.interaction_id, webhook_token=asked.token)
        await self._request(route, body, files)

    async def further(self, asked: Asked, data: Body, files: Sequence[ReplyFile] = ()) -> None:
        """Post another message in answer. Raises AnswerLost."""
        await self._request(self._of(asked, "POST", _FOLLOW_UP), _listed(data, files), files)

    async def edit(self, asked: Asked, data: Body, files: Sequence[ReplyFile] = ()) -> None:
        """Give the first answer, or the message whose button was pressed, its text. Raises AnswerLost."""
        await self._request(self._of(asked, "PATCH", _ORIGINAL), _listed(data, files), files)

    async def remove(self, asked: Asked) -> None:
        """Delete the first answer. Raises AnswerLost."""
        await self._request(self._of(asked, "DELETE", _ORIGINAL), None, ())

    def _of(self, asked: Asked, method: str, path: str) -> Route:
        return Route(method, path, webhook_id=asked.application_id, webhook_token=asked.token)

    async def _request(self, route: Route, body: Body | None, files: Sequence[ReplyFile]) -> None:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=PATIENCE))
        sent = {"multipart": _multipart(body, files)} if files else {"payload": body}
        try:
            await self._adapter.request(route, self._session, **sent)
        except nextcord.HTTPException as error:
            refused = error.status in _REFUSED and error.code != _ANSWERED
            raise AnswerLost(f"Discord answered {error.status} ({error.code})", refused=refused) from None
        except (aiohttp.ClientError, OSError) as error:
            raise AnswerLost(type(error).__name__) from None


def _listed(data: Body, files: Sequence[ReplyFile]) -> Body:
    """Return a message that lists its files."""
    named = [{"id": number, "filename": file.name} for number, file in enumerate(files)]
    return {**data, "attachments": named} if named else data


def _multipart(body: Body | None, files: Sequence[ReplyFile]) -> list[dict[str, Any]]:
    first = {"name": "payload_json", "value": json.dumps(body), "content_type": "application/json"}
    rest = [
        {
            "name": f"files[{number}]",
            "value": file.content,
            "filename": file.name,
            "content_type": file.content_type,
        }
        for number, file in enumerate(files)
    ]
    return [first, *rest]
