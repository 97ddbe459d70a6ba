"""Who said a message: every condition alone is enough to make it nobody's."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.events import Attachment, Reply
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import ChannelRef
from plugins.message_proxy.rules import (
    answered_in,
    fitting,
    is_command,
    is_live,
    may_have_posted,
    merged,
    settle,
    without_content,
)
from plugins.message_proxy.values import Claim, Failed, Miss, Outcome, Service
from tests.plugins.message_proxy.builders import (
    HOST,
    WREN,
    expecting,
    found,
    instance,
    reposted,
    said,
)

KIT = instance(1)
BUDDY = instance(2, Service.PLURALBUDDY)


def test_what_fits_in_everything_is_attested() -> None:
    claim = fitting(KIT, found(), reposted(), [expecting()])
    assert claim is not None
    assert claim.member == WREN
    assert claim.expectation == expecting()


@pytest.mark.parametrize(
    "wrong",
    [
        {"message_id": "201"},  # the command of an edit leads to the edited message
        {"message_id": "100"},
        {"original_id": "101"},
        {"original_id": None},
        {"sender_id": "501"},
        {"channel_id": "11"},
        {"member": None},
        {"system_key": None},
    ],
)
def test_an_answer_that_is_wrong_in_one_thing_attests_nothing(wrong: dict[str, Any]) -> None:
    assert fitting(KIT, replace(found(), **wrong), reposted(), [expecting()]) is None


@pytest.mark.parametrize(
    "expectations",
    [
        [],
        [expecting(number=2)],  # of another instance
        [expecting(said(after=-30))],  # said long before
        [expecting(said(after=30))],
        [expecting(said(channel=ChannelRef("11", "other")))],
        [expecting(said(platform="fluxer"))],
    ],
)
def test_without_a_live_expectation_nothing_is_attested(expectations: list[Any]) -> None:
    assert fitting(KIT, found(), reposted(), expectations) is None


def test_a_name_proves_nothing() -> None:
    same_name = reposted("300")
    assert fitting(KIT, found(), same_name, [expecting()]) is None


def test_a_service_that_does_not_name_the_original_needs_exactly_one() -> None:
    first, second = expecting(said("100"), 2), expecting(said("101"), 2)
    answer = found(original_id=None)
    assert fitting(BUDDY, answer, reposted(), [first]) is not None
    assert fitting(BUDDY, answer, reposted(), [first, second]) is None


@pytest.mark.parametrize(
    ("lookups", "outcome"),
    [
        ({}, Outcome.UNMATCHED),
        ({KIT: Miss()}, Outcome.UNMATCHED),
        ({KIT: Failed("late")}, Outcome.UNAVAILABLE),
        ({KIT: Miss(), BUDDY: Failed("late")}, Outcome.UNAVAILABLE),
        ({KIT: found(), BUDDY: Failed("late")}, Outcome.UNAVAILABLE),
        ({KIT: found(), BUDDY: found()}, Outcome.CONFLICTING),
        ({KIT: found(), BUDDY: found(sender_id="9")}, Outcome.CONFLICTING),
        ({KIT: found(sender_id="9")}, Outcome.UNMATCHED),
    ],
)
def test_only_one_clear_word_counts(lookups: dict[Any, Any], outcome: Outcome) -> None:
    assert settle(lookups, reposted(), [expecting()]) is outcome


def test_a_miss_beside_a_claim_is_no_contradiction() -> None:
    assert isinstance(settle({KIT: found(), BUDDY: Miss()}, reposted(), [expecting()]), Claim)


LOOKUPS = st.sampled_from([Miss(), Failed("late"), Failed("again", 0.1), found(), found(sender_id="9")])


@given(st.dictionaries(st.sampled_from([KIT, BUDDY, instance(3)]), LOOKUPS))
def test_nobody_is_attested_while_anything_is_unknown_or_contradicts(lookups: dict[Any, Any]) -> None:
    settled = settle(lookups, reposted(), [expecting(), expecting(number=2), expecting(number=3)])
    kinds = [type(each).__name__ for each in lookups.values()]
    if isinstance(settled, Claim):
        assert kinds.count("Found") == 1
        assert "Failed" not in kinds
    else:
        assert settled not in {Outcome.MATCHED_IDENTITY, Outcome.MATCHED_TRIGGER}


@given(st.floats(-60, 60))
def test_a_repost_is_as_near_before_as_behind_its_original(after: float) -> None:
    assert is_live(expecting(said()), reposted(after=after)) == (abs(round(after, 6)) <= 10)


@pytest.mark.parametrize(
    ("application", "expected"),
    [
        ("1", [1]),
        ("7", [3]),  # learned
        ("9", [3, 4]),  # nobody's: any whose application is not certain
        (None, [3, 4]),
    ],
)
def test_which_instances_may_have_posted(application: str | None, expected: list[int]) -> None:
    instances = [
        instance(1, application_id="1"),
        instance(2, application_id="2"),
        instance(3, learned="7"),
        instance(4),
    ]
    assert [each.instance_id for each in may_have_posted(application, instances)] == expected


@pytest.mark.parametrize("text", ["pk;reproxy wren", " PK!edit new", "<@466> edit"])
def test_orders_to_a_service_are_no_utterances(text: str) -> None:
    assert is_command(text, ("pk;", "pk!", "<@466>"))
    assert not is_command("I like pk; and so on", ("pk;", "pk!", "<@466>"))


def test_a_repost_keeps_its_words_and_gets_what_its_original_was_an_answer_to() -> None:
    reply = Reply("50", to_agent=True, persona_id=3, text="what I said")
    ana = ParticipantKey(ParticipantKind.DISCORD_USER, "8")
    original = said(text="w:hello", reply=reply, mentions_agent=True, mentions=(ana,))
    result = merged(reposted(text="hello"), original)
    assert (result.text, result.message_id, result.webhook_id) == ("hello", "200", "77")
    assert (result.author, result.reply, result.mentions, result.mentions_agent) == (HOST, reply, (ana,), True)
    assert merged(result, original) == result


def test_the_embed_that_stands_for_a_reply_goes_and_others_stay() -> None:
    link = "https://discord.com/channels/1/10/50"
    shown = f"embed: Ana\u2004\u21a9\ufe0f\n**[Reply to:]({link})** what I said, see https://discord.com/channels/9/9/9"
    other = "embed: Ana \u21a9\ufe0f\n**[Reply to:](https://discord.com/channels/2/10/50)** elsewhere"
    text = f"poll: {link}"
    repost = reposted(extras=(shown, other, text))
    assert merged(repost, said(reply=Reply("50"))).extras == (other, text)
    assert merged(repost, said(reply=Reply("51"))).extras == (shown, other, text)
    assert merged(repost, said()).extras == (shown, other, text)


SHOWN = "embed: Ana\u2004\u21a9\ufe0f\n**[Reply to:](https://discord.com/channels/1/10/50)** hi"
PICTURED = "embed: Ana\u2004\u21a9\ufe0f\n*[(click to see attachment)](https://discord.com/channels/1/10/50)*"
SERVICE = instance(1, application_id="7")


@pytest.mark.parametrize("shown", [SHOWN, SHOWN + " see https://discord.com/channels/1/10/51", PICTURED])
def test_what_a_repost_answers_is_read_from_the_embed_of_its_service(shown: str) -> None:
    said_by_service = reposted(extras=("poll: x", shown), application_id="7")
    assert answered_in(said_by_service, SERVICE) == "50"
    assert answered_in(said_by_service, instance(1, learned="7")) == "50"


@pytest.mark.parametrize(
    "fields",
    [
        {"application_id": "8"},
        {"application_id": None},
        {"webhook_id": None},
        {"extras": ("embed: other", SHOWN)},
        {"extras": (SHOWN.replace("/1/10/", "/2/10/"),)},
        {"extras": (SHOWN.replace("/1/10/", "/1/11/"),)},
        {"extras": (SHOWN.replace("\u2004", " "),)},
        {"extras": (SHOWN.replace("\n", "\nhttps://example.org/made-of-a-link\n", 1),)},
        {"extras": (SHOWN.replace("**[", "look https://discord.com/channels/9/9/9 **["),)},
        {"extras": (SHOWN.replace("embed: ", "forwarded: embed: "),)},
        {"extras": ()},
    ],
)
def test_no_other_embed_makes_an_answer_of_a_message(fields: dict[str, Any]) -> None:
    forged = replace(reposted(extras=(SHOWN,), application_id="7"), **fields)
    assert answered_in(forged, SERVICE) is None
    assert answered_in(forged, instance(1)) is None


def test_nothing_that_was_said_is_kept_of_an_original() -> None:
    reply = Reply("50", text="what somebody said")
    file = Attachment("a.png", "image/png", 3)
    kept = without_content(said(text="secret", reply=reply, attachments=(file,), extras=("embed: secret",)))
    assert "secret" not in repr(kept)
    assert "what somebody said" not in repr(kept)
    assert kept.reply is not None
    assert not kept.attachments
