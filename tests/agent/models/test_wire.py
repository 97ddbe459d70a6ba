import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    ModelMessage,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserPromptPart,
)

from agent.contracts.context import ContextItem, Image, Prompt, Role, Section, Tag
from agent.models.wire import FEWEST, to_messages, wire_prompt


def system(text: str, tag: Tag = Tag.PERSONA) -> ContextItem:
    return ContextItem(tag, Role.SYSTEM, Section.PREFIX, text)


def said(text: str, role: Role = Role.USER) -> ContextItem:
    line = json.dumps({"from": "Ana", "handle": "ana", "text": text}) if role is Role.USER else text
    return ContextItem(Tag.HISTORY, role, Section.PREFIX, line)


def tail(text: str, tag: Tag = Tag.NOW, role: Role = Role.SYSTEM) -> ContextItem:
    return ContextItem(tag, role, Section.TAIL, text)


MESSAGE = tail('{"from": "Ana", "handle": "ana", "text": "hi"}', Tag.MESSAGE, Role.USER)


def shape(messages: list[ModelMessage]) -> list[tuple[str, str]]:
    """Each message as its role and its whole text; the cache point is a `|`."""
    shown = []
    for message in messages:
        (part,) = message.parts
        if isinstance(part, UserPromptPart):
            pieces = [part.content] if isinstance(part.content, str) else part.content
            shown.append(("user", "~".join("|" if isinstance(piece, CachePoint) else str(piece) for piece in pieces)))
        elif isinstance(part, SystemPromptPart):
            shown.append(("system", part.content))
        else:
            assert isinstance(message, ModelResponse)
            assert isinstance(part, TextPart)
            shown.append(("assistant", part.content))
    return shown


def test_the_prefix_then_the_talk_then_the_tail() -> None:
    history = [said("a"), said("b"), said("So?", Role.ASSISTANT), said("c")]
    prompt = Prompt((system("You are X."), system("Rules.", Tag.RULES), *history, tail("It is noon."), MESSAGE))
    lines = [item.text for item in history]
    assert shape(to_messages(wire_prompt(prompt, 60), cache_point=True)) == [
        ("system", "You are X.\n\nRules."),
        ("user", f"{lines[0]}\n{lines[1]}"),
        ("assistant", "So?"),
        ("user", lines[3]),
        ("user", f"|~It is noon.~{MESSAGE.text}"),
    ]
    assert shape(to_messages(wire_prompt(prompt, 60), cache_point=False))[-1] == (
        "user",
        f"It is noon.\n\n{MESSAGE.text}",
    )


def test_no_cache_point_stands_before_all_talk() -> None:
    prompt = Prompt((system("You are X."), MESSAGE))
    assert shape(to_messages(wire_prompt(prompt, 60), cache_point=True))[-1] == ("user", MESSAGE.text)


def test_what_is_too_much_is_merged_at_the_old_end() -> None:
    history = [said(str(number), Role.ASSISTANT if number % 2 else Role.USER) for number in range(9)]
    messages = shape(to_messages(wire_prompt(Prompt((system("S"), *history, MESSAGE)), 6), cache_point=False))
    assert [role for role, _ in messages] == ["system", "user", "assistant", "user", "user"]
    assert messages[1][1].split("\n")[1] == '{"you_said": "1"}'
    assert [text for _, text in messages[2:]] == ["7", history[8].text, MESSAGE.text]


def test_a_user_speaks_first() -> None:
    prompt = Prompt((said("Welcome!", Role.ASSISTANT), said("hi"), MESSAGE))
    assert shape(to_messages(wire_prompt(prompt, 60), cache_point=False))[0][1].split("\n") == [
        '{"you_said": "Welcome!"}',
        said("hi").text,
    ]


def test_blank_items_are_not_sent() -> None:
    assert shape(to_messages(wire_prompt(Prompt((system(" \n"), tail(""), MESSAGE)), 60), cache_point=False)) == [
        ("user", MESSAGE.text)
    ]


ITEMS = st.lists(
    st.tuples(st.sampled_from(["system", "user", "assistant", "tail"]), st.text(min_size=1)).filter(
        lambda pair: bool(pair[1].strip())
    ),
    max_size=40,
)


@given(ITEMS, st.integers(0, 30), st.booleans())
def test_nothing_is_added_lost_or_reordered(pairs: list[tuple[str, str]], limit: int, cache_point: bool) -> None:
    systems = [system(text) for kind, text in pairs if kind == "system"]
    history = [said(text, Role(kind)) for kind, text in pairs if kind in {"user", "assistant"}]
    tails = [*(tail(text) for kind, text in pairs if kind == "tail"), MESSAGE]
    messages = shape(to_messages(wire_prompt(Prompt((*systems, *history, *tails)), limit), cache_point=cache_point))

    assert len(messages) <= max(limit, FEWEST)
    assert [role for role, _ in messages].count("system") == bool(systems)
    talk = [role for role, _ in messages if role != "system"]
    assert talk[0] == "user"
    assert all(pair != ("assistant", "assistant") for pair in pairwise(talk))

    rest = messages
    if systems:
        assert rest[0] == ("system", "\n\n".join(item.text for item in systems))
        rest = rest[1:]
    end = rest[-1][1].removeprefix("|~")
    assert end == ("~" if cache_point else "\n\n").join(item.text for item in tails)
    written = "\n".join(text for _, text in rest[:-1])
    in_fold = {item.text: json.dumps({"you_said": item.text}, ensure_ascii=False) for item in history}
    position = 0
    for item in history:
        forms = [form for form in (item.text, in_fold[item.text]) if form in written[position:]]
        found, minus_size = min((written.index(form, position), -len(form)) for form in forms)
        assert written[position:found].strip("\n") == ""
        position = found - minus_size
    assert written[position:] == ""


@pytest.mark.parametrize("section", list(Section))
def test_history_is_talk_wherever_it_stands(section: Section) -> None:
    item = ContextItem(Tag.HISTORY, Role.ASSISTANT, section, "Yes.")
    prompt = Prompt((said("well?"), item, MESSAGE))
    assert shape(to_messages(wire_prompt(prompt, 60), cache_point=False))[1] == ("assistant", "Yes.")


@pytest.mark.parametrize("cache_point", [False, True])
def test_pictures_stand_behind_the_tail(cache_point: bool) -> None:
    prompt = Prompt((system("You are X."), tail("It is noon."), MESSAGE), images=(Image("a.png", "image/png", b"png"),))
    last = to_messages(wire_prompt(prompt, 60), cache_point=cache_point)[-1].parts[0]
    assert isinstance(last, UserPromptPart)
    assert not isinstance(last.content, str)
    *texts, picture = last.content
    assert isinstance(picture, BinaryContent)
    assert (picture.data, picture.media_type) == (b"png", "image/png")
    assert "\n\n".join(map(str, texts)) == f"It is noon.\n\n{MESSAGE.text}"
