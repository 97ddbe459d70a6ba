from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.search_words import LONGEST_WORD, MOST_TERMS, MOST_WORDS, any_of, fold, quoted, terms, words, words_to_keep
from agent.store.pool import Store


def test_writing_differences_fold() -> None:
    assert list(words("Café ÉCOLE Straße")) == ["cafe", "ecole", "strasse"]
    assert list(words("ｆｕｌｌ　ｗｉｄｔｈ ｶﾞ")) == ["full", "width", "ガ"]
    assert list(words("Йод")) == list(words("йод"))


def test_a_script_without_spaces_is_found_by_any_word_within() -> None:
    kept = words_to_keep("今日は天気がいい", "สวัสดีชาวโลก")
    assert set(words("天気")) <= set(kept)
    assert set(words("ชาว")) <= set(kept)
    assert not set(words("電車")) & set(kept)
    assert list(words("C言語 2024年")) == ["c", "言語", "2024", "年"]


def test_programming_languages_are_words() -> None:
    assert list(words("C++, C# and C; Ana's 1+1")) == ["c++", "c#", "and", "c", "ana", "s", "1", "1"]


def test_marks_that_are_part_of_a_word_stay() -> None:
    assert list(words("हिन्दी शब्द")) == ["हिन्दी", "शब्द"]


def test_a_question_asks_for_what_tells_something() -> None:
    assert terms("Is it a red boat? A BOAT!", {"red"}) == ["boat"]
    assert terms("Was ist das für ein Boot?") == ["boot"]
    assert terms("is it") == ["is", "it"], "at least one word is looked for"
    assert terms("red is it", {"red"}) == ["red"]
    assert terms("v 2 c++") == ["2", "c++"]
    assert terms("a") == ["a"]
    assert terms("猫") == ["猫"]
    assert terms("…") == []
    assert len(terms(" ".join(f"word{number}" for number in range(100)))) == MOST_TERMS


def test_what_is_kept_is_bounded() -> None:
    assert max(map(len, words_to_keep("x" * 5_000))) == LONGEST_WORD
    assert len(words_to_keep(" ".join(map(str, range(2 * MOST_WORDS))))) == MOST_WORDS


@given(st.text())
def test_folding_again_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_the_words_of_words_are_themselves(text: str) -> None:
    for word in words(text):
        assert word
        assert list(words(word)) == [word]


@given(st.text())
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    assert set(terms(text)) <= set(words_to_keep(text))


def test_a_word_is_quoted_for_a_query() -> None:
    assert quoted("it's \\ so") == "'it''s \\\\ so'"


async def test_postgresql_takes_every_word(store: Store) -> None:
    text = "Café C++ C# don't 1.5 言語 สวัสดี हिन्दी 한국어 '\\' :* & | ! <->"
    kept = words_to_keep(text)
    async with store.connection() as conn:
        for word in kept:
            query = "SELECT array_to_tsvector($1::text[]) @@ $2::text::tsquery"
            assert await conn.fetchval(query, kept, any_of([word, "other"]))
            assert not await conn.fetchval(query, ["other"], any_of([word]))
        hostile = ["it's \\ so", "a' | 'b", "x:*"]
        assert await conn.fetchval(
            "SELECT array_to_tsvector($1::text[]) @@ $2::text::tsquery", hostile[:1], quoted(hostile[0])
        )
        assert not await conn.fetchval(
            "SELECT array_to_tsvector($1::text[]) @@ $2::text::tsquery", ["b"], quoted(hostile[1])
        )
