"""Pictures that came with a message, read for models that take them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from agent import logs
from agent.contracts.context import Image
from agent.files import MEBIBYTE, FileRefused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.bridge import Bridge
    from agent.events import Attachment

log = logs.get_logger(__name__)

MOST: Final = 4
"""Pictures of one message that are shown."""
LIMIT: Final = 4 * MEBIBYTE
"""Bytes of one picture; a larger one is only named."""
DEADLINE: Final = 10.0
"""Seconds that reading them may take altogether; without them the turn goes on."""
_BEGINNINGS: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_WEBP: Final = (b"RIFF", b"WEBP")


def kind_of(content: bytes) -> str | None:
    """Return what a picture is by its first bytes, whatever it is called; None for what models do not take."""
    for beginning, content_type in _BEGINNINGS:
        if content.startswith(beginning):
            return content_type
    return "image/webp" if (content[:4], content[8:12]) == _WEBP else None


def candidates(attachments: Sequence[Attachment]) -> tuple[Attachment, ...]:
    """Return the attachments that say they are pictures and small enough, at most four."""
    fit = (file for file in attachments if file.content_type.startswith("image/") and file.size <= LIMIT)
    return tuple(fit)[:MOST]


async def images_of(attachments: Sequence[Attachment], bridge: Bridge) -> tuple[Image, ...]:
    """Return the pictures among what came with a message; what cannot be read in time is left out."""
    wanted = candidates(attachments)
    if not wanted:
        return ()
    try:
        async with asyncio.timeout(DEADLINE):
            found = await asyncio.gather(*(_read(file, bridge) for file in wanted))
    except TimeoutError:
        log.warning("pictures_came_too_late", count=len(wanted))
        return ()
    return tuple(image for image in found if image is not None)


async def _read(file: Attachment, bridge: Bridge) -> Image | None:
    try:
        content = await bridge.fetch(file, LIMIT)
    except FileRefused as refused:
        log.info("picture_refused", reason=str(refused))
        return None
    except Exception as error:  # noqa: BLE001 - a platform's failure costs a picture, not the answer
        log.warning("picture_unavailable", error=type(error).__name__)
        return None
    content_type = kind_of(content)
    return None if content_type is None else Image(file.name, content_type, content)
