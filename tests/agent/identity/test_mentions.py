import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.people import Participant, PrivacyLevel
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.mentions import (
    Labels,
    Outgoing,
    convert_mentions,
    give_form,
    harmless,
    has_mentions,
    mentions_in,
    people_in,
    place_mentions,
    readable,
)
from tests.agent.identity.builders import account, participants

ANA, BEN, TWIN = account(1, "Ana"), account(2, "Ben {user} <@1>"), account(3, "Ana")
HIDDEN = account(5, "Zoe", privacy=PrivacyLevel.FULL)
MAT = account(6, "Mat", external_id="@mat:example.org", kind=ParticipantKind.MATRIX_USER, user=None)
PRESENT = participants(ANA, BEN, TWIN, HIDDEN, MAT)
LABELS = Labels(Labels.of(PRESENT).people, {"70": "Mods"}, {"80": "general"})


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("hi <@1>!", "hi @Ana!"),
        ("hi <@!1>!", "hi @Ana!"),
        ("<@77>", "@someone"),
        ("<@5>", "@someone"),
        ("<@2>", "@Ben {user} <@1>"),
        ("<@&70> and <@&71>", "@Mods and @role"),
        ("see <#80> or <#81>", "see #general or #channel"),
        ("@mat:example.org: hello", "@Mat: hello"),
        ("<@@mat:example.org>", "@Mat"),
        ("ask @mat:example.org.", "ask @Mat."),
        ("@nobody:example.org", "@someone"),
        ("https://matrix.to/#/@mat:example.org", "@Mat"),
        ("mail ana@b.org:80", "mail ana@b.org:80"),
        ("{user} likes {bot}", "Kim {bot} likes Mirri {user}"),
        ("{USER} {users} {{user}}", "{USER} {users} {Kim {bot}}"),
        ("@ana @everyone", "@ana @everyone"),
        ("<@> <@ 1> < @1>", "<@> <@ 1> < @1>"),
        ("", ""),
    ],
)
def test_convert_mentions(text: str, readable: str) -> None:
    assert convert_mentions(text, LABELS, user="Kim {bot}", bot="Mirri {user}") == readable


def test_in_what_somebody_said_braces_stay() -> None:
    assert readable("{user}, {bot}: <@1>, <@5>", LABELS) == "{user}, {bot}: @Ana, @someone"


def test_a_mention_of_a_twin_can_stay_one() -> None:
    assert readable("<@1> <@3> <@5>", Labels.by_handle(PRESENT)) == "@{ana} @{ana~2} @someone"


def test_a_user_who_is_not_known_is_somebody() -> None:
    assert convert_mentions("{user} likes tea", LABELS, user=None, bot="Mirri") == "someone likes tea"


@pytest.mark.parametrize(
    ("text", "posted", "mentioned"),
    [
        ("hi @{ana}", "hi <@1>", ("1",)),
        ("hi @{Ana~2}, @{ana}, @{ana}", "hi <@3>, <@1>, <@1>", ("3", "1")),
        ("hi @{mat}", "hi <@@mat:example.org>", ("@mat:example.org",)),
        ("hi @{nobody}", "hi @nobody", ()),
        ("hi @{zoe}", "hi @zoe", ()),
        ("hi @ana", "hi @ana", ()),
        ("@{everyone} @{here}", "@\u200beveryone @\u200bhere", ()),
        ("@everyone @Here @room @hereafter", "@\u200beveryone @\u200bHere @\u200broom @\u200bhereafter", ()),
        ("<@1> <@!1> <@&70> <#80>", "<\u200b@1> <\u200b@!1> <\u200b@&70> <#80>", ()),
        ("@{a=1}", "@{a=1}", ()),
        ("@{ana", "@{ana", ()),
        ("<@{ana}>", "<<@1>>", ("1",)),
        ("<@@{zoe}1> @{every}one", "<\u200b@@zoe1> @\u200beveryone", ()),
        ("a\x00b", "ab", ()),
        ("", "", ()),
    ],
)
def test_place_mentions(text: str, posted: str, mentioned: tuple[str, ...]) -> None:
    outgoing = place_mentions(text, PRESENT)
    assert (outgoing.text, tuple(key.id for key in outgoing.mentions)) == (posted, mentioned)


def test_a_handle_that_two_own_is_plain_text() -> None:
    first, second = participants(ANA)[0], participants(BEN)[0]
    doubled = Participant(first.handle, second.label, second.account, second.speaker)
    assert place_mentions("@{ana}", (first, doubled)) == Outgoing("@ana")


@given(
    st.lists(
        st.sampled_from(
            ["@{ana}", "@{zoe}", "@{every}", "<@1>", "<@", "1>", "@", "everyone", "one", "ana", " ", "<", ">"]
        )
    )
)
def test_only_what_is_listed_can_ping(parts: list[str]) -> None:
    outgoing = place_mentions("".join(parts), PRESENT)
    assert outgoing.mentions == ((ANA.key,) if "@{ana}" in "".join(parts) else ())
    assert outgoing.text.count("<@1>") == "".join(parts).count("@{ana}")
    rest = outgoing.text.replace("<@1>", "|")
    assert "@everyone" not in rest
    assert harmless(rest) == rest


def test_mentions_of_one_part() -> None:
    keys = place_mentions("@{ana} @{mat}", PRESENT).mentions
    assert mentions_in("hello <@1>", keys) == (keys[0],)
    assert mentions_in("<@@mat:example.org>", keys) == (keys[1],)
    assert mentions_in("hello", keys) == ()


def test_a_bridge_gives_mentions_its_own_form() -> None:
    key = ParticipantKey(ParticipantKind.DISCORD_USER, "1")
    assert give_form("<@1> and <@2>", (key,), lambda one: f"[{one.kind}]") == "[discord_user] and <@2>"


def test_who_is_mentioned_in_a_text() -> None:
    text = "<@1> <@!2> @mat:example.org https://matrix.to/#/@zoe:example.org <@&70> <#80> {user} <@1> ana@b.org"
    assert people_in(text) == ("1", "2", "@mat:example.org", "@zoe:example.org")
    assert people_in("nobody") == ()


@pytest.mark.parametrize("text", ["<@1>", "<#1>", "<@&1>", "a {bot} b", "@a:b"])
def test_a_text_has_mentions(text: str) -> None:
    assert has_mentions(text)


@pytest.mark.parametrize("text", ["", "@everyone", "{char}", "mail ana@b.org", "<@ 1>", "1 < 2"])
def test_a_text_has_none(text: str) -> None:
    assert not has_mentions(text)
