import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.places import ChannelRef, ServerKind, ServerRef, Visibility
from agent.terminal import (
    MAX_NAME,
    NameRefused,
    Whereabouts,
    channel_name,
    id_of,
    person_name,
    server_name,
    shown_place,
    system_user,
)


def test_the_defaults_are_those_of_the_documentation() -> None:
    where = Whereabouts("Ana")
    assert where.server_ref == ServerRef("console", "home", "home")
    assert where.channel_ref == ChannelRef("home/general", "general")
    assert where.author == Author(ParticipantKind.CONSOLE_USER, "ana", "Ana", "ana", can_manage=True)


def test_channels_of_two_servers_never_share_an_id() -> None:
    assert Whereabouts("ana").channel_ref != Whereabouts("ana").in_server("work").channel_ref


def test_a_thread_hangs_below_its_channel() -> None:
    where = Whereabouts("ana").in_channel("#Random").in_thread("Plans")
    assert where.channel_ref == ChannelRef(
        "home/random/plans", "Plans", parent_external_id="home/random", parent_name="Random"
    )
    assert str(where) == "home #Random > Plans"
    assert where.in_thread(None).channel_ref == ChannelRef("home/random", "Random")


def test_a_direct_conversation_is_a_server_of_its_own() -> None:
    where = Whereabouts("Ana").in_direct()
    assert where.server_ref == ServerRef("console", "@ana", "@Ana", ServerKind.DIRECT)
    assert where.channel_ref == ChannelRef("@ana", "@Ana", Visibility.DIRECT)
    assert str(where) == "@Ana"
    assert where.spoken_by("ben").server_ref.external_id == "@ben"
    assert where.in_channel("general").server_ref.external_id == "home"


def test_another_server_begins_in_its_default_channel() -> None:
    where = Whereabouts("ana").in_channel("random").in_thread("plans").in_server("work")
    assert shown_place(where.server_ref, where.channel_ref) == "work #general"


def test_letter_case_width_and_spaces_make_no_other_person() -> None:
    assert id_of("  Ana   Maria ") == id_of("ana maria") == id_of("ＡＮＡ maria")


@pytest.mark.parametrize("name", ["", "  ", "\x00\x1b", "x" * (MAX_NAME + 1)])
def test_names_that_nobody_can_have(name: str) -> None:
    with pytest.raises(NameRefused):
        person_name(name)


@pytest.mark.parametrize("name", ["a/b", "@ana", ""])
def test_names_that_no_place_can_have(name: str) -> None:
    with pytest.raises(NameRefused):
        server_name(name)
    with pytest.raises(NameRefused):
        channel_name(name)


@given(st.text())
def test_a_name_is_one_line_without_control_characters(text: str) -> None:
    try:
        name = person_name(text)
    except NameRefused:
        return
    assert name == name.strip()
    assert not {"\n", "\r", "\x1b", "\x00", "\u2028"} & set(name)
    assert id_of(name) == id_of(id_of(name))


def test_the_user_of_the_system_speaks_by_default() -> None:
    assert system_user({"LOGNAME": "ana"}) == "ana"
    assert system_user({"USER": "x" * 200}) == "you"
    assert system_user({})
