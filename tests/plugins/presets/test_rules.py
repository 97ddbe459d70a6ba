from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.context import ContextEntry, ContextItem, LeftOut, Prompt, Role, Section, Tag
from agent.models.wire import wire_prompt
from agent.turn.arrange import fault_of
from plugins.presets.preset import Marker, Preset, PresetPrompt
from plugins.presets.rendering import item_of
from plugins.presets.rules import arrange

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMES = {"char": "Mira", "user": "Ana"}


def system(tag: Tag, text: str, section: Section = Section.PREFIX) -> ContextItem:
    return ContextItem(tag, Role.SYSTEM, section, text, required=True)


def block(tag: Tag, *lines: str, section: Section = Section.PREFIX) -> ContextItem:
    entries = tuple(ContextEntry(f"{tag}:{line}", line, line, NOW) for line in lines)
    return ContextItem(tag, Role.SYSTEM, section, "", entries)


def said(number: int, role: Role = Role.USER) -> ContextItem:
    entry = ContextEntry(f"message:{number}", f"hi {number}", f"hi {number}", NOW)
    return ContextItem(Tag.HISTORY, role, Section.PREFIX, "", (entry,))


def marker(name: Marker, enabled: bool = True) -> PresetPrompt:
    return PresetPrompt(name.value, enabled=enabled)


def text(name: str, role: Role = Role.SYSTEM, depth: int | None = None, priority: int = 100) -> PresetPrompt:
    return PresetPrompt(name, name, name, role, depth, priority)


MESSAGE = ContextItem(Tag.MESSAGE, Role.USER, Section.TAIL, "now?", required=True)
ITEMS = (
    system(Tag.PERSONA, "persona"),
    system(Tag.RULES, "rules"),
    system(Tag.PLACE, "place"),
    block(Tag.LOREBOOK, "standing lore"),
    block(Tag.KNOWLEDGE_SERVER_MEMORIES, "server memory"),
    block(Tag.KNOWLEDGE_USER_MEMORIES, "personal memory"),
    system(Tag.PARTICIPANTS, "people"),
    said(1),
    said(2, Role.ASSISTANT),
    said(3),
    block(Tag.LOREBOOK, "called lore", section=Section.TAIL),
    block(Tag.RECALL, "recalled", section=Section.TAIL),
    system(Tag.NOW, "noon", Section.TAIL),
    MESSAGE,
)
KNOWLEDGE = ["standing lore", "server memory", "personal memory", "called lore", "recalled"]


def prompt_for(preset: Preset) -> Prompt:
    """The prompt as it comes from the budget: the preset's texts in one item behind the persona."""
    return Prompt((ITEMS[0], *item_of(preset, NAMES), *ITEMS[1:]), (LeftOut(Tag.RECALL, None, "budget"),))


def lines(*prompts: PresetPrompt, recalled_at_anchor: bool = True) -> list[str]:
    preset = Preset("p", prompts)
    before = prompt_for(preset)
    after = arrange(before, preset, recalled_at_anchor=recalled_at_anchor)
    assert fault_of(before, after) is None
    assert after.left_out == before.left_out
    return [item.render() for item in after.items]


# The order of SillyTavern's own default preset.
DEFAULT = (
    text("main"),
    marker(Marker.WORLD_INFO_BEFORE),
    marker(Marker.USER),
    marker(Marker.CHARACTER),
    marker(Marker.CHARACTER_PERSONALITY),
    marker(Marker.SCENARIO),
    marker(Marker.WORLD_INFO_AFTER),
    marker(Marker.EXAMPLES),
    marker(Marker.HISTORY),
    text("jailbreak"),
)


def test_the_order_of_the_default_preset() -> None:
    assert lines(*DEFAULT) == [
        "main",
        *KNOWLEDGE,
        "people",
        "persona",
        "rules",
        "place",
        "hi 1",
        "hi 2",
        "hi 3",
        "noon",
        "jailbreak",
        "now?",
    ]


def test_what_is_called_back_may_stay_behind_the_conversation() -> None:
    shown = lines(*DEFAULT, recalled_at_anchor=False)
    assert shown[:4] == ["main", "standing lore", "server memory", "personal memory"]
    assert shown[-6:] == ["hi 3", "noon", "called lore", "recalled", "jailbreak", "now?"]


def test_knowledge_stands_at_the_first_anchor_that_is_on() -> None:
    off, on = marker(Marker.WORLD_INFO_BEFORE, enabled=False), marker(Marker.WORLD_INFO_AFTER)
    assert lines(off, text("a"), on, marker(Marker.HISTORY))[4:][:6] == ["a", *KNOWLEDGE]
    shown = lines(on, text("a"), marker(Marker.WORLD_INFO_BEFORE), marker(Marker.HISTORY))
    assert shown[4:][:6] == [*KNOWLEDGE, "a"]


