import json
import time
from typing import Any

import pytest

from agent.events import Attachment
from bridges.matrix.rules.content import (
    Said,
    labelled,
    mentioned_in,
    profile_name,
    said_in,
    with_pills,
    without_quotation,
)

MESSAGE = "m.room.message"


def text_of(body: str, *, is_reply: bool = False, **content: Any) -> str:
    return said_in(MESSAGE, {"msgtype": "m.text", "body": body, **content}, "Ana", is_reply=is_reply).text


@pytest.mark.parametrize(
    ("body", "stripped"),
    [
        ("> <@ana:a.org> first\n> second\n\nanswer", "answer"),
        ("> * <@ana:a.org> waves\n\nanswer\n> my own", "answer\n> my own"),
        ("> a quotation of my own\n\nanswer", "> a quotation of my own\n\nanswer"),
        ("> <b> no id\nanswer", "> <b> no id\nanswer"),
        ("> <@ana:a.org> nothing more", ""),
        ("answer", "answer"),
    ],
)
def test_only_a_client_s_quotation_is_taken_off(body: str, stripped: str) -> None:
    assert without_quotation(body) == stripped
    assert text_of(body, is_reply=True) == stripped
    assert text_of(body) == body, "what answers nothing has no quotation to take off"


@pytest.mark.parametrize(
    ("body", "formatted", "expected"),
    [
        ("Ana: hi", '<a href="https://matrix.to/#/@ana:a.org">Ana</a>: hi', "<@@ana:a.org>: hi"),
        ("Ana and Ana", 'Ana and <a href="https://matrix.to/#/@ana:a.org">Ana</a>', "<@@ana:a.org> and Ana"),
        ("A & B", "<a class='x' href='https://matrix.to/#/%40ana:a.org?via=a'>A &amp; B</a>", "<@@ana:a.org>"),
        ("[Ana](https://matrix.to/#/@ana:a.org) hi", "", "<@@ana:a.org> hi"),
        ("Ana", '<a href="https://evil.org/#/@ana:a.org">Ana</a>', "Ana"),
        ("#room", '<a href="https://matrix.to/#/!room:a.org">#room</a>', "#room"),
        ("nobody", '<a href="https://matrix.to/#/@ana:a.org">Ana</a>', "nobody"),
        ("x", '<a href="https://matrix.to/#/@ana:a.org"></a>', "x"),
    ],
)
def test_links_to_people_become_mentions(body: str, formatted: str, expected: str) -> None:
    assert with_pills(body, formatted) == expected.replace("<@@", "<@@")


@pytest.mark.parametrize(
    ("content", "mentioned"),
    [
        ({"m.mentions": {"user_ids": ["@ana:a.org", "@ana:a.org", 7]}}, ("@ana:a.org",)),
        ({"m.mentions": {}, "body": "@ana:a.org"}, ()),
        ({"m.mentions": {"room": True}}, ()),
        ({"body": "hey @ana:a.org."}, ("@ana:a.org",)),
        ({"body": "Ana", "formatted_body": '<a href="https://matrix.to/#/%40ana:a.org">Ana</a>'}, ("@ana:a.org",)),
        ({"m.mentions": "everybody", "body": "nobody"}, ()),
    ],
)
def test_who_is_mentioned(content: dict[str, Any], mentioned: tuple[str, ...]) -> None:
    assert mentioned_in(content, content.get("body", "")) == mentioned


def test_a_profile_never_hides_the_account() -> None:
    profile: dict[str, Any] = {
        "com.beeper.per_message_profile": {"id": "1", "displayname": "Ben", "has_fallback": True}
    }
    assert profile_name(profile) == "Ben"
    assert labelled("Eve", "Ben", "@eve:a.org") == "Ben (via @eve:a.org)"
    assert labelled("Eve", "", "@eve:a.org") == "Eve"
    assert text_of("Ben: hello", **profile) == "hello"
    assert text_of("Ben: hello") == "Ben: hello"
    assert profile_name({"com.beeper.per_message_profile": ["Ben"]}) == ""


def test_files_with_and_without_a_caption() -> None:
    plain = {"msgtype": "m.image", "body": "cat.png", "url": "mxc://a/b", "info": {"mimetype": "image/png", "size": 7}}
    file = Attachment("cat.png", "image/png", 7, "mxc://a/b")
    assert said_in(MESSAGE, plain, "", is_reply=False) == Said("", (file,))
    captioned = {**plain, "body": "look at this", "filename": "cat.png"}
    assert said_in(MESSAGE, captioned, "", is_reply=False) == Said("look at this", (file,))
    encrypted = {"msgtype": "m.file", "body": "../x", "file": {"url": "mxc://a/b"}, "info": {"size": -1}}
    (found,) = said_in(MESSAGE, encrypted, "", is_reply=False).attachments
    assert (found.name, found.size, json.loads(found.url)) == (".._x", 0, {"url": "mxc://a/b"})
    assert said_in(MESSAGE, {"msgtype": "m.file"}, "", is_reply=False).attachments[0].name == "file"


def test_emotes_polls_stickers_and_places() -> None:
    assert text_of("waves", msgtype="m.emote") == "* Ana waves"
    old = {
        "org.matrix.msc3381.poll.start": {
            "question": {"org.matrix.msc1767.text": "Tea?"},
            "answers": [{"id": "1", "org.matrix.msc1767.text": "yes"}, {"id": "2", "m.text": [{"body": "no"}]}, 7],
        }
    }
    assert said_in("org.matrix.msc3381.poll.start", old, "", is_reply=False).extras == ("poll: Tea?\n- yes\n- no\n- ",)
    new = {"m.poll": {"question": {"m.text": [{"body": "Tea?"}]}, "answers": "none"}}
    assert said_in("m.poll.start", new, "", is_reply=False).extras == ("poll: Tea?",)
    assert said_in("m.sticker", {"body": "a cat"}, "", is_reply=False).extras == ("sticker: a cat",)
    where = {"msgtype": "m.location", "body": "here", "geo_uri": "geo:1,2"}
    assert said_in(MESSAGE, where, "", is_reply=False).extras == ("location: here (geo:1,2)",)


@pytest.mark.parametrize("content", [{}, {"body": 7}, {"body": None, "msgtype": []}, {"msgtype": "m.text", "body": {}}])
def test_what_holds_nothing_says_nothing(content: dict[str, Any]) -> None:
    assert said_in(MESSAGE, content, "Ana", is_reply=True) == Said()


_PILLED = '<a href="https://matrix.to/#/@a:b">'


@pytest.mark.parametrize(
    "piece",
    ["<a ", "<a href=", _PILLED, "[", "[x](https://matrix.to/#/@a:b", "](", "@a:", "@", "> ", "<@a", "\n>", "%40a:b "],
)
def test_no_text_keeps_the_agent_busy(piece: str) -> None:
    long = piece * (60_000 // len(piece))
    begun = time.process_time()
    said_in(MESSAGE, {"msgtype": "m.text", "body": long, "formatted_body": long}, "Ana", is_reply=True)
    mentioned_in({"body": long, "formatted_body": long}, long)
    assert time.process_time() - begun < 0.25  # quadratic effort takes many seconds
