"""Finding a character card in a PNG: the text chunks `ccv3` and `chara`, base64 of JSON."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Final

from agent.files import FileRefused, too_large

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_KEYWORDS: Final = (b"ccv3", b"chara")
"""The newer form first."""
_FRAME: Final = 12
"""Bytes of a chunk's length, type and checksum."""


def is_png(content: bytes) -> bool:
    """Tell whether a file says that it is a PNG."""
    return content.startswith(SIGNATURE)


def card_in_png(content: bytes, name: str, limit: int) -> bytes:
    """Return the JSON of the card in a picture; the picture itself is never decoded.

    Raises:
        FileRefused: the file is damaged, has no card, or one of more than `limit` bytes.
    """
    texts = _text_chunks(content, name)
    found = next((texts[keyword] for keyword in _KEYWORDS if keyword in texts), None)
    if found is None:
        raise FileRefused(f"{name}: there is no character card in this picture")
    if len(found) > limit * 4 // 3 + 4:
        raise too_large(f"the card in {name}", limit)
    try:
        return base64.b64decode(found, validate=True)
    except binascii.Error:
        raise FileRefused(f"{name}: the card in this picture is damaged (no base64)") from None


def _text_chunks(content: bytes, name: str) -> dict[bytes, bytes]:
    """Return what the chunks of the wanted keywords say; the first of each counts."""
    damaged = FileRefused(f"{name}: this picture is damaged")
    texts: dict[bytes, bytes] = {}
    at = len(SIGNATURE)
    while at < len(content):
        length = int.from_bytes(content[at : at + 4])
        kind, end = content[at + 4 : at + 8], at + _FRAME + length
        if end > len(content):
            raise damaged
        if kind == b"tEXt":
            data = content[at + 8 : end - 4]
            keyword, _, text = data.partition(b"\0")
            if keyword in _KEYWORDS:
                if zlib.crc32(kind + data) != int.from_bytes(content[end - 4 : end]):
                    raise damaged
                texts.setdefault(keyword, text)
        if kind == b"IEND":
            break
        at = end
    return texts
