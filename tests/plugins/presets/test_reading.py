from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.context import Role
from agent.files import FileRefused
from plugins.presets.preset import MAX_PROMPTS, Marker, Preset
from plugins.presets.reading import MAX_FILE, read_preset
from tests.plugins.presets.files import MARKERS, as_json, default_preset, placed, st_marker, st_prompt


def read(data: dict[str, Any], max_tokens: int = 1_000) -> tuple[Preset, list[str]]:
    preset, report = read_preset(as_json(data), "My preset.json", max_tokens=max_tokens)
    assert report.errors == []
    assert preset is not None
    return preset, report.notes


def errors(data: dict[str, Any]) -> list[str]:
    preset, report = read_preset(as_json(data), "a.json", max_tokens=1_000)
    assert preset is None
    return report.errors


def plain(*prompts: dict[str, Any], order: Any = None, **values: Any) -> dict[str, Any]:
    names = [prompt["identifier"] for prompt in prompts]
    order = [{"character_id": 100001, "order": placed(*names, *MARKERS)}] if order is None else order
    return {"prompts": [*prompts, *map(st_marker, MARKERS)], "prompt_order": order, **values}


def test_the_default_preset() -> None:
    preset, notes = read(default_preset())
    assert preset.name == "My preset"
    assert [prompt.identifier for prompt in preset.prompts] == [
        "main",
        *MARKERS,
        "enhanceDefinitions",
        "nsfw",
        "jailbreak",
    ]
    assert [prompt.identifier for prompt in preset.sent()] == ["main", "jailbreak"]
    assert list(preset.markers()) == [Marker(name) for name in MARKERS]
    assert preset.samplers == {"temperature": 0.9, "top_p": 1, "openai_max_tokens": 300, "seed": -1}
    assert notes == [
        "kept, not applied: openai_max_tokens 300, seed -1, temperature 0.9, top_p 1",
        "left out, for it may hold a secret: reverse_proxy, proxy_password, custom_include_headers",
        "left out: chat_completion_source, openai_model, new_chat_prompt",
    ]


def test_no_secret_of_a_preset_is_kept_or_said() -> None:
    preset, notes = read(default_preset())
    assert "hunter2" not in repr(preset) + repr(notes)


def test_every_field_of_a_prompt() -> None:
    prompt = st_prompt(
        "x", "Text", role="assistant", injection_position=1, injection_depth=2, injection_order=7, name="A\nname"
    )
    preset, _ = read(plain(prompt))
    (made,) = preset.sent()
    assert (made.name, made.content, made.role) == ("A name", "Text", Role.ASSISTANT)
    assert (made.depth, made.priority) == (2, 7)
    (made,) = read(plain(st_prompt("x", "Text", injection_position=1)))[0].sent()
    assert (made.depth, made.priority) == (4, 100)
    (made,) = read(plain(st_prompt("x", "Text", injection_position=0, injection_depth=9)))[0].sent()
    assert made.depth is None


def test_the_order_that_holds_for_all_characters_is_taken() -> None:
    older = {"character_id": 100000, "order": placed("b", "a")}
    newer = {"character_id": 100001, "order": placed("a", "b")}
    other = {"character_id": 7, "order": placed("b")}
    prompts = (st_prompt("a", "A"), st_prompt("b", "B"))

    def order(*orders: Any) -> list[str]:
        return [prompt.identifier for prompt in read(plain(*prompts, order=list(orders)))[0].prompts]

    assert order(older, newer) == ["a", "b"]
    assert order(other, older) == ["b", "a"]
    assert order(other) == ["b"]
    assert "prompt_order: 1 orders of other characters are left out" in read(plain(*prompts, order=[older, other]))[1]


def test_without_an_order_the_prompts_stand_as_they_are_listed() -> None:
    preset, notes = read(plain(st_prompt("a", "A"), st_prompt("b", "B", enabled=False), order=[]))
    assert [prompt.identifier for prompt in preset.sent()] == ["a"]
    assert notes == ["prompt_order: there is none, so the prompts stand as they are listed"]


