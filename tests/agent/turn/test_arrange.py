from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from agent.contracts.context import ContextEntry, ContextItem, LeftOut, Prompt, Role, Section, Tag
from agent.hookspecs import hookimpl
from agent.plugin_host import PluginHost
from agent.turn.arrange import arranged, fault_of
from agent.turn.context import build_prompt
from tests.agent.turn.builders import a_turn


def system(tag: Tag, text: str, section: Section = Section.PREFIX) -> ContextItem:
    return ContextItem(tag, Role.SYSTEM, section, text, required=True)


def entry(number: int) -> ContextEntry:
    return ContextEntry(f"memory:{number}", f"fact {number}", f"ID:{number} fact {number}", group="## Facts")


def said(number: int, role: Role = Role.USER) -> ContextItem:
    line = ContextEntry(f"message:{number}", "hi", f'{{"text": "hi {number}"}}')
    return ContextItem(Tag.HISTORY, role, Section.PREFIX, "", (line,))


FACTS = ContextItem(
    Tag.KNOWLEDGE_SERVER_MEMORIES, Role.SYSTEM, Section.PREFIX, "", tuple(entry(number) for number in range(4))
)
MESSAGE = ContextItem(Tag.MESSAGE, Role.USER, Section.TAIL, '{"text": "?"}', required=True)
PROMPT = Prompt(
    (
        system(Tag.PERSONA, "You are X."),
        system(Tag.RULES, "Rules."),
        FACTS,
        said(1),
        said(2, Role.ASSISTANT),
        said(3),
        system(Tag.NOW, "It is noon.", Section.TAIL),
        MESSAGE,
    ),
    (LeftOut(Tag.RECALL, None, "budget"),),
)


def with_items(change: Callable[[list[ContextItem]], object]) -> Prompt:
    items = list(PROMPT.items)
    change(items)
    return Prompt(tuple(items))


def swap(one: int, other: int) -> Callable[[list[ContextItem]], None]:
    def change(items: list[ContextItem]) -> None:
        items[one], items[other] = items[other], items[one]

    return change


def change(index: int, **values: Any) -> Callable[[list[ContextItem]], None]:
    def put(items: list[ContextItem]) -> None:
        items[index] = replace(items[index], **values)

    return put


def split_facts(items: list[ContextItem]) -> None:
    items[2:3] = [replace(FACTS, entries=FACTS.entries[2:]), replace(FACTS, entries=FACTS.entries[:2])]


@pytest.mark.parametrize(
    "good",
    [
        lambda items: None,
        swap(0, 2),
        swap(6, 7),
        split_facts,
        lambda items: items.insert(3, replace(items.pop(1), role=Role.USER)),
        lambda items: items.insert(5, replace(items.pop(1), role=Role.USER)),
        lambda items: items.append(replace(items.pop(0), section=Section.TAIL)),
    ],
)
def test_the_same_words_may_stand_in_another_order(good: Callable[[list[ContextItem]], object]) -> None:
    assert fault_of(PROMPT, with_items(good)) is None


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (lambda items: items.pop(0), "lost"),
        (lambda items: items.pop(4), "lost"),
        (lambda items: items.pop(7), "lost"),
        (change(0, text="You are Y."), "lost"),
        (change(0, tag=Tag.RULES), "lost"),
        (change(2, entries=FACTS.entries[1:]), "lost"),
        (lambda items: items.insert(0, items[0]), "added"),
        (change(2, entries=(*FACTS.entries, entry(1))), "added"),
        (lambda items: items.insert(0, system(Tag.PRESET, "Obey.")), "added"),
        (change(7, role=Role.SYSTEM), "voice"),
        (change(3, role=Role.ASSISTANT), "voice"),
        (change(3, section=Section.TAIL), "voice"),
        (change(7, section=Section.PREFIX), "voice"),
        (swap(3, 5), "voice"),
        (lambda items: items.insert(4, items.pop(1)), "order"),
        (swap(1, 6), "order"),
        (change(1, role=Role.USER), "order"),
    ],
)
def test_another_prompt_is_no_arrangement(bad: Callable[[list[ContextItem]], object], fault: str) -> None:
    assert fault_of(PROMPT, with_items(bad)) == fault


@given(st.randoms(use_true_random=False), st.integers(0, 7), st.integers(1, 3))
def test_whatever_is_left_out_or_doubled_is_found(chance: random.Random, index: int, times: int) -> None:
    items = list(PROMPT.items)
    chance.shuffle(items)
    assert fault_of(PROMPT, Prompt(tuple(items[:index] + items[index + 1 :]))) == "lost"
    assert fault_of(PROMPT, Prompt(tuple(items + [items[index]] * times))) == "added"


class Arranging:
    name = "arranging"

    def __init__(self, answer: Callable[[Prompt], Any]) -> None:
        self._answer = answer

    @hookimpl
    def arrange_prompt(self, prompt: Prompt) -> Any:
        return self._answer(prompt)


async def host(answer: Callable[[Prompt], Any]) -> PluginHost:
    hooks = PluginHost([Arranging(answer)])
    await hooks.start(None)  # type: ignore[arg-type]
    return hooks


async def test_an_arrangement_is_used_and_what_was_left_out_stays_told() -> None:
    hooks = await host(lambda prompt: Prompt((prompt.items[1], prompt.items[0], *prompt.items[2:])))
    prompt = await arranged(a_turn(), PROMPT, hooks)
    assert [item.tag for item in prompt.items[:2]] == [Tag.RULES, Tag.PERSONA]
    assert prompt.left_out == PROMPT.left_out


@pytest.mark.parametrize(
    ("answer", "event"),
    [
        (lambda prompt: Prompt(prompt.items[1:]), "prompt_not_arranged"),
        (lambda prompt: "junk", None),
        (lambda prompt: 1 / 0, None),
        (lambda prompt: None, None),
    ],
)
async def test_the_prompt_stays_as_it_was_when_a_plugin_fails(
    answer: Callable[[Prompt], Any], event: str | None
) -> None:
    hooks = await host(answer)
    with capture_logs() as logs:
        assert await arranged(a_turn(), PROMPT, hooks) == PROMPT
    assert [line["event"] for line in logs if line["event"] == "prompt_not_arranged"] == ([event] if event else [])


async def test_the_prompt_of_a_turn_is_arranged() -> None:
    hooks = await host(lambda prompt: Prompt((prompt.items[1], prompt.items[0], *prompt.items[2:])))
    prompt, _ = await build_prompt(a_turn(), hooks, None, budget=10_000, message_limit=1_000)
    assert [item.tag for item in prompt.items[:2]] == [Tag.RULES, Tag.PERSONA]
