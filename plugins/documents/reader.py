"""Has a file read in a process of its own, with an end in time and memory."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from agent import logs
from plugins.documents.document import ReadFile, ReadPart
from plugins.documents.kinds import Kind
from plugins.documents.reading import Task, argument
from plugins.documents.refusals import Refused, Why

if TYPE_CHECKING:
    from plugins.documents.settings import DocumentsSettings

_log = logs.get_logger("plugins.documents")

AT_ONCE: Final = 2
"""Files that are read side by side; the others wait."""
_LONGEST_LINE: Final = 1024 * 1024
_READING: Final = "plugins.documents.reading"


class Reader:
    """Reads files. The event loop does no more than carry bytes and lines."""

    def __init__(self, settings: DocumentsSettings) -> None:
        self._settings = settings
        self._places = asyncio.Semaphore(AT_ONCE)

    async def read(self, name: str, title: str, content: bytes) -> ReadFile:
        """Return the parts of a file.

        Args:
            name: Of the file; its ending decides between text and Markdown.
            title: Of the document, whose words are kept with every part.
            content: What is in it.

        Raises:
            Refused: it is not taken.

        """
        settings = self._settings
        if len(content) > settings.max_file_bytes:
            raise Refused(Why.TOO_LARGE, limit=settings.max_file_bytes)
        if not content:
            raise Refused(Why.EMPTY)
        task = Task(
            name=name,
            title=title,
            max_characters=settings.max_characters,
            max_pages=settings.max_pages,
            seconds=settings.reading_seconds,
            memory_mb=settings.reading_memory_mb,
        )
        async with self._places:
            try:
                async with asyncio.timeout(settings.reading_seconds):
                    return await _run(task, content)
            except TimeoutError:
                raise Refused(Why.TOO_SLOW, limit=settings.reading_seconds) from None


async def _run(task: Task, content: bytes) -> ReadFile:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        _READING,
        argument(task),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=_LONGEST_LINE,
        cwd="/",
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUTF8": "1"},
    )
    feeding = asyncio.create_task(_feed(process, content))
    try:
        return await _collect(process, task)
    finally:
        feeding.cancel()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await asyncio.gather(process.wait(), feeding, return_exceptions=True)


async def _feed(process: asyncio.subprocess.Process, content: bytes) -> None:
    assert process.stdin is not None  # noqa: S101  # it was asked for
    with contextlib.suppress(ConnectionError):  # it ends without having read everything: its last line says why
        process.stdin.write(content)
        await process.stdin.drain()
    process.stdin.close()


async def _collect(process: asyncio.subprocess.Process, task: Task) -> ReadFile:
    assert process.stdout is not None  # noqa: S101  # it was asked for
    kind: Kind | None = None
    found: list[ReadPart] = []
    async for line in process.stdout:
        value: dict[str, Any] = json.loads(line)
        if "content" in value:
            found.append(ReadPart(value["heading"], value["content"], value["words"]))
        elif "kind" in value:
            kind = Kind(value["kind"])
        elif "refused" in value:
            raise Refused(Why(value["refused"]), **value["values"])
        elif kind is not None:
            return ReadFile(kind, value["pages"], tuple(found))
    code = await process.wait()
    _log.warning("document_not_read", exit_code=code)
    raise _ended_early(code, task)


def _ended_early(code: int, task: Task) -> Refused:
    """Return what it means that the process ended without a word."""
    import signal

    if code == -signal.SIGXCPU:
        return Refused(Why.TOO_SLOW, limit=task.seconds)
    if code in {-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS}:
        return Refused(Why.TOO_MUCH_MEMORY, limit=task.memory_mb)
    return Refused(Why.UNREADABLE)
