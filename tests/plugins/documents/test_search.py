from __future__ import annotations

from math import sqrt

import pytest

from agent.places import Audience
from agent.store.pool import Store
from plugins.documents.document import Viewer
from plugins.documents.viewing import operator
from tests.plugins.documents.shelf import Shelf, scope

HERE = ("general",)


def same(scores: tuple[float, float | None], cosine: float) -> bool:
    """Tell whether something was found by its meaning alone, and how near it is."""
    return scores[0] == 0.0 and scores[1] == pytest.approx(cosine, abs=1e-6)


async def test_a_rare_word_counts_more_than_a_common_one(shelf: Shelf) -> None:
    server = await shelf.server()
    await shelf.add(server, "The kraken sleeps.", *(f"The boat number {n} sleeps." for n in range(20)))
    found = await shelf.find(server, "Does the kraken sleep when a boat sleeps?")
    best = max(found, key=lambda content: found[content][0])
    assert best == "The kraken sleeps."
    assert found[best][0] > 2 * sorted(score for score, _ in found.values())[-2]


async def test_words_in_a_short_part_count_more(shelf: Shelf) -> None:
    server = await shelf.server()
    short, long = "The kraken.", "The kraken " + " ".join(f"word{n}" for n in range(120))
    await shelf.add(server, short, long)
    found = await shelf.find(server, "kraken")
    assert found[short][0] > found[long][0] > 0


async def test_languages_without_spaces_are_found(shelf: Shelf) -> None:
    server = await shelf.server()
    await shelf.add(server, "明日は京都で会いましょう。", "今日は天気がいいです。", "พรุ่งนี้เจอกันที่กรุงเทพ")
    assert set(await shelf.find(server, "天気")) == {"今日は天気がいいです。"}
    assert set(await shelf.find(server, "กรุงเทพ")) == {"พรุ่งนี้เจอกันที่กรุงเทพ"}


async def test_a_slip_and_another_ending_find_what_is_written_almost_alike(shelf: Shelf) -> None:
    server = await shelf.server()
    await shelf.add(server, "The krakens sleep.", "Raids begin.", "A whale sings.", title="x")
    assert set(await shelf.find(server, "kraekns krakkens")) == {"The krakens sleep."}
    assert set(await shelf.find(server, "when did the raid beginn")) == {"Raids begin."}
    exact = (await shelf.find(server, "krakens"))["The krakens sleep."][0]
    assert 0 < (await shelf.find(server, "kraken"))["The krakens sleep."][0] < exact
    assert await shelf.find(server, "planets") == {}
    other = await shelf.server()
    await shelf.add(other, "One kraken.", title="x")
    assert await shelf.find(other, "krakens") == {}, "the word is known: nothing else is looked for"


async def test_without_trigrams_only_the_words_themselves_are_found(shelf: Shelf) -> None:
    server = await shelf.server()
    await shelf.add(server, "The krakens sleep.", title="x")
    async with shelf.store.connection() as conn:
        await conn.execute("DROP EXTENSION pg_trgm CASCADE")
    assert await shelf.find(server, "kraken") == {}
    assert set(await shelf.find(server, "krakens")) == {"The krakens sleep."}
    assert await shelf.repository.prepare_vocabulary()
    assert set(await shelf.find(server, "kraken")) == {"The krakens sleep."}


async def test_no_word_outlives_its_document(shelf: Shelf) -> None:
    server, other = await shelf.server(), await shelf.server()
    first = await shelf.add(server, "secret kraken", "common whale", title="x")
    await shelf.add(other, "common boat", title="x")
    words = "SELECT array_agg(word ORDER BY word) FROM document_words"
    assert await shelf.value(words) == ["boat", "common", "kraken", "secret", "whale"]
    chunk = (await shelf.chunks(first))[0]
    await shelf.repository.edit_chunk(first, chunk, "hidden kraken", first.created_at)
    assert await shelf.value(words) == ["boat", "common", "kraken", "whale"]
    await shelf.repository.learn_words(first.document_id)
    assert await shelf.value(words) == ["boat", "common", "hidden", "kraken", "whale"]
    await shelf.repository.remove_chunk(chunk.chunk_id, first.created_at)
    assert await shelf.value(words) == ["boat", "common", "whale"]
    await shelf.value("DELETE FROM servers WHERE server_id = $1", server)
    assert await shelf.value(words) == ["boat", "common"]


async def test_title_and_heading_are_searched_too(shelf: Shelf) -> None:
    server = await shelf.server()
    await shelf.add(server, "Begin at eight.", title="Guild guide", heading="Raids")
    assert set(await shelf.find(server, "guild raids")) == {"Begin at eight."}


async def test_meaning_finds_what_shares_no_word(shelf: Shelf) -> None:
    server = await shelf.server()
    near = (sqrt(0.75), 0.5)
    document = await shelf.add(server, "The sea is calm.", "Nothing of interest.")
    await shelf.embed(document, near, (0.0, 1.0))
    found = await shelf.find(server, "ocean", (1.0, 0.0))
    assert same(found["The sea is calm."], near[0])
    assert same(found["Nothing of interest."], 0.0)


