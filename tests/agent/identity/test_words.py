import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.identity.words import PHRASES, phrases


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("what does Ana like?", "ana"),
        ("what does @Ana like?", "ana"),
        ("Ana's tea", "ana"),
        ("Ana\u2019s tea", "ana"),
        ('is "Ana María" here', "ana maría"),
        ("ana-maría!", "ana-maría"),
        ("(Dr. Ana)", "dr. ana"),
        ("さくらは何が好き", "さくら"),
        ("ＡＮＡ", "ana"),
        ("one two three four five", "one two three four five"),
    ],
)
def test_a_name_is_found(text: str, name: str) -> None:
    assert name in phrases(text)


@pytest.mark.parametrize(
    ("text", "name"), [("banana", "ana"), ("ana", "an"), ("a b c d e f", "a b c d e f"), ("a cat", "a"), ("", "")]
)
def test_a_part_of_a_word_is_no_name(text: str, name: str) -> None:
    assert name not in phrases(text)


@given(st.text(max_size=300))
def test_anything_may_be_searched(text: str) -> None:
    assert all(phrases(text))


@pytest.mark.parametrize("unit", ["word ", "さ", "x", "e\u0301", "\x00 "])
def test_the_work_is_bounded(unit: str) -> None:
    assert len(phrases(unit * 1_000_000)) <= PHRASES
