from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.context import Section, Tag
from plugins.presets.preset import Preset, PresetPrompt
from plugins.presets.rendering import item_of, macros_in, names_of, resolve


def test_two_macros_are_resolved_once() -> None:
    names = names_of("{{user}}\nI", "{{char}}")
    assert resolve("{{char}}|{{User}}|{{random::a}}|{char}", names) == "{{user}} I|{{char}}|{{random::a}}|{char}"


@given(st.text("{}charuse:", max_size=30), st.text("{}charuse", max_size=9), st.text("{}charuse", max_size=9))
def test_what_is_put_in_is_never_looked_at_again(text: str, bot: str, user: str) -> None:
    names = names_of(bot, user)
    pieces = [names["char"] if piece == "\0c" else names["user"] if piece == "\0u" else piece for piece in _split(text)]
    assert resolve(text, names) == "".join(pieces)


def _split(text: str) -> list[str]:
    import re

    pieces = re.split(r"(\{\{char\}\}|\{\{user\}\})", text)
    return [{"{{char}}": "\0c", "{{user}}": "\0u"}.get(piece, piece) for piece in pieces]


def test_macros_that_stay_text_are_named_once() -> None:
    text = "{{char}} {{random::a}} {{ roll:d6 }} {{random:b}} {{// note}} {{}} {single}"
    assert macros_in(text) == ("random", "roll", "//")


def test_each_text_is_an_entry_of_one_item() -> None:
    prompts = (
        PresetPrompt("a", content="Hello {{user}}\n"),
        PresetPrompt("off", content="x", enabled=False),
        PresetPrompt("empty", content=" "),
        PresetPrompt("chatHistory", content="x"),
        PresetPrompt("b", content="B", depth=2),
    )
    (item,) = item_of(Preset("p", prompts), names_of("Mira", "Ana"))
    assert (item.tag, item.section, item.required) == (Tag.PRESET, Section.PREFIX, False)
    assert [(entry.identity, entry.line, entry.recency) for entry in item.entries] == [
        ("preset:a", "Hello Ana", None),
        ("preset:b", "B", None),
    ]
    assert item_of(Preset("p", prompts[1:4]), names_of("Mira", "Ana")) == ()
