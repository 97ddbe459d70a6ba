"""The homeserver as the bridge talks with it: nio for the connection and for encryption, plain JSON for everything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

import aiohttp
import nio

from agent import logs
from bridges.matrix.rules.values import Json, table, text, whole

if TYPE_CHECKING:
    from pathlib import Path

log = logs.get_logger(__name__)

CLIENT: Final = "/_matrix/client/v3"
CALL_DEADLINE: Final = 30.0
"""Seconds that one request may take."""
SYNC_MARGIN: Final = 30.0
"""Seconds beyond the time that a sync may wait for events."""
_RETRIES: Final = 2
_UNKNOWN_TOKEN: Final = frozenset({"M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED"})
NETWORK: Final = (aiohttp.ClientError, TimeoutError, OSError, json.JSONDecodeError)
"""What a request raises when the homeserver did not answer."""


class MatrixError(Exception):
    """The homeserver refused a request."""

    def __init__(self, status: int, code: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(f"{status} {code}: {message}" if message else f"{status} {code}")
        self.status = status
        self.code = code
        self.retry_after = retry_after
        """Seconds after which it may be tried again, where the homeserver tells."""

    @property
    def ends_session(self) -> bool:
        """Whether the access token is worth nothing any more."""
        return self.code in _UNKNOWN_TOKEN

    @property
    def is_passing(self) -> bool:
        """Whether trying again may help."""
        return self.status == 429 or self.status >= 500  # noqa: PLR2004 - HTTP's own numbers


class Client:
    """One session at a homeserver."""

    def __init__(self, homeserver: str, user_id: str) -> None:
        self.homeserver = homeserver
        self.user_id = user_id
        config = nio.AsyncClientConfig(
            encryption_enabled=False,
            store=None,
            max_limit_exceeded=_RETRIES,
            max_timeouts=_RETRIES,
            request_timeout=CALL_DEADLINE,
        )
        self.nio: Any = nio.AsyncClient(homeserver, user_id, config=config)

    @property
    def device_id(self) -> str:
        """The id of this session's device."""
        return str(self.nio.device_id or "")

    def use(self, access_token: str, device_id: str) -> None:
        """Go on with a session that was begun before."""
        self.nio.user_id, self.nio.access_token, self.nio.device_id = self.user_id, access_token, device_id

    def use_keys(self, folder: Path, passphrase: str) -> None:
        """Take part in encrypted rooms; keys are kept in the folder, encrypted under the passphrase.

        This takes a while, and may be called in a thread.

        Raises:
            OSError: the folder cannot be written.
        """
        from bridges.matrix.key_store import KeyStore

        self.nio.config = nio.AsyncClientConfig(
            encryption_enabled=True,
            store=KeyStore,
            store_name=f"{quote(self.device_id, safe='')}.db",
            pickle_key=passphrase,
            max_limit_exceeded=_RETRIES,
            max_timeouts=_RETRIES,
            request_timeout=CALL_DEADLINE,
        )
        self.nio.store_path = str(folder)
        self.nio.load_store()
        self.nio.store.database.close()  # each thread has a connection of its own, made when it is needed

    def leave_keys(self) -> None:
        """Close the store of keys, so that another device's can be opened."""
        if self.nio.store is not None:
            self.nio.store.database.close()
        self.nio.store = self.nio.olm = None

    async def close(self) -> None:
        """Close the connection and the store of keys."""
        await self.nio.close()
        self.leave_keys()

    async def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        deadline: float = CALL_DEADLINE,
    ) -> dict[str, Any]:
        """Make one request and return its answer.

        Raises:
            MatrixError: the homeserver refused.
            aiohttp.ClientError, TimeoutError, OSError: it did not answer.
        """
        address = f"{path}?{urlencode(query)}" if query else path
        headers = {"Content-Type": "application/json"}
        if self.nio.access_token:
            headers["Authorization"] = f"Bearer {self.nio.access_token}"
        data = None if body is None else json.dumps(body)
        async with asyncio.timeout(deadline):
            response = await self.nio.send(method, address, data, headers, timeout=deadline)
            async with response:
                raw = await response.read()
        try:
            answer = json.loads(raw)
        except ValueError:
            answer = {}
        if response.status >= 400:  # noqa: PLR2004 - HTTP's own number
            raise error_of(response.status, table(answer))
        return answer if isinstance(answer, dict) else {}

    async def sync(self, since: str | None, wait: float, *, full_state: bool) -> dict[str, Any]:
        """Return what has happened since a token as plain JSON; what encryption needs of it is taken in.

        Raises:
            MatrixError: the homeserver refused, or its answer is none.
            aiohttp.ClientError, TimeoutError, OSError: it did not answer.
        """
        query = {"timeout": str(int(wait * 1000)), "filter": _FILTER, "set_presence": "online"}
        if since is not None:
            query["since"] = since
        if full_state:
            query["full_state"] = "true"
        answer = await self.call("GET", f"{CLIENT}/sync", query=query, deadline=wait + SYNC_MARGIN)
        if not text(answer.get("next_batch")):
            raise MatrixError(502, "M_UNKNOWN", "the answer to a sync has no token")
        try:
            taken = nio.SyncResponse.from_dict(copy_of(answer))
            if not isinstance(taken, nio.SyncResponse):
                raise TypeError(str(taken))
            await self.nio.receive_response(taken)
        except Exception:  # what anybody may have sent must not keep what follows away
            log.exception("sync_not_taken_for_encryption")
        return answer


_FILTER: Final = json.dumps(
    {
        "presence": {"types": []},
        "room": {"timeline": {"limit": 50}, "ephemeral": {"types": []}, "state": {"lazy_load_members": False}},
    },
    separators=(",", ":"),
)


def copy_of(value: Json) -> dict[str, Any]:
    """Return a copy of JSON to the last leaf: nio takes apart what it reads."""
    copied: dict[str, Any] = json.loads(json.dumps(value))
    return copied


def error_of(status: int, answer: Json) -> MatrixError:
    """Return a refusal as the homeserver words it."""
    wait = whole(answer.get("retry_after_ms"))
    code = text(answer.get("errcode")) or "M_UNKNOWN"
    return MatrixError(status, code, text(answer.get("error"))[:300], wait / 1000 if wait else None)


def room_path(room_id: str, *parts: str) -> str:
    """Return the path of something in a room."""
    return "/".join([f"{CLIENT}/rooms", *(quote(part, safe="") for part in (room_id, *parts))])
