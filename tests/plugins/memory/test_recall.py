"""Dormant memories: withheld, called back, reinforced; and their vectors."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agent.contracts.people import PrivacyLevel
from agent.contracts.recall import RecallQuery
from agent.embedding_worker import ENDLESS, Embedded
from agent.places import Audience
from agent.turn.values import Turn
from plugins.memory.recall import memory_ids
from plugins.memory.search import MemoryVectors, Retrieval, text_of
from tests.plugins.memory.embedder import WordEmbedder
from tests.plugins.memory.prompts import Prompts, add
from tests.plugins.memory.stage import BACKROOM, Stage, author
from tests.plugins.memory.world import DAY, source

ANA, BEN = author("Ana"), author("Ben")


async def said(prompts: Prompts, text: str, **more: Any) -> Turn:
    turn = await prompts.turn(ANA, BEN, **more)
    return replace(turn, event=replace(turn.event, text=text))


@pytest.fixture
def recalling(stage: Stage) -> Stage:
    stage.embedder = WordEmbedder()
    return stage


async def test_what_sleeps_is_withheld_and_called_back(recalling: Stage, prompts: Prompts) -> None:
    (tea,) = await add(recalling, "Ana drinks tea in the morning")
    recalling.clock.advance(20 * DAY)
    (game,) = await add(recalling, "game night is every Friday")
    await recalling.embed()
    heading = "## Mira's Memories about home"
    shown = [f"ID:{tea} Ana drinks tea in the morning", f"ID:{game} game night is every Friday"]
    assert await prompts.server(ANA) == "\n".join((heading, *shown))
    recalling.clock.advance(11 * DAY)
    assert await prompts.server(ANA) == "\n".join((heading, shown[1]))
    turn = await said(prompts, "which tea shall I buy?")
    await prompts.items(turn)
    assert prompts.queries <= 2
    assert await prompts.called_back(turn) == [shown[0]]
    await prompts.recall.reinforce(turn, [f"server_memory:{tea}", "document_chunk:1"])
    assert recalling.announced.owners == [f"server:{turn.place.server.server_id}"]
    assert f"ID:{tea} " in await prompts.server(ANA)


async def test_nothing_is_withheld_without_a_model(stage: Stage, prompts: Prompts) -> None:
    stage.embedder = WordEmbedder()
    await add(stage, "Ana drinks tea")
    await stage.embed()
    stage.clock.advance(60 * DAY)
    assert await prompts.server(ANA) == ""
    stage.embedder = None
    assert "Ana drinks tea" in await prompts.server(ANA)


async def test_nothing_is_withheld_by_another_model_or_without_decay(recalling: Stage, prompts: Prompts) -> None:
    await add(recalling, "Ana drinks tea")
    assert "tea" in await prompts.server(ANA)
    recalling.clock.advance(60 * DAY)
    assert "tea" in await prompts.server(ANA), "what has no vector yet stays, however old"
    await recalling.embed()
    assert await prompts.server(ANA) == ""
    recalling.embedder = WordEmbedder(name="another")
    assert "tea" in await prompts.server(ANA)
    recalling.embedder = WordEmbedder()
    recalling.configure(decay={"enabled": False})
    assert "tea" in await prompts.server(ANA)


async def test_without_pgvector_nothing_is_withheld(stage: Stage, prompts: Prompts) -> None:
    stage.embedder = WordEmbedder()
    await add(stage, "Ana drinks tea")
    async with stage.store.connection() as conn:
        await conn.execute("DROP TABLE memory_embeddings")
        await conn.execute("DROP EXTENSION IF EXISTS vector CASCADE")
        await conn.execute(
            "CREATE OR REPLACE FUNCTION prepare_extension(p_name text) RETURNS boolean "
            "LANGUAGE sql AS 'SELECT EXISTS (SELECT FROM pg_extension WHERE extname = p_name)'"
        )
    stage.clock.advance(60 * DAY)
    assert not await stage.can_recall()
    assert "tea" in await prompts.server(ANA)
    turn = await said(prompts, "tea")
    await prompts.items(turn)
    assert await prompts.called_back(turn) == []
    vectors = MemoryVectors(stage.store, stage.search)
    assert (await vectors.pending("words", 0, ENDLESS, 10), await vectors.count_pending("words")) == ((), 0)
    async with stage.store.connection() as conn:
        await conn.execute("CREATE EXTENSION vector")
    assert await stage.can_recall(), "it is taken up without a restart"
    await stage.embed()
    assert await prompts.server(ANA) == ""


async def test_people_of_a_memory_and_its_words(recalling: Stage, prompts: Prompts) -> None:
    context = await recalling.context(ANA, BEN)
    result = await recalling.create(context, "{user} drinks tea", "Ben")
    ids = [result.data["memory_id"]]
    ids += await add(recalling, "Ben's boat is called Wave")
    await recalling.embed()
    turn = await said(prompts, "what does Ben drink?")
    await prompts.items(turn)
    found = {
        each.identity: each
        for each in await prompts.recall.candidates(turn, RecallQuery("what does Ben drink?", named=frozenset()))
    }
    people = {person.label: person for person in context.participants}
    ben, ana = people["Ben"], people["Ana"]
    personal = found[f"personal_memory:{ids[0]}"]
    assert personal.people == {
        f"account:{ana.account.account_id}",
        f"user:{ana.account.user_id}",
        f"account:{ben.account.account_id}",
        f"user:{ben.account.user_id}",
    }
    assert personal.lexical > 0, "the name of whom it is about is searched"
    assert (personal.text, personal.line) == ("Ben drinks tea", f"ID:{ids[0]} Ben drinks tea")
    assert personal.cosine is None, "there was no vector to compare with"
    boat = f"server_memory:{ids[1]}"
    assert found[boat].lexical > 0
    await prompts.items(turn)
    keys = frozenset({f"user:{ben.account.user_id}"})
    candidates = await prompts.recall.candidates(turn, RecallQuery("what does Ben drink?", named=keys))
    assert next(each for each in candidates if each.identity == boat).people > keys, "its text names him"
    assert await prompts.recall.candidates(turn, RecallQuery("Ben")) == (), "a turn is searched once"


async def test_only_what_passed_the_filters_is_called_back(recalling: Stage, prompts: Prompts) -> None:
    where = source(channel_external_id=BACKROOM.external_id)
    await add(recalling, "the tea of the backroom", audience=Audience.CHANNEL, source=where)
    await add(recalling, "tea of another lineage", lineage=2)
    await add(recalling, "tea for one channel", channel_scope=("console:elsewhere",))
    _, ben = await recalling.enter(BEN)
    await add(recalling, "Ben hides his tea", subject_account_id=ben.account_id)
    await recalling.create(await recalling.context(BEN), "drinks tea", "me")
    await recalling.set_privacy(BEN, PrivacyLevel.FULL)
    (known,) = await add(recalling, "tea is in the kitchen")
    await recalling.embed()
    turn = await said(prompts, "where is the tea")
    await prompts.items(turn)
    assert await prompts.called_back(turn) == [f"ID:{known} tea is in the kitchen"]
    impersonating = await said(prompts, "where is the tea", changes={"impersonating": ben})
    await prompts.items(impersonating)
    assert await prompts.called_back(impersonating) == []


async def test_what_was_edited_or_removed_meanwhile_is_not_called_back(recalling: Stage, prompts: Prompts) -> None:
    first, second = await add(recalling, "tea is in the kitchen", "tea is green")
    context = await recalling.context(ANA)
    turn = await said(prompts, "tea")
    await prompts.items(turn)
    await recalling.update(context, first, "coffee is in the kitchen")
    await recalling.update(context, second, "")
    assert await prompts.called_back(turn) == []


async def test_the_vector_follows_its_memory(recalling: Stage) -> None:
    first, second = await add(recalling, "tea", "coffee")
    vectors = MemoryVectors(recalling.store, recalling.search)
    assert [each.row_id for each in await vectors.pending("words", 0, ENDLESS, 10)] == [second, first]
    assert [each.row_id for each in await vectors.pending("words", first, ENDLESS, 10)] == [second]
    assert [each.row_id for each in await vectors.pending("words", 0, second, 10)] == [first]
    assert await vectors.count_pending("words") == 2
    await recalling.embed()
    assert await vectors.count_pending("words") == 0
    assert await vectors.count_pending("another") == 2
    context = await recalling.context(ANA)
    await recalling.update(context, first, "green tea")
    assert recalling.woken == [first]
    (waiting,) = await vectors.pending("words", 0, ENDLESS, 10)
    assert (waiting.row_id, waiting.version, waiting.text) == (first, 2, "green tea")
    stale = Embedded(first, 1, [1.0, 0.0])
    assert await vectors.keep("words", [stale]) == 0
    await recalling.update(context, second, "")
    assert await recalling.rows("SELECT memory_id FROM memory_embeddings") == []
    await recalling.embed()
    assert await vectors.keep("another", [Embedded(first, 2, [1.0, 0.0])]) == 1
    assert await recalling.rows("SELECT model FROM memory_embeddings") == [{"model": "another"}]


async def test_what_may_not_be_shown_is_not_sent_to_a_model(recalling: Stage) -> None:
    context = await recalling.context(BEN)
    await recalling.create(context, "drinks tea", "me")
    await add(recalling, "Ben hides his tea", subject_account_id=context.account.account_id)
    (public,) = await add(recalling, "tea is in the kitchen")
    vectors = MemoryVectors(recalling.store, recalling.search)
    assert await vectors.count_pending("words") == 3
    await recalling.set_privacy(BEN, PrivacyLevel.PARTIAL)
    assert [each.row_id for each in await vectors.pending("words", 0, ENDLESS, 10)] == [public]
    assert await vectors.count_pending("words") == 1
    await recalling.set_privacy(BEN, PrivacyLevel.NONE)
    assert await vectors.count_pending("words") == 3


async def test_a_row_that_is_being_changed_is_waited_for(recalling: Stage) -> None:
    first, second = await add(recalling, "tea", "coffee")
    vectors = MemoryVectors(recalling.store, recalling.search)
    embedded = [Embedded(one, 1, [1.0, 0.0]) for one in (first, second)]
    async with recalling.store.transaction() as conn:
        await conn.execute("UPDATE server_memories SET tags = '{x}' WHERE server_memory_id = $1", first)
        keeping = asyncio.create_task(vectors.keep("words", embedded))
        await asyncio.sleep(0.1)
        assert not keeping.done()
        kept = await conn.fetch("SELECT memory_id FROM memory_embeddings")
        assert [row["memory_id"] for row in kept] == [second]
    assert await keeping == 2


async def test_an_erasure_takes_the_vectors_along(recalling: Stage) -> None:
    context = await recalling.context(ANA)
    await recalling.create(context, "drinks tea", "me")
    await recalling.embed()
    async with recalling.store.transaction() as conn:
        await recalling.repository.erase(conn, context.account.account_id, context.account.user_id, context.now)
    assert await recalling.rows("SELECT FROM memory_embeddings") == []


async def test_reinforcement_is_noted_and_never_goes_back(recalling: Stage, prompts: Prompts) -> None:
    (tea,) = await add(recalling, "tea")
    result = await recalling.create(await recalling.context(ANA), "drinks tea", "me")
    personal = result.data["memory_id"]
    turn = await prompts.turn(ANA)
    await prompts.recall.reinforce(turn, [f"personal_memory:{personal}", f"server_memory:{tea}"])
    earlier = replace(turn, now=turn.now - timedelta(hours=1))
    await prompts.recall.reinforce(earlier, [f"server_memory:{tea}"])
    rows = await recalling.rows("SELECT last_reinforced_at, version FROM server_memories")
    assert rows == [{"last_reinforced_at": turn.now, "version": 1}]
    events = await recalling.rows("SELECT memory_id, source_turn_id FROM memory_events WHERE kind = 'reinforced'")
    assert [(row["memory_id"], row["source_turn_id"]) for row in events] == [
        (tea, turn.turn_id),
        (personal, turn.turn_id),
        (tea, turn.turn_id),
    ]
    await prompts.recall.reinforce(turn, ["server_memory:999999", "document_chunk:3"])


async def test_words_that_were_never_cut_are_cut_later(recalling: Stage, prompts: Prompts) -> None:
    (tea,) = await add(recalling, "Grüner Tee")
    async with recalling.store.connection() as conn:
        await conn.execute("UPDATE server_memories SET words = NULL")
    assert [await recalling.search.cut_words(), await recalling.search.cut_words()] == [1, 0]
    turn = await said(prompts, "gruner")
    await prompts.items(turn)
    assert await prompts.called_back(turn) == [f"ID:{tea} Grüner Tee"]


async def test_retrieval_needs_a_model(stage: Stage) -> None:
    assert await Retrieval(stage.search, None).model() is None
    assert await Retrieval(stage.search, WordEmbedder()).model() == "words"


def test_what_is_embedded_names_people() -> None:
    assert text_of("{user} drinks tea", "Ana", "Ben") == "Ana, Ben: Ana drinks tea"
    assert text_of("{user} drinks tea", "", "") == "User drinks tea"
    assert text_of("tea", "Ana", "Ana") == "Ana: tea"


def test_identities_of_memories() -> None:
    assert memory_ids(["server_memory:3", "document_chunk:2", "personal_memory:1"]) == [1, 3]


async def words_found(prompts: Prompts, question: str) -> list[str]:
    """Return what is found by words alone, the best first."""
    turn = await said(prompts, question)
    await prompts.items(turn)
    found = await prompts.recall.candidates(turn, RecallQuery(question, named=frozenset()))
    fitting = sorted((each for each in found if each.lexical > 0), key=lambda each: -each.lexical)
    return [each.text for each in fitting]


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("釣りはどこですか", "土曜日は湖で釣りをする"),
        ("誰在喝咖啡", "小明每天早上喝咖啡"),
        ("แมวชื่ออะไร", "เลี้ยงแมวสีดำหนึ่งตัว"),
        ("낚시는 언제야", "토요일에 낚시는 호수에서 한다"),
    ],
)
async def test_languages_without_spaces_are_found_by_words(
    recalling: Stage, prompts: Prompts, question: str, memory: str
) -> None:
    await add(recalling, memory, "game night is every Friday", "会議は来週です", "他们是我们的朋友")
    assert await words_found(prompts, question) == [memory]


@pytest.mark.parametrize("question", ["where is the tellescope?", "who has telescopes?", "my telescop"])
async def test_a_slip_or_another_ending_still_finds(recalling: Stage, prompts: Prompts, question: str) -> None:
    await add(recalling, "the telescope stands in the attic", "television is boring", "game night is every Friday")
    assert (await words_found(prompts, question))[:1] == ["the telescope stands in the attic"]


async def test_what_was_asked_for_counts_more_than_what_resembles_it(recalling: Stage, prompts: Prompts) -> None:
    await add(recalling, "the sailor meets", "the sailors meet")
    assert await words_found(prompts, "sailors") == ["the sailors meet", "the sailor meets"]
    assert await words_found(prompts, "saint") == []


async def test_an_edit_is_found_by_its_new_words(recalling: Stage, prompts: Prompts) -> None:
    (memory_id,) = await add(recalling, "the telescope is sold")
    assert await words_found(prompts, "telescopes")
    await recalling.update(await recalling.context(ANA), memory_id, "the kettle is sold")
    assert await words_found(prompts, "telescopes") == []
    assert await words_found(prompts, "kettles")
