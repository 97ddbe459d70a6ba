import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.bridge import OutgoingMessage
from agent.contracts.cards import ActionKind, Card, CardAction, CardKind
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import ChannelRef, ServerRef
from bridges.matrix.rules.markup import formatted
from bridges.matrix.rules.outgoing import LARGEST, Typing, content_of, edit_of, notice_of, relation, transaction_of

ANA = ParticipantKey(ParticipantKind.MATRIX_USER, "@ana:a.org")
TYPING = Typing("!", frozenset({"memories", "privacy"}))
ALLOWED = {
    "p", "br", "strong", "em", "del", "s", "code", "pre", "a", "ul", "ol", "li", "blockquote", "hr",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


def message(
    text: str, *mentions: ParticipantKey, card: Card | None = None, persona: str | None = None
) -> OutgoingMessage:
    return OutgoingMessage(
        "key", "matrix", ChannelRef("!r", "r"), ServerRef("matrix", "!r", "r"), text,
        mentions=mentions, card=card, persona_name=persona,
    )  # fmt: skip


class Tags(HTMLParser):
    """What a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            assert name in {"href", "class", "start", "title", "style"}, name
            if name == "href":
                self.links.append(value or "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", None),
        ('he said "yes" & left', None),
        ("**bold** _it_ ~~no~~", "<strong>bold</strong> <em>it</em> <s>no</s>"),
        ("<b>raw</b> **x**", "&lt;b&gt;raw&lt;/b&gt; <strong>x</strong>"),
        ("[x](javascript:alert(1)) *y*", "[x](javascript:alert(1)) <em>y</em>"),
        ("[x](https://a.org)", '<a href="https://a.org">x</a>'),
        ("![x](https://a.org/p.png)", '!<a href="https://a.org/p.png">x</a>'),
        ("two\nlines `c`", "two<br />\nlines <code>c</code>"),
    ],
)
def test_markdown(text: str, shown: str | None) -> None:
    assert formatted(text, (), str) == shown


@given(st.text(alphabet=st.sampled_from(list("<>&\"'`*_~[]()!#\n -1:/ab@\ue000\ue001=\\j")), max_size=200))
def test_no_text_makes_html_that_markdown_cannot(text: str) -> None:
    shown = formatted(text, (ANA,), lambda _: "<b>Ana</b>")
    if shown is None:
        return
    tags = Tags()
    tags.feed(shown)
    assert set(tags.tags) <= ALLOWED
    assert all(link.lower().startswith(("http", "mailto:", "ftp:", "magnet:")) for link in tags.links)


def test_a_mention_is_a_link_and_a_ping() -> None:
    content = content_of(message("<@@ana:a.org>, **look** <@@ben:a.org>", ANA), lambda _: "Ana <3", TYPING)
    assert content["body"] == "@ana:a.org, **look** <@@ben:a.org>"
    assert content["formatted_body"].startswith('<a href="https://matrix.to/#/@ana:a.org">Ana &lt;3</a>, <strong>')
    assert content["m.mentions"] == {"user_ids": ["@ana:a.org"]}
    assert content_of(message("hi"), str, TYPING)["m.mentions"] == {}


@pytest.mark.parametrize("letter", ['"', "&", "<", "\n", "é", "😀", "\x07"])
def test_the_longest_message_fits_into_an_event(letter: str) -> None:
    text = letter * (16_000 // len(letter.encode()))
    content = content_of(message(text), str, TYPING)
    for each in (content, edit_of(content, "$" + "x" * 43), notice_of(text)):
        assert len(json.dumps(each, ensure_ascii=False).encode()) <= LARGEST + 1_000


def test_a_card_is_a_notice_whose_texts_are_no_markup() -> None:
    undo = CardAction(ActionKind.UNDO, "Undo", ("memories", "undo"), {"id": 7}, "/memories undo 7")
    card = Card(CardKind.SAVED, "Saved <b>", ("**tea** & cake",), 7, "Ana", "old <i>", actions=(undo,))
    content = content_of(message("", card=card), str, TYPING)
    assert content["msgtype"] == "m.notice"
    assert content["m.mentions"] == {}
    assert content["body"].splitlines() == [
        "Saved <b>", "**tea** & cake", "- old <i>", "Ana · ID 7", "Undo: !memories undo 7",
    ]  # fmt: skip
    assert (
        "<strong>Saved &lt;b&gt;</strong><br>**tea** &amp; cake<br><del>old &lt;i&gt;</del>"
        in content["formatted_body"]
    )


def test_a_persona_speaks_under_a_profile_with_its_name_before_the_text() -> None:
    content = content_of(message("hello *you*", persona="Mirri"), str, TYPING)
    assert content["com.beeper.per_message_profile"]["displayname"] == "Mirri"
    assert content["body"] == "Mirri: hello *you*"
    assert content["formatted_body"] == "<strong data-mx-profile-fallback>Mirri: </strong>hello <em>you</em>"


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("/memories undo 7", "!memories undo 7"),
        ("To change it: /privacy set none.", "To change it: !privacy set none."),
        ("`/privacy show` or (/memories list)", "`!privacy show` or (!memories list)"),
        ("https://a.org/memories and a/privacy and /etc", "https://a.org/memories and a/privacy and /etc"),
    ],
)
def test_commands_are_told_as_they_are_typed_here(text: str, typed: str) -> None:
    assert TYPING.of(text) == typed


def test_relations_of_what_is_sent() -> None:
    assert relation("", None) is None
    assert relation("", "$a") == {"m.in_reply_to": {"event_id": "$a"}}
    fallback = {"rel_type": "m.thread", "event_id": "$r", "is_falling_back": True, "m.in_reply_to": {"event_id": "$r"}}
    assert relation("$r", None) == fallback
    assert relation("$r", "$a") == {**fallback, "is_falling_back": False, "m.in_reply_to": {"event_id": "$a"}}


def test_a_key_gives_one_transaction() -> None:
    assert transaction_of("key") == transaction_of("key") != transaction_of("key", "file")
    assert transaction_of("a", "b") != transaction_of("ab")
