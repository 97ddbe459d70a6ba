import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.names import (
    LABEL_LIMIT,
    NAME_LIMIT,
    are_twins,
    fallback_label,
    label,
    normalise,
    place_name,
    skeleton,
    skeletons,
)

KEY = ParticipantKey(ParticipantKind.DISCORD_USER, "123456789012345678")

AWKWARD = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.sampled_from("@ \t\n\u3000\u200b\u200d\ufe0f\u202e\u17b4\u17b5\u2800\u0345\u0307\ud800\u1100\u1161"),
        st.sampled_from("ſẛİßﬀﷺϓͅᾳ한"),
    )
)


@pytest.mark.parametrize(
    ("name", "normalised"),
    [
        ("Ana", "ana"),
        ("  Ana   María ", "ana maría"),
        ("Ａｎａ", "ana"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("a\u0301na", "ána"),
        ("@ana", "ana"),
        ("@ @@ ana", "ana"),
        ("＠ana", "ana"),
        ("an\u200ba", "ana"),
        ("an\u00ada", "ana"),
        ("\u202eana\u202c", "ana"),
        ("ana\u17b4\u17b5\ufe0f", "ana"),
        ("ana\nmaría\tb", "ana maría b"),
        ("ana\x00\x1b", "ana"),
        ("ana\ud800", "ana"),
        ("\u200b\u2060", ""),
        ("\u3164", ""),
        ("\u2800", ""),
        ("", ""),
        ("@", ""),
        ("🦊", "🦊"),
        ("Аna", "аna"),  # the first letter is Cyrillic: another name
    ],
)
def test_normalise(name: str, normalised: str) -> None:
    assert normalise(name) == normalised


@given(AWKWARD)
def test_normalising_twice_changes_nothing(name: str) -> None:
    once = normalise(name)
    assert normalise(once) == once
    assert len(once) <= NAME_LIMIT


@given(AWKWARD)
def test_case_and_edges_do_not_matter(name: str) -> None:
    assert normalise(f"  @{name} ") == normalise(normalise(name))


def test_a_huge_name_is_cut() -> None:
    assert len(normalise("x" * 1_000_000)) == NAME_LIMIT
    assert len(normalise("e" + "\u0301" * 10_000)) <= NAME_LIMIT


@given(AWKWARD)
def test_a_label_shows_something_in_one_line(name: str) -> None:
    shown = label(name, KEY)
    assert 0 < len(shown) <= LABEL_LIMIT
    assert normalise(shown)
    assert len(shown.splitlines()) == 1
    assert not set(shown) & set("\x00\n\r\u2028\u202e\u2066\u200b\U000e0041")
    shown.encode()
    assert label(shown, KEY) == shown


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ana", "Ana"),
        (" Ana\nMaría ", "Ana María"),
        ("\u202eevil\u202c", "evil"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("", "user 123456789012345678"),
        ("\u200b", "user 123456789012345678"),
        ("@", "user 123456789012345678"),
        ("x" * 65, "x" * 63 + "…"),
        ("hi\U000e0068\U000e0069", "hi"),
    ],
)
def test_label(name: str, shown: str) -> None:
    assert label(name, KEY) == shown


@pytest.mark.parametrize(
    ("kind", "identifier", "shown"),
    [
        (ParticipantKind.DISCORD_USER, "42", "user 42"),
        (ParticipantKind.MATRIX_USER, "@ana:example.org", "@ana:example.org"),
        (ParticipantKind.PROXY_IDENTITY, "abcde", "identity abcde"),
        (ParticipantKind.WEBHOOK, "7", "webhook 7"),
        (ParticipantKind.CONSOLE_USER, "ana", "user ana"),
    ],
)
def test_fallback_label(kind: ParticipantKind, identifier: str, shown: str) -> None:
    assert fallback_label(ParticipantKey(kind, identifier)) == shown


def test_place_name() -> None:
    assert place_name(" My\nServer ", "1") == "My Server"
    assert place_name("\u200b", "home") == "home"
    assert len(place_name("x" * 1000, "home")) == 128


TWINS = [
    ("paypal", "pаypal"),  # Latin and Cyrillic
    ("Ben", "Вen"),  # alike as a capital only
    ("ben", "Вen"),
    ("Ivan", "lvan"),
    ("IVAN", "ivаn"),
    ("B0b", "BOb"),
    ("maria", "rnaria"),
    ("Nora", "Νοra"),  # Greek
    ("Ｎora", "Νora"),
    ("ana", "an\u0430\u200b"),
    ("ılker", "ilker"),
    ("scope", "ѕсоре"),  # Cyrillic altogether
]


@pytest.mark.parametrize(("one", "other"), TWINS)
def test_names_that_look_alike_share_a_skeleton(one: str, other: str) -> None:
    assert are_twins(one, other)
    assert are_twins(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ana", "Anna"), ("Ana", "Ená"), ("Ana", "Aná"), ("Eva", "Ena"), ("Вера", "Bepa2"), ("Ольга", "Olga"), ("a", "ä")],
)
def test_other_names_share_none(one: str, other: str) -> None:
    assert not are_twins(one, other)


@given(st.text(max_size=300))
def test_a_name_has_the_skeleton_of_its_normalised_form(name: str) -> None:
    assert skeleton(name) == skeleton(normalise(name))
    assert skeleton(name) in skeletons(name)
    assert are_twins(name, normalise(name))


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=40))
def test_the_short_way_for_ascii_leaves_nothing_out(name: str) -> None:
    assert skeletons(name) == skeletons(f"{name}\u200b")
