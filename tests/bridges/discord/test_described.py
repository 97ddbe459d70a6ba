"""What a message holds besides plain text."""

from typing import Any

import pytest

from agent.events import Attachment
from bridges.discord.described import EXTRA_LIMIT, MOST_EXTRAS, Described, described

DISPLAY = {"type": 10, "content": "Hello"}
V2 = [
    {"type": 10, "content": "-# Replying to Ana"},
    {"type": 17, "components": [DISPLAY, {"type": 1, "components": [{"type": 2, "label": "x"}]}]},
]
PICTURE = {"id": "1", "filename": "a.png", "size": 3, "content_type": "image/png", "url": "https://cdn/a.png"}
TEXT = {"id": "1", "filename": "a.txt", "size": 3, "content_type": "text/plain; charset=utf-8"}
NEWS = {
    "type": "rich",
    "title": "News",
    "description": "It rains.",
    "author": {"name": "Desk"},
    "fields": [{"name": "Where", "value": "here"}],
    "footer": {"text": "end"},
}
LINK = {"type": "link", "title": "X", "url": "https://x", "description": "long"}
POLL = {"question": {"text": "Tea?"}, "answers": [{"poll_media": {"text": "Yes"}}, {"poll_media": {"text": "No"}}]}
FORWARDED = [{"message": {"content": "old news", "attachments": [PICTURE]}}]
FILES = (Attachment("a.png", "image/png", 3, "https://cdn/a.png"),)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": "hi"}, Described("hi")),
        ({"content": ""}, Described("")),
        ({}, Described("")),
        ({"content": None, "embeds": None, "poll": None, "components": None}, Described("")),
        (
            {"content": "look", "attachments": [PICTURE]},
            Described("look", (Attachment("a.png", "image/png", 3, "https://cdn/a.png"),)),
        ),
        ({"content": "", "attachments": [TEXT]}, Described("", (Attachment("a.txt", "text/plain", 3, ""),))),
        ({"content": "", "embeds": [NEWS]}, Described("", (), ("embed: Desk\nNews\nIt rains.\nWhere: here\nend",))),
        (
            {"content": "", "embeds": [{**NEWS, "url": "https://news"}]},
            Described("", (), ("embed: Desk\nhttps://news\nNews\nIt rains.\nWhere: here\nend",)),
        ),
        ({"content": "https://x", "embeds": [LINK]}, Described("https://x", (), ("embed: X https://x",))),
        ({"content": "", "sticker_items": [{"id": "1", "name": "wave"}]}, Described("", (), ("sticker: wave",))),
        ({"content": "", "poll": POLL}, Described("", (), ("poll: Tea?\n- Yes\n- No",))),
        ({"content": "", "components": V2}, Described("-# Replying to Ana\nHello")),
        ({"content": "hi", "components": V2}, Described("hi", (), ("components: -# Replying to Ana\nHello",))),
        ({"content": "", "message_snapshots": FORWARDED}, Described("", FILES, ("forwarded: old news",))),
        ({"content": "", "message_snapshots": [{}]}, Described("", (), ("forwarded: ",))),
    ],
)
def test_a_message_is_described(message: dict[str, Any], expected: Described) -> None:
    assert described(message) == expected


def test_descriptions_are_bounded() -> None:
    extras = described({"content": "", "embeds": [{"description": "x" * 5_000}] * 50}).extras
    assert len(extras) == MOST_EXTRAS
    assert {len(extra) for extra in extras} == {EXTRA_LIMIT}


def nested(depth: int) -> dict[str, Any]:
    return {"type": 17, "components": [nested(depth - 1) if depth else {"type": 10, "content": "deep"}]}


def test_endless_nesting_ends() -> None:
    assert described({"content": "", "components": [nested(3)]}).text == "deep"
    assert not described({"content": "", "components": [nested(200)]}).text
