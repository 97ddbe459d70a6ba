import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.identity.affixes import peelings

AFFIXES = ("master", "-chan", "San", "さん")


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("master Ana", ("ana",)),
        ("Master, Ana", ("ana",)),
        ("Ana-chan", ("ana",)),
        ("ana chan", ("ana",)),
        ("master ana-san", ("master ana", "ana-san", "ana")),
        ("アナさん", ("アナ",)),
        ("(Ana)", ("Ana",)),
        ("((Ana))", ("(Ana)", "Ana")),
        ("(master Ana)", ("master Ana", "ana")),
        ("master <@4>", ("<@4>",)),
        ("Ana", ()),
        ("Susan", ()),
        ("masterful", ()),
        ("master", ()),
        ("", ()),
        ("()", ()),
        ("<@4>", ()),
        ("[<@4>]", ("<@4>",)),
        ("<#4>", ()),
    ],
)
def test_what_is_left(name: str, left: tuple[str, ...]) -> None:
    assert peelings(name, AFFIXES) == left


def test_without_affixes_only_brackets_are_peeled() -> None:
    assert peelings("master (Ana)") == ()
    assert peelings("“Ana”") == ("Ana",)


@given(st.text(max_size=80), st.lists(st.text(max_size=5), max_size=4))
def test_what_is_left_is_shorter_and_not_much(name: str, affixes: list[str]) -> None:
    left = peelings(name, affixes)
    assert len(left) < 80
    assert all(each.strip() for each in left)
