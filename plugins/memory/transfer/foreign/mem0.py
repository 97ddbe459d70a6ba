"""Mem0's export: a list of memories, bare or under `results` or `memories`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.contracts.memory import MemoryScope
from plugins.memory.transfer.collecting import Collected, content_of, moment_of, name_of, tags_of
from plugins.memory.transfer.entries import Entry, ImportRefused, Parsed, Person, Source

LISTS: Final = ("results", "memories")
TEXTS: Final = ("memory", "text", "data")
_KNOWN: Final = frozenset({"id", *TEXTS, "user_id", "categories", "created_at", "hash"})


def looks_so(data: Any) -> bool:
    """Tell whether a file is one of Mem0's."""
    items = data if isinstance(data, list) else _items(data) if isinstance(data, Mapping) else None
    first = items[0] if isinstance(items, list) and items else None
    return isinstance(first, Mapping) and isinstance(next((first[key] for key in TEXTS if key in first), None), str)


def read_mem0(data: Any) -> Parsed:
    """Return the memories; one with a `user_id` is that user's, any other the server's.

    Raises:
        ImportRefused: faults, a line each.
    """
    collected = Collected(Source.MEM0)
    where = next((key for key in LISTS if isinstance(data, Mapping) and key in data), "memories")
    items = data if isinstance(data, list) else data.get(where)
    if isinstance(data, Mapping):
        collected.unknown(data, (where,))
    for number, place, fields in collected.objects(items, where):
        collected.leave_out(number, sorted(fields.unknown(_KNOWN)))
        user = name_of(fields, "user_id")
        collected.entries.append(
            Entry(
                number=number,
                where=place,
                scope=MemoryScope.PERSONAL if user else MemoryScope.SERVER,
                content=content_of(fields, *TEXTS),
                person=Person(user) if user else None,
                tags=tags_of(fields, "categories"),
                created_at=moment_of(fields, "created_at", numbers=True),
            )
        )
    if collected.report.errors:
        raise ImportRefused(*collected.report.errors)
    return collected.parsed()


def _items(data: Mapping[str, Any]) -> Any:
    return next((data[key] for key in LISTS if key in data), None)
