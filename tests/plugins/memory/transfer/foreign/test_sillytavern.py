import json
from typing import Any

import pytest

from agent.contracts.memory import MemoryScope
from plugins.memory.transfer.entries import ImportRefused, Parsed, Source
from plugins.memory.transfer.foreign.sillytavern import KEYS_NOTE
from plugins.memory.transfer.reading import read_file


def read(data: Any) -> Parsed:
    return read_file(json.dumps(data).encode(), "book.json")


ENTRY = {"uid": 0, "key": ["dragon"], "comment": "Dragon", "content": "{{char}} fears {{User}}.", "order": 100}
CARD_ENTRY = {"keys": ["dragon"], "content": "{{char}} fears {{User}}.", "enabled": True, "insertion_order": 100}

CARD = {"name": "Fern", "character_book": {"entries": [CARD_ENTRY]}}


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ({"entries": {"0": CARD_ENTRY}}, "entries[0]"),
        ({"entries": [CARD_ENTRY]}, "entries[0]"),
        ({"character_book": {"entries": [CARD_ENTRY]}}, "character_book.entries[0]"),
        ({"spec": "chara_card_v2", "data": CARD}, "data.character_book.entries[0]"),
        ({"spec": "chara_card_v3", "data": CARD}, "data.character_book.entries[0]"),
    ],
)
def test_each_form(data: Any, where: str) -> None:
    parsed = read(data)
    assert parsed.source is Source.SILLYTAVERN
    [entry] = parsed.entries
    assert (entry.scope, entry.where) == (MemoryScope.SERVER, where)
    assert (entry.content, entry.tags) == ("{bot} fears {user}.", ("dragon",))
    assert parsed.notes == (KEYS_NOTE, "field 'insertion_order': not taken over (entry 1)")


def test_a_lorebook_of_sillytavern() -> None:
    off = {**ENTRY, "uid": 1, "disable": True, "key": [], "order": 0}
    parsed = read({"entries": {"0": ENTRY, "1": off}, "name": "Realm", "originalData": {}})
    [entry] = parsed.entries
    assert entry.tags == ("Dragon", "dragon")
    assert parsed.notes == (
        "field 'originalData': not known, left out",
        "entry 2 (entries[1]): switched off in the file, left out",
        KEYS_NOTE,
        "field 'order': not taken over (entries 1, 2)",
    )


def test_what_is_wrong() -> None:
    with pytest.raises(ImportRefused, match=r"data\.character_book: this character card has no book"):
        read({"spec": "chara_card_v2", "data": {}})
    with pytest.raises(ImportRefused, match=r"entry 1 \(entries\[0\]\): content: a text is expected, this is a number"):
        read({"entries": {"0": {"content": 1}}})
    with pytest.raises(ImportRefused, match="there are no memories in this file"):
        read({"entries": {}})
