from __future__ import annotations

from collections.abc import Sequence

import pytest

from agent.search_words import quoted, terms, words_to_keep
from agent.similar_words import WordIndex, with_alike
from agent.store.pool import Store
from benchmarks.recall_form import Conversation, Question, Turn
from benchmarks.recall_methods import Bm25, Lexical, Method, Server, embed, methods

TALK = Conversation(
    turns=(
        Turn(id="1", speaker="Anna", text="the boat leaves at nine, the blue boat"),
        Turn(id="2", speaker="Anna Berg", text="i keep my kettle in the boat"),
        Turn(id="3", speaker="Ben", text="Anna has a goat now"),
        Turn(id="4", speaker="Ben", text=" "),
        Turn(id="5", speaker="Anna Berg", text="that goat ate the sails"),
    ),
    questions=(
        Question(text="what has Anna Berg got in the boat?", evidence=("2",), about="Anna Berg"),
        Question(text="does Anna have a goat?", evidence=("3",), about="Anna"),
    ),
)
# plugins/memory/search.sql, for rows that are about nobody.
SEARCH = """
WITH hits AS (
    SELECT term.word, term.likeness, r.row_id, length(r.words) AS length
      FROM unnest($1::text[], $2::real[]) AS term (word, likeness) JOIN kept r ON r.words @@ term.word::tsquery
), weights AS (
    SELECT word, likeness * ln(1 + (SELECT count(*) FROM kept)::real / count(*)) AS weight
      FROM hits GROUP BY word, likeness
)
SELECT row_id, sum(weight * 2.2 / (1.3 + 0.9 * length / 100.0))::float8 AS score
  FROM hits JOIN weights USING (word) GROUP BY row_id
"""


class Letters:
    """An embedder whose vectors count letters."""

    name, dimension, threshold = "letters", 26, 0.5

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        assert all(text.strip() for text in texts)
        counts = [[float(text.casefold().count(chr(97 + number))) for number in range(26)] for text in texts]
        return [[each / (sum(n * n for n in row) ** 0.5 or 1.0) for each in row] for row in counts]

    async def close(self) -> None: ...


def test_a_row_is_by_its_speaker_and_about_whom_it_names() -> None:
    server = Server([TALK])
    assert server.people[:3] == [{"0/Anna"}, {"0/Anna Berg"}, {"0/Ben", "0/Anna"}]
    assert [asked.said.keys for asked in server.asked] == [{"0/Anna Berg"}, {"0/Anna"}]
    assert server.places == [{1}, {2}]


def test_people_of_two_conversations_are_never_one() -> None:
    server = Server([TALK, TALK])
    assert server.people[0].isdisjoint(server.people[5])
    assert server.places[2:] == [{6}, {7}]


async def test_bm25_prefers_rare_words_and_short_turns() -> None:
    server = Server([TALK])
    assert list(await Bm25([turn.text for turn in TALK.turns]).find(server.asked[1])) == [2, 4]


async def test_ours_keeps_twins_apart() -> None:
    ways = await methods(Server([TALK]), Letters())
    assert list(ways) == ["bm25", "bm25_with_names", "vector", "vector_with_names", "ours"]
    server = Server([TALK])
    assert set((await ways["ours"].find(server.asked[0]))[:2]) == {1, 4}, "hers, and nothing of Anna's"
    assert (await ways["ours"].find(server.asked[1]))[0] == 2


async def test_without_an_embedder_words_alone_are_compared() -> None:
    ways: dict[str, Method] = await methods(Server([TALK]), None)
    assert list(ways) == ["bm25", "bm25_with_names", "ours"]
    assert (await ways["ours"].find(Server([TALK]).asked[0]))[0] == 1


async def test_blank_turns_have_no_vector() -> None:
    vectors = await embed(Letters(), ["a", " ", "b"])
    assert [vector is None for vector in vectors] == [False, True, False]


@pytest.mark.parametrize(
    "question", ["what is in the boat?", "the goat's sails", "a sailing boat", "nothing of it", ""]
)
async def test_the_lexical_score_is_what_postgresql_gives(store: Store, question: str) -> None:
    texts = [turn.text for turn in TALK.turns]
    async with store.transaction() as conn:
        await conn.execute("CREATE TEMP TABLE kept (row_id int, words tsvector) ON COMMIT DROP")
        await conn.executemany(
            "INSERT INTO kept VALUES ($1, array_to_tsvector($2::text[]))",
            [(row_id, words_to_keep(text)) for row_id, text in enumerate(texts)],
        )
        asked = with_alike(terms(question), [WordIndex(word for text in texts for word in words_to_keep(text))])
        rows = await conn.fetch(SEARCH, [quoted(term) for term in asked], list(asked.values()))
    given = {row["row_id"]: row["score"] for row in rows}
    assert Lexical(texts).scores(question) == pytest.approx(given, rel=1e-6)
