import json
from typing import Any

import pytest

from agent.contracts.memory import MemoryScope
from plugins.memory.transfer.entries import ImportRefused, LineageKind, Parsed, Person, Source
from plugins.memory.transfer.reading import read_file


def read(data: Any) -> Parsed:
    return read_file(json.dumps(data).encode(), "tomori.json")


def test_lists_of_both_kinds() -> None:
    parsed = read(
        {
            "version": "1.0",
            "data": {
                "server_memories": [
                    {"server_memory_id": 3, "content": "{user} won", "tags": ["fun"], "created_at": 1_700_000_000},
                    "a bare text",
                ],
                "personal_memories": [
                    {"content": "Likes tea", "user_disc_id": "42", "user_nickname": "Ana", "persona": "Fern", "x": 1},
                ],
            },
        }
    )
    assert parsed.source is Source.TOMORIBOT
    won, bare, own = parsed.entries
    assert (won.scope, won.content, won.tags) == (MemoryScope.SERVER, "{user} won", ("fun",))
    assert won.created_at is not None
    assert won.created_at.isoformat() == "2023-11-14T22:13:20+00:00"
    assert (bare.content, bare.created_at) == ("a bare text", None)
    assert (own.scope, own.person) == (MemoryScope.PERSONAL, Person("42", "discord", "Ana"))
    assert (own.lineage.kind, own.lineage.names) == (LineageKind.NAMED, ("Fern",))
    assert parsed.notes == ("field 'version': not known, left out", "field 'x': not taken over (entry 3)")


def test_milliseconds_and_camels() -> None:
    [entry] = read({"serverMemories": [{"text": "x", "createdAt": 1_700_000_000_000}]}).entries
    assert entry.created_at is not None
    assert entry.created_at.year == 2023


def test_its_faults() -> None:
    with pytest.raises(ImportRefused) as refused:
        read({"server_memories": {"0": "x"}, "personal_memories": ["", 7, {"content": "x", "tags": [1]}]})
    assert refused.value.lines == (
        "server_memories: a list is expected, this is an object",
        "entry 1 (personal_memories[0]): content: a text is expected, this is missing or empty",
        "entry 2 (personal_memories[1]): an object is expected, this is a number",
        "entry 3 (personal_memories[2]): tags: a list of texts is expected, this is a list with something else in it",
    )
