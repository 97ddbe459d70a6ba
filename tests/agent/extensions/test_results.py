from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agent.commands import Command, Option
from agent.contracts.cards import Card, CardKind
from agent.contracts.context import ContextEntry, ContextItem, Prompt, Role, Section, Tag
from agent.contracts.memory import MemoryWritten
from agent.contracts.people import Denial, Refusal, Speaker
from agent.contracts.recall import RecallCandidate
from agent.extensions.results import _CHECKS, BadResult, check_for
from agent.hookspecs import HOOKS, Attested, Attribution, Health, Hold, Unavailable
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.tools import Tool


class Arguments(BaseModel):
    word: str


async def run(*_: object) -> Any:
    raise NotImplementedError


TOOL = Tool("look_up", "Looks a word up.", Arguments, run)
COMMAND = Command(("words", "list"), "Lists words.", run, (Option("word", "Which."),))
ENTRY = ContextEntry("word:1", "a word", "- a word")
ITEM = ContextItem(Tag.PLACE, Role.SYSTEM, Section.PREFIX, "", (ENTRY,))
SPEAKER = Speaker(ParticipantKey(ParticipantKind.PROXY_IDENTITY, "1"), 1, "Fern")
DENIAL = Denial(Refusal.OTHER, "no")
but: Any = replace  # so that wrong types can be put in
GOOD: dict[str, list[Any]] = {
    "register_tools": [[], [TOOL], (TOOL, TOOL)],
    "register_commands": [[COMMAND]],
    "context_items": [[ITEM], ()],
    "message_deleted": [[Card(CardKind.INFO, "gone")], []],
    "recall": [[RecallCandidate("word:1", "a word", "- a word", 0.5, None)]],
    "arrange_prompt": [Prompt(()), Prompt((ITEM, ITEM))],
    "export_person": [{}, {"a": [1, 2.5, None, True, {"b": "c"}]}],
    "erase_person": [{}, {"memories": 3}],
    "move_user": [{}, {"went": 3}],
    "health": [[Health("index", "ok", "fine"), Health("index", "fail", "gone", "isthmus migrate")]],
    "resolve_speaker": [Attested(SPEAKER), Hold(datetime(2026, 1, 1, tzinfo=UTC), "a proxy"), Unavailable("no")],
    "attribute_messages": [{}, {"1": Attribution(SPEAKER, SPEAKER.key)}],
    "identities_here": [[], [Attribution(SPEAKER, SPEAKER.key)]],
    "own_identities": [[], [SPEAKER]],
    "write_memory": [MemoryWritten("saved", 1)],
    "guard_turn": [DENIAL],
    "guard_memory_read": [DENIAL],
    "guard_memory_write": [DENIAL],
    "recheck_memory_write": [DENIAL],
}
BAD: dict[str, list[Any]] = {
    "register_tools": [
        TOOL,
        "tools",
        [COMMAND],
        [but(TOOL, name=3)],
        [but(TOOL, description=None)],
        [but(TOOL, run=None)],
    ],
    "register_commands": [
        [TOOL],
        [but(COMMAND, path=())],
        [but(COMMAND, path="list")],
        [but(COMMAND, path=("words", ""))],
        [but(COMMAND, description=None)],
        [but(COMMAND, rights="manage")],
        [but(COMMAND, options=["word"])],
        [but(COMMAND, run=None)],
    ],
    "context_items": [
        ITEM,
        b"items",
        [but(ITEM, tag="PLACE")],
        [but(ITEM, role="system")],
        [but(ITEM, section="prefix")],
        [but(ITEM, text=None)],
        [but(ITEM, entries=[ENTRY])],
        [but(ITEM, entries=("word",))],
        [but(ITEM, entries=(but(ENTRY, identity=1),))],
        [but(ITEM, entries=(ENTRY, but(ENTRY, line=None)))],
    ],
    "arrange_prompt": [[ITEM], ITEM, Prompt(("item",)), Prompt((but(ITEM, role="system"),))],  # type: ignore[arg-type]
    "export_person": [[], {1: 2}, {"a": object()}, {"a": [{"b": {2: 3}}]}],
    "erase_person": [3, {"memories": "3"}, {3: 3}],
    "move_user": [3, {"went": "3"}, {3: 3}],
    "health": [
        [("index", "ok")],
        [Health("index", "good", "fine")],
        [Health("index", "warn", "slow")],
        [Health("index", "ok", None)],  # type: ignore[arg-type]
    ],
    "resolve_speaker": [SPEAKER, Attested(None), Attested(SPEAKER, 3)],  # type: ignore[arg-type]
    "attribute_messages": [[], {1: Attribution(SPEAKER, SPEAKER.key)}, {"1": SPEAKER}],
    "identities_here": [SPEAKER, [SPEAKER]],
    "own_identities": [SPEAKER, ["Wren"]],
    "write_memory": [7],
    "guard_turn": [True, False, Denial("other", "no"), Denial(Refusal.OTHER, None)],  # type: ignore[arg-type]
    "guard_memory_read": [0],
    "guard_memory_write": ["no"],
    "recheck_memory_write": [Refusal.OTHER],
    "message_deleted": [
        Card(CardKind.INFO, "gone"),
        ["gone"],
        [Card("info", "gone")],  # type: ignore[arg-type]
        [Card(CardKind.INFO, None)],  # type: ignore[arg-type]
        [Card(CardKind.INFO, "gone", lines=["a"])],  # type: ignore[arg-type]
        [Card(CardKind.INFO, "gone", audience="server")],  # type: ignore[arg-type]
    ],
    "start": [object()],
    "turn_finished": [()],
}


def test_every_hook_has_a_check() -> None:
    assert _CHECKS.keys() == HOOKS.keys()


@pytest.mark.parametrize("hook", HOOKS)
def test_none_always_says_nothing(hook: str) -> None:
    assert check_for(hook, "plugin")(None) is None


@pytest.mark.parametrize(("hook", "result"), [(hook, result) for hook, results in GOOD.items() for result in results])
def test_what_a_hook_asks_passes(hook: str, result: Any) -> None:
    checked = check_for(hook, "plugin")(result)
    if hook in {"register_tools", "register_commands"}:
        assert checked == tuple(replace(thing, owner="plugin") for thing in result)
    elif isinstance(result, list):
        assert checked == tuple(result)
    else:
        assert checked == result


@pytest.mark.parametrize(("hook", "result"), [(hook, result) for hook, results in BAD.items() for result in results])
def test_junk_is_refused(hook: str, result: Any) -> None:
    with pytest.raises(BadResult):
        check_for(hook, "plugin")(result)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.just(object()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner),
)


@given(st.sampled_from(sorted(HOOKS)), junk)
def test_any_junk_is_refused_calmly(hook: str, result: Any) -> None:
    try:
        checked = check_for(hook, "plugin")(result)
    except BadResult as error:
        assert "\n" not in str(error)  # noqa: PT017 - what it says, when it is raised
    else:
        # Only what is empty, or what is JSON in its own right, is nobody's junk.
        assert not checked or hook in {"export_person", "erase_person", "move_user"}


def test_a_value_that_holds_itself_is_refused() -> None:
    around: dict[str, Any] = {}
    around["again"] = [around]
    with pytest.raises(BadResult, match="deeper than 50 levels"):
        check_for("export_person", "plugin")(around)
