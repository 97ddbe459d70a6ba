import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.identity.handles import IN_TEXT
from plugins.memory.content import Accepted, Empty, TooLong, accept, bare_name, content_key, fill, fold, without_tokens

TOKEN = re.compile(r"\{[A-Za-z_][\w .:-]{0,63}\}")
TEXTS = st.text(max_size=200)
BRACED = st.lists(
    st.sampled_from(
        ["{", "}", "{user}", "{bot}", "{char}", "{{random}}", "user", "a", "_b c.d:e-f", "1", " ", "\n", "ж"]
    ),
    max_size=30,
).map("".join)


def naively(text: str) -> str:
    """Remove tokens one after the other until there is none: what the single pass must equal."""
    while True:
        found = next((token for token in TOKEN.finditer(text) if token[0] not in {"{user}", "{bot}"}), None)
        if found is None:
            return text
        text = text[: found.start()] + text[found.end() :]


@given(BRACED)
def test_tokens_go_as_if_they_were_removed_one_by_one(text: str) -> None:
    assert without_tokens(text) == naively(text)


@given(BRACED | TEXTS)
def test_no_token_but_the_two_placeholders_is_left(text: str) -> None:
    left = without_tokens(text)
    assert {token[0] for token in TOKEN.finditer(left)} <= {"{user}", "{bot}"}
    assert without_tokens(left) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("{user} likes {char}", "{user} likes "),
        ("{bot}{{bot}}", "{bot}{{bot}}"),
        ("{us{x}er}", "{user}"),
        ("{a{b}c}", ""),
        ("{{random}}", "{}"),
        ("{random: a, b}", "{random: a, b}"),
        ("{User}", ""),
        ("{1} { a} {} {a", "{1} { a} {} {a"),
        ("{" + "a" * 64 + "}", ""),
        ("{" + "a" * 65 + "}", "{" + "a" * 65 + "}"),
        ("@{ana~2}", "@{ana~2}"),
        ("x = {'a': 1}", "x = {'a': 1}"),
    ],
)
def test_which_tokens_go(text: str, left: str) -> None:
    assert without_tokens(text) == left


@pytest.mark.parametrize("text", ["{" * 60_000, "{a" * 30_000 + "}" * 30_000, "{}" * 30_000, "}{" * 30_000])
def test_many_braces_take_no_time(text: str) -> None:
    without_tokens(text)


@given(TEXTS | BRACED, st.integers(1, 50), st.none() | TEXTS)
def test_what_is_accepted_can_be_kept(raw: str, limit: int, name: str | None) -> None:
    match accept(raw, limit, name):
        case Accepted(content):
            assert 0 < len(content) <= limit
            assert content == content.strip()
            kept = {"\n", "\t"}
            assert not [c for c in content if unicodedata.category(c) in {"Cc", "Cs"} and c not in kept]
            assert accept(content, limit, name) == Accepted(content) or name is not None
            if name is not None:
                assert "{user}" not in content
        case TooLong(length, given_limit):
            assert length > given_limit == limit
        case Empty():
            pass


@pytest.mark.parametrize("raw", ["", "  \n", "{char}", " {a}{b} ", "\x00\x07", "\u200b\u2060", "\ufe0f"])
def test_nothing_left_is_no_content(raw: str) -> None:
    assert accept(raw, 100) == Empty()


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ("ask @{ana~2} or @{1}", "ask @ana~2 or @1"),
        ("@{user} and @{bot} and {user}", "@{user} and @{bot} and {user}"),
        ("@{{user}}", "@{user}}"),
        ("@{{{1}}}", "@1}}}"),
        ("@{@{1}}", "@@1}"),
        ("@{1{user}}", "@1{user}}"),
        ("@{1{char}}", "@1"),
        ("{ @{ }", "{ @ }"),
    ],
)
def test_no_handle_is_kept_with_which_the_model_could_mention_somebody(raw: str, kept: str) -> None:
    assert accept(raw, 100) == Accepted(kept)


@given(BRACED | st.text("@{}user1~", max_size=30), st.sampled_from(["user", "1", "}", "{1}", "{", "@", "@{1}"]))
def test_what_is_shown_holds_no_handle(raw: str, name: str) -> None:
    match accept(raw, 1000):
        case Accepted(content):
            assert accept(content, 1000) == Accepted(content)
            assert IN_TEXT.search(fill(content, user=name, bot=name)) is None
        case _:
            pass


def test_control_characters_go_and_lines_stay() -> None:
    assert accept("a\x00b\x1b[31m\tc\r\nd\u0085e\ud800", 100) == Accepted("ab[31m\tc\nde\ufffd")


def test_the_length_is_counted_in_characters_after_everything_else() -> None:
    assert accept("é" * 1000, 1000) == Accepted("é" * 1000)
    assert accept("é" * 1001, 1000) == TooLong(1001, 1000)
    assert accept("x" * 10 + "{char}", 10) == Accepted("x" * 10)
    assert accept("{user}", 10, "a" * 11) == TooLong(11, 10)
    assert accept("x" * 64_001, 1000) == TooLong(64_001, 1000)


def test_a_bridge_users_name_takes_the_place_of_the_placeholder_without_its_braces() -> None:
    assert accept("{user} likes {user}", 100, "{bot} A\nna") == Accepted("bot A na likes bot A na")
    assert accept("{user} is here", 100, "{}") == Accepted("somebody is here")
    assert accept("{user} is here", 100) == Accepted("{user} is here")


@given(TEXTS)
def test_a_bare_name_is_one_line_and_no_token(name: str) -> None:
    bare = bare_name(name)
    assert bare
    assert len(bare.splitlines()) == 1
    assert not {"{", "}"} & set(bare)


@given(BRACED | TEXTS, TEXTS, TEXTS)
def test_a_shown_memory_is_one_line(content: str, user: str, bot: str) -> None:
    assert len(fill(content, user=user, bot=bot).splitlines()) <= 1


def test_placeholders_are_resolved_once() -> None:
    assert fill("{user} and {bot}", user="{bot}", bot="{user}") == "{bot} and {user}"
    assert fill("{{user}} {random} {{bot}", user="Ana", bot="Mira") == "{Ana} {random} {Mira"


@given(TEXTS)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    "variant",
    [
        "game night is every friday at 20:00",
        "Game  night\nis every Friday at 20:00.",
        " GAME NIGHT IS EVERY FRIDAY AT 20:00!!! ",
        "Ｇａｍｅ ｎｉｇｈｔ is every Friday at 20:00。",
        "Game\u200b night is e\u00advery Friday at 20:00…",
        "\u201cGame night is every Friday at 20:00\u201d",
        '"Game night" is every Friday at 20:00.',
        "'Game night is every Friday at 20:00.'",
        "«Game night is every Friday at 20:00»?!",
    ],
)
def test_variants_of_one_sentence_say_the_same(variant: str) -> None:
    assert content_key(variant) == content_key("Game night is every Friday at 20:00")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("costs 1.5", "costs 15"),
        ("likes C#", "likes C"),
        ("it is -5", "it is 5"),
        ("the dog's bowl", "the dogs' bowl"),
        ("we're late", "were late"),
        ("the board is 5' long", 'the board is 5" long'),
        ("a, b", "a b"),
        ("the user likes tea", "{user} likes tea"),
        ("!!!", "???"),
    ],
)
def test_what_means_something_else_stays_apart(one: str, other: str) -> None:
    assert content_key(one) != content_key(other)


def test_curly_and_straight_apostrophes_are_one() -> None:
    assert content_key("the dog\u2019s bowl") == content_key("the dog's bowl")