def test_without_an_anchor_knowledge_stands_before_what_was_said() -> None:
    first = ["persona", "rules", "place", "people"]
    assert lines(text("a"), marker(Marker.HISTORY), text("b")) == [
        *first,
        "a",
        *KNOWLEDGE,
        "hi 1",
        "hi 2",
        "hi 3",
        "noon",
        "b",
        "now?",
    ]
    shown = lines(text("a"))
    assert shown[:7] == ["persona", "rules", "place", *KNOWLEDGE[:3], "people"]
    assert shown[-4:] == ["noon", "called lore", "recalled", "now?"]


def test_an_empty_preset_changes_no_order_but_of_the_tail() -> None:
    assert lines() == [
        "persona",
        "rules",
        "place",
        "standing lore",
        "server memory",
        "personal memory",
        "people",
        "hi 1",
        "hi 2",
        "hi 3",
        "noon",
        "called lore",
        "recalled",
        "now?",
    ]


def test_parts_behind_the_conversation_stand_in_the_tail() -> None:
    shown = lines(marker(Marker.HISTORY), text("late"), marker(Marker.WORLD_INFO_BEFORE), marker(Marker.CHARACTER))
    assert shown[-10:] == ["noon", "late", *KNOWLEDGE, "persona", "rules", "now?"]


def test_other_voices_before_the_conversation() -> None:
    preset = Preset("p", (text("u", Role.USER), text("s"), text("a", Role.ASSISTANT), marker(Marker.HISTORY)))
    after = arrange(prompt_for(preset), preset)
    assert [(item.render(), item.role) for item in after.items[4:8]] == [
        ("s", Role.SYSTEM),
        *[(line, Role.SYSTEM) for line in KNOWLEDGE][:3],
    ]
    talk = [item for item in after.items if item.section is Section.PREFIX and item.role is not Role.SYSTEM]
    assert [item.render() for item in talk] == ["u", "a", "hi 1", "hi 2", "hi 3"]


def test_texts_at_a_depth() -> None:
    injected = [text(f"d{depth}", depth=depth) for depth in (0, 1, 2, 4, 9)]
    shown = lines(marker(Marker.HISTORY), *injected, text("behind"))
    assert shown[-11:] == ["d9", "d4", "hi 1", "hi 2", "d2", "hi 3", "noon", "behind", "d1", "now?", "d0"]


def test_texts_at_one_depth_stand_by_priority_then_voice() -> None:
    shown = lines(
        text("system", depth=2),
        text("user", Role.USER, depth=2),
        text("assistant", Role.ASSISTANT, depth=2),
        text("late", depth=2, priority=200),
        text("early", depth=2, priority=1),
        text("system too", depth=2),
        marker(Marker.HISTORY),
    )
    at = shown.index("hi 2")
    assert shown[at:][:8] == ["hi 2", "early", "assistant", "user", "system", "system too", "late", "hi 3"]


def test_no_system_voice_stands_within_the_conversation() -> None:
    preset = Preset("p", (text("a", depth=2), text("b", Role.ASSISTANT, depth=0), marker(Marker.HISTORY)))
    after = arrange(prompt_for(preset), preset)
    roles = {item.render(): (item.role, item.section) for item in after.items}
    assert roles["a"] == (Role.USER, Section.PREFIX)
    assert roles["b"] == (Role.SYSTEM, Section.TAIL)


def test_without_earlier_messages_texts_at_a_depth_stand_before_the_message() -> None:
    preset = Preset("p", (text("d3", depth=3), text("d1", depth=1), marker(Marker.HISTORY), text("d0", depth=0)))
    before = prompt_for(preset)
    before = Prompt(tuple(item for item in before.items if item.tag is not Tag.HISTORY))
    after = arrange(before, preset)
    assert fault_of(before, after) is None
    assert [item.render() for item in after.items][-5:] == ["noon", "d3", "d1", "now?", "d0"]


def test_texts_of_another_preset_are_not_lost() -> None:
    before = prompt_for(Preset("old", (text("old"),)))
    after = arrange(before, Preset("new", DEFAULT))
    assert fault_of(before, after) is None
    assert "old" in [item.render() for item in after.items]


def test_a_preset_that_did_not_fit_the_budget_still_gives_the_order() -> None:
    after = arrange(Prompt(ITEMS), Preset("p", DEFAULT))
    assert fault_of(Prompt(ITEMS), after) is None
    assert after.items[0].render() == "standing lore"


