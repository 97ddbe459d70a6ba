"""TomoriBot's memory export, as its users have it in their hands: lists of server memories and of personal memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.contracts.memory import MemoryScope
from agent.json_file import Fields, kind_of
from plugins.memory.transfer.collecting import Collected, content_of, moment_of, name_of, tags_of
from plugins.memory.transfer.entries import Entry, ImportRefused, LineageKind, LineageRef, Parsed, Person, Source

_LISTS: Final = {
    "server_memories": MemoryScope.SERVER,
    "serverMemories": MemoryScope.SERVER,
    "personal_memories": MemoryScope.PERSONAL,
    "personalMemories": MemoryScope.PERSONAL,
    "user_memories": MemoryScope.PERSONAL,
}
_TEXTS: Final = ("content", "memory", "text")
_IDS: Final = ("id", "server_memory_id", "personal_memory_id", "memory_id")
_USERS: Final = ("user_disc_id", "discord_id", "user_id")
_NAMES: Final = ("user_nickname", "user_name", "username")
_PERSONAS: Final = ("persona", "tomori_nickname")
_MOMENTS: Final = ("created_at", "createdAt", "timestamp")
KNOWN: Final = frozenset({*_TEXTS, *_IDS, *_USERS, *_NAMES, *_PERSONAS, *_MOMENTS, "tags"})
_WRAPPERS: Final = ("data", "memories")
PLATFORM: Final = "discord"


def looks_so(data: Any) -> bool:
    """Tell whether a file is one of TomoriBot's: it has one of the lists, at the top or one step in."""
    return isinstance(data, Mapping) and _body(data) is not None


def read_tomoribot(data: Mapping[str, Any]) -> Parsed:
    """Return the memories. An entry is an object, or a bare text; texts keep their order and have no date.

    Raises:
        ImportRefused: faults, a line each.
    """
    collected = Collected(Source.TOMORIBOT)
    body = _body(data) or {}
    if body is not data:
        collected.unknown(data, (next(key for key in _WRAPPERS if data.get(key) is body),))
    collected.unknown(body, _LISTS)
    for where, scope in _LISTS.items():
        items = body.get(where)
        if items is not None and not isinstance(items, list):
            collected.report.errors.append(f"{where}: a list is expected, this is {kind_of(items)}")
            continue
        objects = [{"content": item} if isinstance(item, str) else item for item in items or ()]
        for number, place, fields in collected.objects(objects, where):
            collected.leave_out(number, sorted(fields.unknown(KNOWN)))
            persona = _first(fields, _PERSONAS)
            collected.entries.append(
                Entry(
                    number=number,
                    where=place,
                    scope=scope,
                    content=content_of(fields, *_TEXTS),
                    lineage=LineageRef(LineageKind.NAMED, persona, (persona,)) if persona else LineageRef(),
                    person=_person(fields) if scope is MemoryScope.PERSONAL else None,
                    tags=tags_of(fields),
                    created_at=moment_of(fields, *_MOMENTS, numbers=True),
                )
            )
    if collected.report.errors:
        raise ImportRefused(*collected.report.errors)
    return collected.parsed()


def _body(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    candidates = [data, *(data.get(key) for key in _WRAPPERS)]
    return next((each for each in candidates if isinstance(each, Mapping) and _LISTS.keys() & each.keys()), None)


def _first(fields: Fields, keys: tuple[str, ...]) -> str:
    return next(filter(None, (name_of(fields, key) for key in keys)), "")


def _person(fields: Fields) -> Person | None:
    user = _first(fields, _USERS)
    return Person(user, PLATFORM, _first(fields, _NAMES)) if user else None
