import json
from typing import Any

import pytest

from agent.contracts.memory import MemoryScope
from plugins.memory.transfer.entries import ImportRefused, Parsed, Person, Source
from plugins.memory.transfer.reading import read_file


def read(data: Any) -> Parsed:
    return read_file(json.dumps(data).encode(), "mem0.json")


ENTRY = {
    "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
    "memory": "Likes tea",
    "user_id": "ana",
    "metadata": {"category": "drinks"},
    "categories": ["drinks"],
    "created_at": "2025-05-01T10:00:00.123456-07:00",
    "updated_at": "2025-05-01T10:00:00-07:00",
}


@pytest.mark.parametrize("wrap", [lambda items: items, lambda items: {"results": items}, lambda i: {"memories": i}])
def test_each_of_its_forms(wrap: Any) -> None:
    parsed = read(wrap([ENTRY, {"id": "2", "text": "The club meets on Friday", "agent_id": "x"}]))
    assert parsed.source is Source.MEM0
    own, shared = parsed.entries
    assert (own.scope, own.content, own.person) == (MemoryScope.PERSONAL, "Likes tea", Person("ana"))
    assert own.tags == ("drinks",)
    assert own.created_at is not None
    assert own.created_at.isoformat() == "2025-05-01T17:00:00.123456+00:00"
    assert (shared.scope, shared.content) == (MemoryScope.SERVER, "The club meets on Friday")
    assert parsed.notes == (
        "field 'agent_id': not taken over (entry 2)",
        "field 'metadata': not taken over (entry 1)",
        "field 'updated_at': not taken over (entry 1)",
    )


def test_its_faults() -> None:
    with pytest.raises(ImportRefused) as refused:
        read([ENTRY, {**ENTRY, "memory": ""}, {**ENTRY, "created_at": []}, "text"])
    assert refused.value.lines == (
        "entry 2 (memories[1]): memory: a text is expected, this is missing or empty",
        "entry 3 (memories[2]): created_at: a moment like 2026-03-01T20:00:00Z is expected, this is a list",
        "entry 4 (memories[3]): an object is expected, this is a text",
    )