roles = st.sampled_from(Role)
presets = st.lists(
    st.one_of(
        st.builds(marker, st.sampled_from(Marker), st.booleans()),
        st.builds(
            PresetPrompt,
            identifier=st.sampled_from([f"t{n}" for n in range(12)]),
            content=st.sampled_from(["", " ", "{{user}}", "text", "{{char}} and {{user}}", "# Head\n\ntext"]),
            role=roles,
            depth=st.none() | st.integers(0, 12),
            priority=st.integers(-2, 2),
            enabled=st.booleans(),
        ),
    ),
    max_size=16,
    unique_by=lambda prompt: prompt.identifier,
).map(lambda prompts: Preset("any", tuple(prompts)))
extras = [tag for tag in Tag if tag not in {Tag.MESSAGE, Tag.HISTORY, Tag.PRESET}]


@st.composite
def prompts(draw: st.DrawFn) -> Prompt:
    """Any prompt as the core builds it: in the order of the wire, one message, each identity once."""
    count = draw(st.integers(0, 12))
    items = []
    for number in range(count):
        tag = draw(st.sampled_from(extras))
        section = draw(st.sampled_from(Section))
        role = draw(roles) if section is Section.PREFIX and tag is not Tag.NOW else Role.SYSTEM
        item = draw(st.sampled_from([system(tag, f"text {number}", section), block(tag, f"a{number}", f"b{number}")]))
        items.append(replace(item, section=section, role=role, required=draw(st.booleans())))
    items += [
        said(number, draw(st.sampled_from([Role.USER, Role.ASSISTANT]))) for number in range(draw(st.integers(0, 6)))
    ]
    rank = {(Section.PREFIX, True): 0, (Section.PREFIX, False): 1}
    items.sort(key=lambda item: rank.get((item.section, item.role is Role.SYSTEM), 2))
    return Prompt((*items, MESSAGE))


@given(presets, presets, prompts(), st.booleans())
def test_every_part_of_any_prompt_stands_exactly_once_in_any_order(
    preset: Preset, shown: Preset, prompt: Prompt, recalled_at_anchor: bool
) -> None:
    before = Prompt((*item_of(shown, NAMES), *prompt.items))
    after = arrange(before, preset, recalled_at_anchor=recalled_at_anchor)
    assert fault_of(before, after) is None
    assert sorted(after.identities()) == sorted(before.identities())
    assert sorted(i.text for i in after.items if not i.entries) == sorted(i.text for i in before.items if not i.entries)
    required = [item for item in before.items if item.required]
    assert [item.text for item in required if item.text] == sorted(
        (item.text for item in after.items if item.text and item.required), key=[i.text for i in required].index
    )
    behind = after.items[[item.tag for item in after.items].index(Tag.MESSAGE) + 1 :]
    injected = {placed.identity for placed in preset.prompts if placed.depth == 0}
    assert {entry.identity for item in behind for entry in item.entries} <= injected
    assert all(item.tag is Tag.PRESET for item in behind)


@given(presets, prompts())
def test_knowledge_stays_in_one_piece_and_in_its_order(preset: Preset, prompt: Prompt) -> None:
    own = {Tag.PERSONA, Tag.RULES, Tag.PLACE, Tag.PARTICIPANTS, Tag.PRESET, Tag.NOW, Tag.MESSAGE, Tag.HISTORY}
    prompt = Prompt(tuple(item for item in prompt.items if item.tag in own or item.role is Role.SYSTEM))
    wanted = [item.render() for item in prompt.items if item.tag not in own]
    after = arrange(Prompt((*item_of(preset, NAMES), *prompt.items)), preset)
    places = [index for index, item in enumerate(after.items) if item.tag not in own]
    assert [after.items[index].render() for index in places] == wanted
    if {Marker.WORLD_INFO_BEFORE, Marker.WORLD_INFO_AFTER, Marker.HISTORY} & set(preset.markers()):
        assert all(right - left == 1 for left, right in pairwise(places))


@given(presets, prompts())
def test_what_is_shown_is_what_goes_on_the_wire(preset: Preset, prompt: Prompt) -> None:
    after = arrange(Prompt((*item_of(preset, NAMES), *prompt.items)), preset)
    wire = wire_prompt(after, 1_000)
    sent = "\n".join([*(line for message in wire.prefix for line in message.texts), *wire.tail])
    positions = [sent.find(item.render().splitlines()[0]) for item in after.items if item.tag is Tag.HISTORY]
    assert positions == sorted(positions)
    for item in after.items:
        if item.render().strip():
            assert item.render().splitlines()[0] in sent


@pytest.mark.parametrize("depth", range(12))
def test_no_depth_is_out_of_bounds(depth: int) -> None:
    shown = lines(text("x", depth=depth), marker(Marker.HISTORY))
    assert shown.count("x") == 1
