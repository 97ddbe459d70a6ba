import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.identity.handles import IN_TEXT, Named, assign_handles, base_handle, explicit_handle
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.names import normalise


def people(*names: str) -> list[Named]:
    return [
        Named(number, ParticipantKey(ParticipantKind.DISCORD_USER, str(number)), name)
        for number, name in enumerate(names, start=1)
    ]


@pytest.mark.parametrize(
    ("label", "handle"),
    [
        ("Ana", "ana"),
        ("Ana María", "ana_maría"),
        ("{user}", "user"),
        ("@ana~2", "ana2"),
        ("a{b}c", "abc"),
        ("<@42>", "42"),
        ("🦊 fox", "🦊_fox"),
        ("...", ""),
        ("x" * 80, "x" * 32),
    ],
)
def test_base_handle(label: str, handle: str) -> None:
    assert base_handle(label) == handle


def test_twins_are_numbered_by_account() -> None:
    ana, ben, twin = people("Ana", "Ben", "ANA")
    assert assign_handles([ana, ben, twin]) == ("ana", "ben", "ana~2")
    assert assign_handles([twin, ben, ana]) == ("ana~2", "ben", "ana")


def test_words_with_a_meaning_are_numbered() -> None:
    assert assign_handles(people("me", "User", "bot", "everyone", "Here")) == (
        "me~2",
        "user~2",
        "bot~2",
        "everyone~2",
        "here~2",
    )
    assert assign_handles(people("Mirri"), ["Mirri"]) == ("mirri~2",)


def test_who_shows_no_name_is_named_by_id() -> None:
    assert assign_handles(people("\u200b", "...")) == ("user_1", "user_2")


@given(st.lists(st.text(max_size=40), max_size=12), st.randoms())
def test_handles_are_unique_safe_and_independent_of_the_order(names: list[str], random: st.DataObject) -> None:
    named = people(*names)
    handles = assign_handles(named)
    assert len(set(handles)) == len(handles)
    shuffled = sorted(named, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert dict(zip(shuffled, assign_handles(shuffled), strict=True)) == dict(zip(named, handles, strict=True))
    for handle in handles:
        assert normalise(handle) == handle
        assert explicit_handle(f"@{{{handle}}}") == handle
        match = IN_TEXT.search(f"hello @{{{handle}}}!")
        assert match is not None
        assert match[1] == handle


@pytest.mark.parametrize(
    ("text", "handle"),
    [
        ("@{ana}", "ana"),
        (" @{Ana~2} ", "ana~2"),
        ("ana~2", "ana~2"),
        ("@ana~2", "ana~2"),
        ("ana", None),
        ("@ana", None),
        ("ana~0", None),
        ("ana~", None),
        ("a b~2", None),
        ("@{a b}", None),
        ("@{}", None),
        ("{user}", None),
    ],
)
def test_explicit_handle(text: str, handle: str | None) -> None:
    assert explicit_handle(text) == handle
