"""What is kept once and what twice, through the tool, on a real database."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from agent.identity.keys import ParticipantKind
from agent.tools import ToolResult
from plugins.memory.status import Status
from tests.plugins.memory.prompts import Prompts, add
from tests.plugins.memory.stage import BACKROOM, GENERAL, Stage, author
from tests.plugins.memory.world import about_person, save

ANA, BEN = author("Ana"), author("Ben")
VARIANTS = [
    "Game night is every Friday at 20:00",
    "game night is every friday at 20:00.",
    "Game night is every Friday at 20:00!!!",
    "Game night is every Friday at 20:00?",
    "Game night is every Friday at 20:00…",
    "Game night is every Friday at 20:00。",
    "Game night is every Friday at 20:00！",
    "Game night is every Friday at 20:00？",
    "Game night is every Friday at 20:00．",
    "Ｇａｍｅ ｎｉｇｈｔ is every Friday at ２０：００",
    "ＧＡＭＥ　ＮＩＧＨＴ　ＩＳ　ＥＶＥＲＹ　ＦＲＩＤＡＹ　ＡＴ　２０：００",
    "Game\u200b night is every Friday at 20:00",
    "Game night is every Fri\u200cday at 20:00",
    "Game night is every Fri\u200dday at 20:00",
    "\ufeffGame night is every Friday at 20:00",
    "Game night is every\u2060 Friday at 20:00\u200b.",
    "Game night is e\u00advery Friday at 20:00",
    "Game  night\nis every\tFriday at 20:00 .",
    "\u201cGame night is every Friday at 20:00.\u201d",
    "Game\u00a0night is every Friday at 20:00",
]


@pytest.mark.parametrize("target", [None, "me"])
async def test_variants_of_one_sentence_at_once_are_one_row_and_one_id(stage: Stage, target: str | None) -> None:
    assert len(VARIANTS) == len(set(VARIANTS)) == 20
    context = await stage.context(ANA)
    results = await asyncio.gather(*(stage.create(context, variant, target) for variant in VARIANTS))
    assert Counter(result.status for result in results) == {Status.SAVED: 1, Status.ALREADY_KNOWN: 19}
    table = "server_memories" if target is None else "personal_memories"
    [row] = await stage.rows(f"SELECT * FROM {table}")  # noqa: S608  # tables of ours
    key = "server_memory_id" if target is None else "personal_memory_id"
    assert {result.data["memory_id"] for result in results} == {row[key]}


@pytest.mark.parametrize("target", [None, "me"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the tea costs 1.5", "the tea costs 15"),
        ("{user} likes C#", "{user} likes C"),
        ("the cellar has -5 degrees", "the cellar has 5 degrees"),
        ("-5", "5"),
        ("１.５", "15"),
        ("C＃", "C"),
    ],
)
async def test_what_differs_in_meaning_stays_two(stage: Stage, target: str | None, one: str, other: str) -> None:
    context = await stage.context(ANA)
    results = await asyncio.gather(*(stage.create(context, content, target) for content in (one, other)))
    assert [result.status for result in results] == [Status.SAVED] * 2
    ids = [result.data["memory_id"] for result in results]
    assert len(set(ids)) == 2
    again = [await stage.create(context, content, target) for content in (one, other)]
    assert [result.status for result in again] == [Status.ALREADY_KNOWN] * 2
    assert [result.data["memory_id"] for result in again] == ids


async def test_saving_again_what_the_block_shows_adds_nothing(stage: Stage, prompts: Prompts) -> None:
    """A model that repeats what it was reminded of, names in place of placeholders, does not make its block grow."""
    context = await stage.context(ANA, BEN)
    for content in (
        "game night is Friday",
        "{user} hosts, says {bot} to <@console:ben>",
        'the "old" door\ncode is 12',
        "C# and 1.5",
    ):
        assert (await stage.create(context, content)).status == Status.SAVED
        assert (await stage.create(context, content, "me")).status == Status.SAVED
    before = await prompts.blocks(ANA, BEN)
    for _ in range(3):
        items = await prompts.items(turn := await prompts.turn(ANA, BEN))
        again = await stage.context(ANA, BEN, turn_id=turn.turn_id)
        for item in items.values():
            for entry in item.entries:
                target = "me" if entry.identity.startswith("personal") else None
                result = await stage.create(again, entry.text, target)
                assert (result.status, f"ID:{result.data.get('memory_id')} {entry.text}") == (
                    Status.ALREADY_KNOWN,
                    entry.line,
                )
    assert await prompts.blocks(ANA, BEN) == before


async def resave(stage: Stage, prompts: Prompts, content: str, target: str | None, **place: Any) -> ToolResult:
    """Save something in a turn that has been shown its block."""
    turn = await prompts.turn(ANA, BEN, **place)
    await prompts.items(turn)
    return await stage.create(await stage.context(ANA, BEN, turn_id=turn.turn_id, **place), content, target)


async def test_what_the_block_shows_of_elsewhere_is_not_doubled_here(stage: Stage, prompts: Prompts) -> None:
    """Neither another audience nor channels nor lineage 0 make a second row of what stands in the block already."""
    context = await stage.context(ANA)
    assert context.account.user_id is not None
    await stage.create(context, "game night is Friday")
    await add(stage, "only for here", channel_scope=(GENERAL.external_id,))
    await save(stage.repository, stage.store, about_person(context.account.user_id, "speaks German", lineage=0))
    cases: list[tuple[str, str | None, dict[str, Any]]] = [
        ("Game night is Friday.", None, {"channel": BACKROOM}),
        ("only for here", None, {}),
        ("speaks German", "me", {}),
    ]
    for content, target, place in cases:
        assert (await resave(stage, prompts, content, target, **place)).status == Status.ALREADY_KNOWN
    rows = "SELECT (SELECT count(*) FROM server_memories) + (SELECT count(*) FROM personal_memories) AS count"
    assert await stage.rows(rows) == [{"count": 3}]
    reinforced = await stage.rows("SELECT memory_id FROM memory_events WHERE kind = 'reinforced'")
    assert len(reinforced) == len({row["memory_id"] for row in reinforced}) == 3


async def test_what_was_shown_and_is_gone_or_changed_since_can_be_saved(stage: Stage, prompts: Prompts) -> None:
    [gone, changed] = await add(stage, "{bot} is gone", "{bot} is changed")
    turn = await prompts.turn(ANA)
    await prompts.items(turn)
    other = await stage.context(ANA, turn_id="another")
    assert (await stage.update(other, gone, "")).status == Status.DELETED
    assert (await stage.update(other, changed, "something else")).status == Status.UPDATED
    context = await stage.context(ANA, turn_id=turn.turn_id)
    for content in ("Mira is gone", "Mira is changed"):
        assert (await stage.create(context, content)).status == Status.SAVED


async def test_the_same_words_about_somebody_else_are_another_fact(stage: Stage, prompts: Prompts) -> None:
    one, other = (author(name, ParticipantKind.MATRIX_USER) for name in ("Mati", "Nora"))
    people = (ANA, one, other)
    assert (await stage.create(await stage.context(*people), "plays chess", "Mati")).status == Status.SAVED
    turn = await prompts.turn(*people)
    await prompts.items(turn)
    context = await stage.context(*people, turn_id=turn.turn_id)
    assert (await stage.create(context, "plays chess", "Nora")).status == Status.SAVED
    assert (await stage.create(context, "plays chess", "Mati")).status == Status.ALREADY_KNOWN
    assert (await stage.create(context, "plays chess", "me")).status == Status.SAVED
