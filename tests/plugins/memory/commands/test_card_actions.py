"""What the buttons of a card do, by whoever presses them: each runs a command, from an id that holds ids only."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from agent.commands import CommandReply
from agent.contracts.cards import ActionKind, Card, CardAction
from agent.contracts.memory import MemoryScope
from agent.places import Audience
from agent.steps import LIMIT, read_step, step_id, step_of
from plugins.memory.card_actions import actions_of_saved
from tests.plugins.memory.commands.people import ANA, BEN, Counter, learned
from tests.plugins.memory.stage import BACKROOM, Stage

LONG = "game night is every Friday, and everybody brings something to eat"


def action(card: Card, kind: ActionKind) -> CardAction:
    return next(each for each in card.actions if each.kind is kind)


async def press(counter: Counter, pressed: CardAction, **call: Any) -> CommandReply:
    """Press a button as a bridge has it after a restart: from its id alone."""
    identifier = step_id(step_of(pressed))
    assert identifier is not None
    command, options = read_step(identifier, counter.commands.values())
    assert command.private
    given: dict[str, Any] = {**options, "text": "another text"} if pressed.kind is ActionKind.EDIT else {**options}
    return await counter.run(" ".join(command.path), **call, **given)


async def saved(stage: Stage, text: str = LONG, target: str | None = None, **place: Any) -> Card:
    before = len(stage.effects.cards)
    await learned(stage, text, target, **place)
    return stage.effects.cards[before]


def kinds(card: Card) -> list[str]:
    return [each.kind.value for each in card.actions]


async def test_a_card_offers_what_can_be_done_with_it(stage: Stage) -> None:
    assert kinds(await saved(stage)) == ["undo", "edit", "expand"]
    assert kinds(await saved(stage, "likes tea", "me", channel=BACKROOM)) == ["undo", "edit", "widen", "expand"]


@pytest.mark.parametrize("target", [None, "me"])
@pytest.mark.parametrize("forgotten", [None, 2**63 - 2])
def test_every_id_fits_and_holds_no_text(target: str | None, forgotten: int | None) -> None:
    scope = MemoryScope.SERVER if target is None else MemoryScope.PERSONAL
    for each in actions_of_saved(scope, 2**63 - 1, Audience.CHANNEL, "de", forgotten_id=forgotten):
        identifier = step_id(step_of(each))
        assert identifier is not None
        assert len(identifier) <= LIMIT
        assert all(str(value).isdecimal() for value in each.options.values())


EVERY = set(ActionKind)
SERVER_RIGHTS = [
    (ANA, False, EVERY - {ActionKind.WIDEN}),  # its author
    (ANA, True, EVERY),
    (BEN, False, set[ActionKind]()),
    (BEN, True, EVERY),
]


@pytest.mark.parametrize(("who", "manages", "may"), SERVER_RIGHTS)
@pytest.mark.parametrize("kind", ActionKind)
async def test_who_may_press_what_on_the_card_of_a_server_memory(
    stage: Stage, counter: Counter, *, kind: ActionKind, who: Any, manages: bool, may: set[ActionKind]
) -> None:
    pressed = action(await saved(stage, channel=BACKROOM), kind)
    reply = await press(counter, pressed, who=who, manages=manages, place={"channel": BACKROOM})
    assert reply.ok is (kind in may), reply.text


@pytest.mark.parametrize("kind", [ActionKind.EXPAND, ActionKind.WIDEN, ActionKind.UNDO])
async def test_a_personal_card_is_for_its_person_alone(stage: Stage, counter: Counter, kind: ActionKind) -> None:
    card = await saved(stage, "likes tea", "me", channel=BACKROOM)
    pressed, place = action(card, kind), {"channel": BACKROOM}
    refused = await press(counter, pressed, who=BEN, manages=True, place=place)
    assert (refused.ok, "likes tea" in refused.text, refused.file) == (False, False, None)
    assert (await press(counter, pressed, who=ANA, manages=False, place=place)).ok


async def test_a_form_to_edit_holds_what_the_memory_says_now(stage: Stage, counter: Counter) -> None:
    card = await saved(stage, "{user} likes tea", "me")
    edit = action(card, ActionKind.EDIT)
    option = next(each for each in counter.commands[edit.path].options if each.name == "text")
    assert (option.long, option.prefill is None) == (True, False)
    given: dict[str, Any] = dict(edit.options)
    await counter.run("personal memories edit", **given, text="{user} likes coffee")
    assert option.prefill is not None
    call = await counter.invocation("personal memories edit", **given)
    assert await option.prefill(call) == "{user} likes coffee"
    assert (await counter.run("personal memories edit", **given, text="{user} likes water")).ok


@pytest.mark.parametrize("kind", [ActionKind.WIDEN, ActionKind.UNDO])
async def test_a_stale_card_changes_nothing(stage: Stage, counter: Counter, kind: ActionKind) -> None:
    card = await saved(stage, channel=BACKROOM)
    place = {"channel": BACKROOM}
    assert card.memory_id is not None
    assert (await counter.run("memories edit", place=place, id=card.memory_id, text="something else")).ok
    counter = Counter(stage)  # a restart: nobody has seen anything
    before = await counter.row(card.memory_id)
    refused = await press(counter, action(card, kind), place=place)
    assert (refused.ok, "Somebody has changed memory" in refused.text) == (False, True)
    assert await counter.row(card.memory_id) == before


async def test_what_is_gone_is_answered_calmly(stage: Stage, counter: Counter) -> None:
    card = await saved(stage, channel=BACKROOM)
    assert (await press(counter, action(card, ActionKind.UNDO), place={"channel": BACKROOM})).ok
    stage.clock.advance(timedelta(days=2))
    for each in card.actions:
        reply = await press(counter, each, place={"channel": BACKROOM})
        assert (reply.ok, "There is no memory" in reply.text) == (False, True), each


async def test_undo_of_an_eviction_brings_the_old_one_back_and_takes_the_new_one(stage: Stage) -> None:
    stage.configure(max_server_memories=1)
    stage.allow_eviction()
    counter = Counter(stage)
    old = await learned(stage, "old", who=BEN)
    stage.clock.advance(timedelta(days=31))
    card = await saved(stage, "new")
    undo = action(card, ActionKind.UNDO)
    reply = await press(counter, undo, who=ANA, manages=False)  # whose save has cost it its place
    assert reply.ok, reply.text
    assert (await counter.row(old))["content"] == "old"
    assert await stage.rows("SELECT server_memory_id FROM server_memories") == [{"server_memory_id": old}]
    assert not (await press(counter, undo)).ok


async def test_nobody_brings_back_what_their_own_save_did_not_cost_its_place(stage: Stage, counter: Counter) -> None:
    removed = await learned(stage, "removed by a manager", who=BEN)
    assert (await counter.run("memories remove", who=BEN, ids=str(removed))).ok
    own = await learned(stage, "a fact")
    refused = await counter.run("memories undo", manages=False, id=removed, instead=own, version=1)
    assert not refused.ok
    assert (await counter.row(own))["content"] == "a fact"


async def test_the_whole_text_comes_from_what_is_kept_now(stage: Stage, counter: Counter) -> None:
    card = await saved(stage)
    expand = action(card, ActionKind.EXPAND)
    reply = await press(counter, expand)
    assert reply.file is not None
    assert (reply.private, reply.file.name, reply.file.content.decode()) == (True, "notice.txt", LONG)
    assert card.memory_id is not None
    await counter.run("memories remove", ids=str(card.memory_id))
    gone = await press(counter, expand)
    assert gone.file is not None
    assert gone.file.content.decode() == f"- {LONG}"
    stage.clock.advance(timedelta(days=2))
    assert not (await press(counter, expand)).ok


async def test_both_texts_of_an_eviction_are_shown(stage: Stage) -> None:
    stage.configure(max_server_memories=1)
    stage.allow_eviction()
    await learned(stage, "old")
    stage.clock.advance(timedelta(days=31))
    card = await saved(stage, "new")
    reply = await press(Counter(stage), action(card, ActionKind.EXPAND))
    assert reply.file is not None
    assert reply.file.content.decode() == "new\n\n- old"
