"""Saving on behalf of another plugin (the hook `write_memory`): the same content rules, the same guards."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

import asyncpg

from agent import logs
from agent.contracts.memory import MemoryWrite, MemoryWritten, WriteKind
from agent.store.errors import StoreError
from agent.text import clean
from plugins.memory.cards import Wording
from plugins.memory.content import Accepted, Empty, TooLong, accept
from plugins.memory.saving import Request, owner_of, save
from plugins.memory.status import Status

if TYPE_CHECKING:
    from agent.tools import ToolResult
    from plugins.memory.saving import Writing

_log = logs.get_logger("plugins.memory")


async def write_for_plugin(writing: Writing, write: MemoryWrite) -> MemoryWritten:
    """Carry out a write; only memories that are to be created can be written so."""
    if write.kind is not WriteKind.CREATE:
        return MemoryWritten(Status.SAVE_INVALID_PARAMETERS, text="Only new memories are written by this hook.")
    try:
        owner_of(write)
    except ValueError as error:
        return MemoryWritten(Status.SAVE_INVALID_PARAMETERS, text=str(error))
    match accept(write.content, writing.settings.max_memory_length):
        case Accepted(content):
            tags = tuple(clean(tag) for tag in write.tags)
            return await _save(writing, replace(write, content=content, tags=tags))
        case Empty():
            return MemoryWritten(Status.SAVE_INVALID_PARAMETERS, text="There is nothing to keep.")
        case TooLong(length, limit):
            return MemoryWritten(Status.SAVE_TOO_LONG, text=f"{length} characters are more than {limit}.")
        case unknown:
            assert_never(unknown)


async def _save(writing: Writing, write: MemoryWrite) -> MemoryWritten:
    try:
        result = await save(writing, Request(write, Wording(about="")))
    except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        _log.warning("memory_write_unavailable", origin=str(write.origin), error=type(error).__name__)
        return MemoryWritten(Status.SAVE_UNAVAILABLE, text="The memories cannot be reached now.")
    return _written(result)


def _written(result: ToolResult) -> MemoryWritten:
    memory_id, forgotten = result.data.get("memory_id"), result.data.get("content_forgotten")
    return MemoryWritten(
        result.status,
        memory_id if isinstance(memory_id, int) else None,
        forgotten if isinstance(forgotten, str) else None,
        str(result.data.get("note", "")),
    )
