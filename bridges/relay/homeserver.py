"""The homeserver's client API, spoken as any of the relay's users."""

from __future__ import annotations

import asyncio
import io
import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import aiohttp

from agent.files import FileRefused, too_large
from bridges.matrix.rules.values import Json, table, text, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEADLINE: Final = 30.0
_LONG: Final = 120.0
_LIMITED: Final = 429
_BROKEN: Final = 500
_OK: Final = 200
_ELSEWHERE: Final = frozenset({301, 302, 307, 308})
_MEDIA: Final = re.compile(r"mxc://(?P<server>[A-Za-z0-9.:\[\]-]{1,255})/(?P<media>[A-Za-z0-9_-]{1,255})")
KEY: Final = "org.isthmus.relay"
"""Names, in the content of an event, what it stands for: so that it is found again when no answer came."""


class Unreachable(Exception):
    """No answer came, or none that tells: what was asked may have happened."""


class HomeserverRefused(Exception):
    """The homeserver refused, and nothing happened; `retry_after` is in seconds."""

    def __init__(self, status: int, code: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(f"{code or status}: {reason}")
        self.status = status
        self.code = code
        self.retry_after = retry_after


class Homeserver:
    """One homeserver. `user` is as whom something is done; left out: as the agent's own user."""

    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Begin; must be called within the event loop."""
        self._http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_DEADLINE))

    async def close(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.close()

    async def call(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        user: str | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Any:
        """Make a request; `path` begins behind `/_matrix/client/`.

        Raises:
            HomeserverRefused: it refused.
            Unreachable: no answer came.
        """
        parameters = {**(query or {}), **({"user_id": user} if user else {})}
        try:
            async with self._session.request(
                method,
                f"{self._address}/_matrix/client/{path}",
                json=body,
                params=parameters,
                headers=self._headers,
            ) as answer:
                content = await answer.json(content_type=None)
                status = answer.status
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise Unreachable(type(error).__name__) from None
        if status >= _BROKEN:
            raise Unreachable(f"the homeserver answered {status}")
        if status >= 400:  # noqa: PLR2004 - HTTP's own number
            raise _refusal(status, table(content))
        return content

    async def send(self, room: str, content: Json, key: str, user: str, kind: str = "m.room.message") -> str:
        """Send an event under a key and return its id; the same key again, soon, sends nothing more."""
        path = f"v3/rooms/{_q(room)}/send/{kind}/{_q(key)}"
        return text(table(await self.call("PUT", path, {**content, KEY: {"key": key}}, user=user)).get("event_id"))

    async def find(self, room: str, key: str, user: str) -> str | None:
        """Return the event that one of the relay's users has sent under a key, when it is among the last thousand."""
        start: dict[str, str] = {}
        for _ in range(10):
            query = {"dir": "b", "limit": "100", **start}
            page = table(await self.call("GET", f"v3/rooms/{_q(room)}/messages", query=query))
            for event in page.get("chunk") or ():
                mark = table(table(table(event).get("content")).get(KEY))
                if text(mark.get("key")) == key and text(event.get("sender")) == user:
                    return text(event.get("event_id"))
            if not (end := text(page.get("end"))) or not page.get("chunk"):
                return None
            start = {"from": end}
        return None

    async def redact(self, room: str, event_id: str, key: str, user: str | None = None) -> None:
        """Redact an event."""
        await self.call("PUT", f"v3/rooms/{_q(room)}/redact/{_q(event_id)}/{_q(key)}", {}, user=user)

    async def event(self, room: str, event_id: str) -> Json | None:
        """Return an event; None when there is none that may be seen."""
        try:
            return table(await self.call("GET", f"v3/rooms/{_q(room)}/event/{_q(event_id)}"))
        except HomeserverRefused:
            return None

    async def state(self, room: str) -> list[Json]:
        """Return the whole state of a room."""
        found = await self.call("GET", f"v3/rooms/{_q(room)}/state")
        return [table(each) for each in found] if isinstance(found, list) else []

    async def is_encrypted(self, room: str) -> bool:
        """Tell whether a room is encrypted; whatever does not tell raises.

        Raises:
            HomeserverRefused, Unreachable: it is not known.
        """
        try:
            await self.call("GET", f"v3/rooms/{_q(room)}/state/m.room.encryption/")
        except HomeserverRefused as refused:
            if refused.status == 404 and refused.code == "M_NOT_FOUND":  # noqa: PLR2004 - HTTP's own number
                return False
            raise
        return True

    async def join(self, room: str, user: str | None = None) -> None:
        """Join a room that is open, or to which the user is invited."""
        await self.call("POST", f"v3/join/{_q(room)}", {}, user=user)

    async def leave(self, room: str, user: str | None = None) -> None:
        """Leave a room, or decline an invitation."""
        await self.call("POST", f"v3/rooms/{_q(room)}/leave", {}, user=user)

    async def invite(self, room: str, user: str) -> None:
        """Invite a user."""
        await self.call("POST", f"v3/rooms/{_q(room)}/invite", {"user_id": user})

    async def direct_room(self, user: str) -> str:
        """Create a room for the agent and one person."""
        body = {"preset": "trusted_private_chat", "is_direct": True, "invite": [user]}
        return text(table(await self.call("POST", "v3/createRoom", body)).get("room_id"))

    async def register(self, localpart: str) -> None:
        """Make a user of the relay's; one that is there already is fine."""
        body = {"type": "m.login.application_service", "username": localpart, "inhibit_login": True}
        try:
            await self.call("POST", "v3/register", body)
        except HomeserverRefused as refused:
            if refused.code != "M_USER_IN_USE":
                raise

    async def set_profile(self, user: str, field: str, value: str) -> None:
        """Set `displayname` or `avatar_url` of a user."""
        await self.call("PUT", f"v3/profile/{_q(user)}/{field}", {field: value}, user=user)

    async def ping(self, registration_id: str) -> None:
        """Have the homeserver bring what waits: it holds back for minutes after failures."""
        await self.call("POST", f"v1/appservice/{_q(registration_id)}/ping", {})

    async def upload(self, name: str, content: bytes, content_type: str, user: str) -> str:
        """Upload a file and return its address."""
        headers = {**self._headers, "Content-Type": content_type}
        try:
            async with (
                asyncio.timeout(_LONG),
                self._session.post(
                    f"{self._address}/_matrix/media/v3/upload",
                    data=io.BytesIO(content),  # bytes would hold up the loop
                    params={"filename": name, "user_id": user},
                    headers=headers,
                ) as answer,
            ):
                body = table(await answer.json(content_type=None))
                status = answer.status
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise Unreachable(type(error).__name__) from None
        if status >= 400:  # noqa: PLR2004 - HTTP's own number
            raise _refusal(status, body) if status < _BROKEN else Unreachable(f"the homeserver answered {status}")
        return text(body.get("content_uri"))

    async def download(self, address: str, name: str, limit: int) -> bytes:
        """Return what a file holds, read no further than `limit`.

        Raises:
            FileRefused: it cannot be read, or is larger.
        """
        found = _MEDIA.fullmatch(address)
        if found is None:
            raise FileRefused(f"{name}: it has no usable address")
        where = f"{self._address}/_matrix/client/v1/media/download/{found['server']}/{found['media']}"
        try:
            async with asyncio.timeout(_LONG):
                return await self._read(where, self._headers, name, limit)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise FileRefused(f"{name}: it cannot be read ({type(error).__name__})") from None

    async def _read(self, address: str, headers: Mapping[str, str], name: str, limit: int) -> bytes:
        """Read a file; a homeserver that keeps it elsewhere is followed once, and the token stays here."""
        async with self._session.get(address, headers=headers, allow_redirects=False) as answer:
            if answer.status not in _ELSEWHERE or not headers:
                return await _bounded(answer, name, limit)
            location = answer.headers.get("Location", "")
        if not location.startswith(("https://", "http://")):
            raise FileRefused(f"{name}: it has no usable address")
        return await self._read(location, {}, name, limit)

    @property
    def _session(self) -> aiohttp.ClientSession:
        if self._http is None:
            raise RuntimeError("the homeserver's connections are not open")
        return self._http


def _q(text: str) -> str:
    """Return an id as a part of a path: those of personas and of events may hold slashes."""
    return quote(text, safe="")


async def _bounded(answer: aiohttp.ClientResponse, name: str, limit: int) -> bytes:
    if answer.status != _OK:
        raise FileRefused(f"{name}: it is not there any more")
    if answer.content_length is not None and answer.content_length > limit:
        raise too_large(name, limit)
    content = b""
    while len(content) <= limit and (more := await answer.content.read(limit + 1 - len(content))):
        content += more
    if len(content) > limit:
        raise too_large(name, limit)
    return content


def _refusal(status: int, body: Json) -> HomeserverRefused:
    pause = whole(body.get("retry_after_ms")) / 1000 if status == _LIMITED else None
    return HomeserverRefused(
        status,
        text(body.get("errcode")),
        text(body.get("error"))[:200],
        max(pause, 0.1) if pause is not None else None,
    )
