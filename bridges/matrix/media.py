"""Files: read from the homeserver no further than allowed, and uploaded; encrypted where the room is."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any, Final

import aiohttp
from nio.crypto.attachments import decrypt_attachment, encrypt_attachment

from agent.files import FileRefused, too_large
from bridges.matrix.client import error_of
from bridges.matrix.rules.values import Json, table, text

if TYPE_CHECKING:
    from agent.events import Attachment
    from agent.files import ReplyFile
    from bridges.matrix.client import Client

_ADDRESS: Final = re.compile(r"mxc://(?P<server>[A-Za-z0-9.:\[\]-]{1,255})/(?P<media>[A-Za-z0-9_-]{1,255})")
_DEADLINE: Final = 120.0
_ELSEWHERE: Final = frozenset({307, 308})


class Media:
    """Reads and uploads files."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """Return what a file holds.

        Raises:
            FileRefused: it cannot be read, is larger than `limit`, or is not what the message says.
        """
        encrypted = _encrypted(attachment.url)
        found = _ADDRESS.fullmatch(text(encrypted.get("url")) if encrypted else attachment.url)
        if found is None:
            raise FileRefused(f"{attachment.name}: it has no usable address")
        if attachment.size > limit:
            raise too_large(attachment.name, limit)
        path = f"/_matrix/client/v1/media/download/{found['server']}/{found['media']}"
        headers = {"Authorization": f"Bearer {self._client.nio.access_token}"}
        try:
            async with asyncio.timeout(_DEADLINE), aiohttp.ClientSession() as session:
                content = await self._read(session, self._client.homeserver + path, headers, attachment.name, limit)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise FileRefused(f"{attachment.name}: it cannot be read ({type(error).__name__})") from error
        return await asyncio.to_thread(_decrypted, content, encrypted, attachment.name) if encrypted else content

    async def _read(
        self, session: aiohttp.ClientSession, address: str, headers: dict[str, str], name: str, limit: int
    ) -> bytes:
        """Read a file; a homeserver that keeps it elsewhere is followed once, and the token stays here."""
        async with session.get(address, headers=headers, allow_redirects=False) as response:
            if response.status in _ELSEWHERE and headers:
                location = response.headers.get("Location", "")
            else:
                return await _bounded(response, name, limit)
        if not location.startswith(("https://", "http://")):
            raise FileRefused(f"{name}: it has no usable address")
        return await self._read(session, location, {}, name, limit)

    async def upload(self, file: ReplyFile, *, encrypt: bool) -> dict[str, Any]:
        """Upload a file and return the content of the message that shows it.

        Raises:
            MatrixError: the homeserver refused.
            aiohttp.ClientError, TimeoutError, OSError: it did not answer.
        """
        content, keys = file.content, {}
        if encrypt:
            content, keys = await asyncio.to_thread(encrypt_attachment, file.content)
        headers = {
            "Authorization": f"Bearer {self._client.nio.access_token}",
            "Content-Type": "application/octet-stream" if encrypt else file.content_type,
        }
        address = f"{self._client.homeserver}/_matrix/media/v3/upload"
        query = {} if encrypt else {"filename": file.name}
        async with (
            asyncio.timeout(_DEADLINE),
            aiohttp.ClientSession(headers=headers) as session,
            session.post(address, data=content, params=query) as response,
        ):
            answer = table(await response.json(content_type=None))
            if response.status >= 400:  # noqa: PLR2004 - HTTP's own number
                raise error_of(response.status, answer)
        url = text(answer.get("content_uri"))
        return {
            "msgtype": "m.file",
            "body": file.name,
            "filename": file.name,
            "info": {"mimetype": file.content_type.partition(";")[0], "size": len(file.content)},
            "m.mentions": {},
            **({"file": {**keys, "url": url}} if encrypt else {"url": url}),
        }


async def _bounded(response: aiohttp.ClientResponse, name: str, limit: int) -> bytes:
    if response.status != 200:  # noqa: PLR2004 - HTTP's own number
        raise FileRefused(f"{name}: it is not there any more")
    if response.content_length is not None and response.content_length > limit:
        raise too_large(name, limit)
    content = b""
    while len(content) <= limit and (more := await response.content.read(limit + 1 - len(content))):
        content += more
    if len(content) > limit:
        raise too_large(name, limit)
    return content


def _encrypted(url: str) -> Json:
    """Return what an encrypted file is read with; nothing for any other."""
    return table(json.loads(url)) if url.startswith("{") else {}


def _decrypted(content: bytes, encrypted: Json, name: str) -> bytes:
    from nio import EncryptionError

    key, digest = table(encrypted.get("key")), table(encrypted.get("hashes"))
    try:
        return bytes(
            decrypt_attachment(content, text(key.get("k")), text(digest.get("sha256")), text(encrypted.get("iv")))
        )
    except (EncryptionError, ValueError) as error:
        raise FileRefused(f"{name}: it is not what was sent") from error
