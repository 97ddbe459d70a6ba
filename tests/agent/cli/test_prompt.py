from agent.cli.prompt import as_data, as_text
from agent.contracts.context import ContextEntry, ContextItem, LeftOut, Prompt, Role, Section, Tag

PROMPT = Prompt(
    (
        ContextItem(Tag.PERSONA, Role.SYSTEM, Section.PREFIX, "You are Isthmus.", required=True),
        ContextItem(
            Tag.KNOWLEDGE_SERVER_MEMORIES,
            Role.SYSTEM,
            Section.PREFIX,
            "",
            (ContextEntry("server_memory:1", "tea at five\x1b[2J", "ID:1 tea at five\x1b[2J", None, "## Memories"),),
        ),
        ContextItem(Tag.MESSAGE, Role.USER, Section.TAIL, '{"text": "hi"}'),
    ),
    (LeftOut(Tag.HISTORY, None, "budget"), LeftOut(Tag.RECALL, "document:3", "budget")),
)


def test_each_item_has_tag_role_size_and_section() -> None:
    data = as_data(PROMPT)
    assert [(item["tag"], item["role"], item["section"], item["required"]) for item in data["items"]] == [
        ("PERSONA", "system", "prefix", True),
        ("KNOWLEDGE_SERVER_MEMORIES", "system", "prefix", False),
        ("MESSAGE", "user", "tail", False),
    ]
    assert [item["characters"] for item in data["items"]] == [16, 32, 14]
    assert all(item["tokens"] > 0 for item in data["items"])
    assert data["items"][1]["entries"] == ["server_memory:1"]
    assert data["characters"] == 62
    assert data["left_out"] == [
        {"tag": "HISTORY", "identity": None, "reason": "budget"},
        {"tag": "RECALL", "identity": "document:3", "reason": "budget"},
    ]


def test_the_text_shows_the_same_and_is_safe_to_print() -> None:
    text = as_text(PROMPT)
    assert "=== KNOWLEDGE_SERVER_MEMORIES · system · prefix · 32 characters, about " in text
    assert "## Memories\nID:1 tea at five[2J\n" in text
    assert "Total: 62 characters, about " in text
    assert text.endswith("Left out: HISTORY (all of it): budget\nLeft out: RECALL document:3: budget")
