"""Reads the lines of a script as they come, from a file or from standard input, whatever bytes they are."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING, Final

from agent.cli.errors import CallRefused

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator
    from pathlib import Path

MAX_LINE: Final = 4 * 1024 * 1024
"""Bytes of one line; what is beyond is cut off."""
_CHUNK: Final = 64 * 1024
_STDIN: Final = 0


class FeedFailed(CallRefused):
    """The script cannot be read; the text says why."""


def open_feed(path: Path) -> int:
    """Return a descriptor of the script, `-` being standard input.

    Raises:
        FeedFailed: there is no such file, or it cannot be read.
    """
    if str(path) == "-":
        return os.dup(_STDIN)
    try:
        if path.is_dir():
            raise FeedFailed(f"cannot read the script {path}: it is a directory")
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a usable path"
        raise FeedFailed(f"cannot read the script {path}: {reason}") from None


def split_lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Return the lines without their ends; each is at most MAX_LINE bytes long."""
    kept = bytearray()
    for chunk in chunks:
        head, *others = chunk.split(b"\n")
        kept += head[: MAX_LINE - len(kept)]
        for following in others:
            yield bytes(kept)
            kept = bytearray(following[:MAX_LINE])
    if kept:
        yield bytes(kept)


async def read_lines(descriptor: int) -> AsyncGenerator[str]:
    """Read a script line by line; bytes that are not UTF-8 become U+FFFD. Closes the descriptor.

    A thread of its own reads, since a read cannot be interrupted: it must not keep the process from ending.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes | OSError | None] = asyncio.Queue()
    room = threading.Semaphore(64)

    def put(item: bytes | OSError | None) -> None:
        room.acquire()
        loop.call_soon_threadsafe(queue.put_nowait, item)

    def work() -> None:
        end: OSError | None = None
        try:
            for line in split_lines(iter(lambda: os.read(descriptor, _CHUNK), b"")):
                put(line)
        except OSError as error:
            end = error
        except RuntimeError:
            return  # the loop is closed: nobody reads any more
        finally:
            os.close(descriptor)
        if not loop.is_closed():
            put(end)

    threading.Thread(target=work, name="script", daemon=True).start()
    first = True
    while (item := await queue.get()) is not None:
        room.release()
        if isinstance(item, OSError):
            raise FeedFailed(f"cannot read the script: {item.strerror}")
        text = item.decode("utf-8", "replace").removesuffix("\r")
        yield text.removeprefix("\ufeff") if first else text
        first = False