def test_what_is_not_used_is_said() -> None:
    prompts = [
        st_prompt("a", "{{random::x::y}} {{user}} {{getvar::z}}", injection_trigger=["continue"], mystery=1),
        st_prompt("b", "{{random: a, b}}", role="assistant", injection_position=1, injection_depth=0),
        st_prompt("c", "never"),
        {**st_marker("extensionMarker")},
        {**st_marker("scenario"), "content": "text"},
    ]
    order = placed("a", "b", "extensionMarker", "scenario", "ghost", "charDescription", charDescription=False)
    data = {"prompts": prompts, "prompt_order": [{"character_id": 100001, "order": order}], "assistant_prefill": "Sure"}
    preset, notes = read(data)
    assert [prompt.identifier for prompt in preset.sent()] == ["a", "b"]
    assert notes == [
        "prompt 2 (B): role: the last message has one voice: sent as part of it",
        "prompt 4 (extensionMarker): marker: nothing of ours stands there",
        "prompt 5 (scenario): content: a marker has no text of its own: left out",
        "injection_trigger: left out (in prompt 1 (A))",
        "mystery: left out (in prompt 1 (A))",
        "prompt_order: there is no prompt ghost",
        "left out, for they have no place in the order: C",
        "{{random}} stays text (in A, B)",
        "{{getvar}} stays text (in A)",
        "charDescription, chatHistory: off in the preset, and still a part of each prompt",
        "left out: assistant_prefill",
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"nonsense", "no JSON"),
        (b"[]", "a JSON object is expected"),
        (b"{}", "no list of prompts"),
        (as_json({"prompts": {}}), "no list of prompts"),
        (as_json({"temp": 1, "top_p": 1}), "no preset for chat completion"),
        (b" " * (MAX_FILE + 1), "larger than 4 MiB"),
        (b'{"prompts":' + b"[" * 300 + b"]" * 300 + b"}", "nested too deeply"),
        (as_json({"prompts": [st_prompt(f"p{n}") for n in range(MAX_PROMPTS + 1)]}), f"at most {MAX_PROMPTS}"),
    ],
)
def test_a_file_that_is_no_preset_is_refused_in_one_line(content: bytes, says: str) -> None:
    with pytest.raises(FileRefused) as refused:
        read_preset(content, "a.json", max_tokens=1_000)
    assert str(refused.value).startswith("a.json: ")
    assert says in str(refused.value)


def test_each_fault_is_said_with_its_place() -> None:
    data = {
        "prompts": [
            st_prompt("a", role="narrator"),
            st_prompt("a", injection_position=2),
            {"identifier": 7, "content": ["x"], "injection_depth": -1, "marker": "yes"},
            "text",
        ],
        "prompt_order": [{"character_id": 1, "order": [{"identifier": "a", "enabled": "on"}, {"enabled": True}, 3]}],
    }
    assert errors(data) == [
        "prompt 1 (A): role: system, user or assistant is expected",
        "prompt 2 (A): injection_position: a number from 0 to 1 is expected, this is 2",
        "prompt 2 (A): identifier: another prompt has “a” too",
        "prompt 3: injection_depth: a number from 0 to 10000 is expected, this is -1",
        "prompt 3: identifier: a text is expected, this is a number",
        "prompt 3: content: a text is expected, this is a list",
        "prompt 3: marker: true or false is expected, this is a text",
        "prompt 4: an object is expected, this is a text",
        "prompt_order: 1: enabled: true or false is expected, this is a text",
        "prompt_order: 2: identifier: a name is expected",
        "prompt_order: 3: an object is expected, this is a number",
    ]
    assert errors(plain(st_prompt("a"), order={"a": 1})) == ["prompt_order: a list of objects is expected"]
    assert errors(plain(st_prompt("a"), order=[{"character_id": 1}])) == [
        "prompt_order: order: a list is expected, this is null"
    ]


def test_a_preset_that_would_fill_the_prompt_is_refused() -> None:
    assert errors(plain(st_prompt("a", "x" * 7_000))) == [
        "its prompts have about 2000 tokens; at most 1000 may stand in each prompt"
    ]
    assert read(plain(st_prompt("a", "x" * 7_000)), max_tokens=2_000)[0].name == "My preset"


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec="utf-8"), max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=5,
)
FIELDS = ["identifier", "name", "content", "role", "injection_position", "injection_depth", "injection_order", "marker"]


@given(st.sampled_from(FIELDS), st.sampled_from([*default_preset(), "x"]), anything, st.booleans())
def test_no_value_of_any_field_does_harm(field: str, top: str, value: Any, inside: bool) -> None:
    data = plain({**st_prompt("a", "text"), field: value}, order=[]) if inside else default_preset(**{top: value})
    try:
        preset, report = read_preset(as_json(data), "a.json", max_tokens=1_000)
    except FileRefused as refused:
        assert "\n" not in str(refused)  # noqa: PT017 - what it says, when it is raised
    else:
        assert (preset is None) is bool(report.errors)
        assert all("\n" not in line for line in [*report.errors, *report.notes])