async def test_each_part_comes_with_both_scores_whichever_found_it(shelf: Shelf) -> None:
    server = await shelf.server()
    document = await shelf.add(server, "A kraken.", "A whale.", "A boat.")
    await shelf.embed(document, (0.0, 1.0), (1.0, 0.0), (0.6, 0.8))
    found = await shelf.find(server, "kraken", (1.0, 0.0), limit=1)
    assert found.keys() == {"A kraken.", "A whale."}
    assert found["A kraken."][0] > 0
    assert found["A kraken."][1] == pytest.approx(0.0)
    assert same(found["A whale."], 1.0)


async def test_vectors_of_another_model_are_not_compared(shelf: Shelf) -> None:
    server = await shelf.server()
    document = await shelf.add(server, "A kraken.", "A whale.")
    await shelf.embed(document, (1.0, 0.0), (1.0, 0.0), model="old")
    assert await shelf.find(server, "nothing", (1.0, 0.0), "new") == {}
    assert await shelf.vectors.count_pending("new") == 2
    await shelf.embed(document, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), model="new")
    assert await shelf.vectors.count_pending("new") == 0
    assert same((await shelf.find(server, "nothing", (1.0, 0.0, 0.0), "new"))["A kraken."], 1.0)
    assert await shelf.find(server, "nothing", (1.0, 0.0), "new") == {
        "A kraken.": (0.0, None),
        "A whale.": (0.0, None),
    }, "the same name with another length: nothing to compare, and no error"


async def test_nothing_is_found_beyond_what_a_place_admits(shelf: Shelf) -> None:
    server, other = await shelf.server(), await shelf.server()
    vector = (1.0, 0.0)
    contents = {
        "kraken everywhere": scope(server),
        "kraken of another server": scope(other),
        "kraken of another persona": scope(server, lineage_id=5),
        "kraken of this persona": scope(server, lineage_id=1),
        "kraken in raids": scope(server, channel_ids=("raids",)),
        "kraken here": scope(server, channel_ids=("raids", "general")),
        "kraken of staff": scope(server, audience=Audience.CHANNEL, source_channel_id="staff"),
        "kraken of this channel": scope(server, audience=Audience.CHANNEL, source_channel_id="general"),
    }
    for content, place in contents.items():
        await shelf.embed(await shelf.add(place, content), vector)

    async def seen(viewer: Viewer) -> set[str]:
        by_both = await shelf.find(viewer, "kraken", vector)
        assert (
            (await shelf.find(viewer, "kraken")).keys()
            == by_both.keys()
            == (await shelf.find(viewer, "…", vector)).keys()
        )
        return set(by_both)

    in_general = {"kraken everywhere", "kraken of this persona", "kraken here", "kraken of this channel"}
    assert await seen(Viewer(server, "console", 1, HERE, in_scope_only=True)) == in_general
    assert await seen(Viewer(server, "console", 1, ("a thread", "general"), in_scope_only=True)) == in_general
    assert await seen(Viewer(server, "console", 1, ("raids",), in_scope_only=True)) == {
        "kraken everywhere",
        "kraken of this persona",
        "kraken in raids",
        "kraken here",
    }
    assert await seen(Viewer(server, "console", 5, ("elsewhere",), in_scope_only=True)) == {
        "kraken everywhere",
        "kraken of another persona",
    }
    assert await seen(Viewer(server, "matrix", 1, HERE, in_scope_only=True)) == in_general - {"kraken of this channel"}
    assert await seen(operator(server, "console")) == set(contents) - {"kraken of another server"}


async def test_an_edit_during_the_embedding_wins(shelf: Shelf) -> None:
    from agent.embedding_worker import Embedded

    server = await shelf.server()
    document = await shelf.add(server, "old text", "another")
    first, second = await shelf.chunks(document)
    await shelf.repository.edit_chunk(document, first, "new text", document.created_at)
    vectors = [Embedded(first.chunk_id, 1, (1.0, 0.0)), Embedded(second.chunk_id, 1, (0.0, 1.0))]
    assert await shelf.vectors.keep("m", vectors) == 1
    assert [each.text for each in await shelf.vectors.pending("m", 0, 2**62, 9)] == ["new text"]
    await shelf.repository.remove_document(document.document_id)
    assert await shelf.vectors.keep("m", vectors) == 0


async def test_without_pgvector_words_are_searched_and_nothing_waits(shelf: Shelf, store: Store) -> None:
    server = await shelf.server()
    await shelf.add(server, "A kraken.", "A whale.")
    async with store.connection() as conn:
        await conn.execute("DROP EXTENSION vector CASCADE")
        await conn.execute("DROP TABLE document_vectors")
        await conn.execute(
            "CREATE OR REPLACE FUNCTION prepare_extension(p_name text) RETURNS boolean LANGUAGE sql AS 'SELECT false'"
        )
    assert not await shelf.repository.has_vectors()
    assert (await shelf.find(server, "kraken", (1.0, 0.0))).keys() == {"A kraken."}
    assert await shelf.vectors.pending("m", 0, 2**62, 9) == ()
    assert await shelf.vectors.count_pending("m") == 0
    document = (await shelf.repository.documents(operator(server, "console")))[0]
    chunk = (await shelf.chunks(document))[0]
    assert await shelf.repository.edit_chunk(document, chunk, "A squid.", document.created_at) == 2
