from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.commands import CommandReply, Step, StepKind
from agent.files import MEBIBYTE, ReplyFile
from agent.steps import step_id
from bridges.discord.commands.buttons import kind_of, rows_of
from bridges.discord.commands.replies import Drawn, drawn
from tests.servers.discord import drafts
from tests.servers.discord.records import Upload

STEPS = st.lists(
    st.builds(
        Step,
        st.text(max_size=100),
        st.just(("memories", "list")),
        st.dictionaries(st.sampled_from(["page", "text"]), st.integers() | st.text(max_size=60), max_size=2),
        st.sampled_from(StepKind),
    ),
    max_size=30,
)
TEXTS = st.text(max_size=300) | st.builds(
    lambda piece, times: piece * times, st.text("*_`[]()\\ \nab#-1.", min_size=1, max_size=30), st.integers(1, 900)
)


def draw(text: str, steps: Sequence[Step] = (), file: ReplyFile | None = None, limit: int = MEBIBYTE) -> list[Drawn]:
    return list(drawn(CommandReply(text, steps=tuple(steps), file=file), "/memories list", "en", limit))


def said(message: Drawn) -> str:
    embeds = message.body["embeds"]
    return str(embeds[0]["description"] if embeds else message.body["content"])


@given(TEXTS, STEPS, st.none() | st.builds(ReplyFile, st.just("a.json"), st.binary(max_size=20)))
def test_every_reply_is_one_that_discord_takes(text: str, steps: list[Step], file: ReplyFile | None) -> None:
    messages = draw(text, steps, file)
    assert 1 <= len(messages) <= 5
    for message in messages:
        uploads = {at: Upload(each.name, each.content) for at, each in enumerate(message.files)}
        drafts.draft(message.body, uploads)
        assert message.body["allowed_mentions"] == {"parse": []}
        assert not said(message).endswith("\\") or said(message).endswith("\\\\")
    if len(messages) > 1:
        assert not any(message.body["components"] for message in messages)


@given(st.text("*_`[]()\\ab", min_size=2100, max_size=4200))
def test_no_sign_loses_its_backslash_between_two_messages(text: str) -> None:
    for message in draw(text * 2):
        shown = said(message).removesuffix("…")
        at = 0
        while at < len(shown):
            assert shown[at] not in "*_`[]()"
            at += 2 if shown[at] == "\\" else 1
        assert at == len(shown)


def test_lists_in_pages_are_embeds_and_other_short_texts_are_not() -> None:
    on = Step("Next", ("memories", "list"), {"page": 2}, StepKind.NEXT)
    (paged,) = draw("one\ntwo", [on])
    assert paged.body["embeds"] == [{"title": "/memories list", "description": "one\ntwo"}]
    (plain,) = draw("*one*")
    assert (plain.body["content"], plain.body["embeds"]) == ("\\*one\\*", [])


def test_what_says_nothing_says_done() -> None:
    assert said(draw("")[0]) == "Done."
    (alone,) = draw("", file=ReplyFile("a", b"x"))
    assert said(alone) == ""


def test_a_file_that_discord_does_not_take_is_left_out_and_told() -> None:
    (message,) = draw("Here it is.", file=ReplyFile("a", b"x" * (MEBIBYTE + 1)))
    assert (message.files, said(message)) == (
        (),
        "Here it is.\nThe file is larger than the 1 MiB that Discord takes.",
    )


def test_what_is_far_too_long_comes_as_a_file() -> None:
    (message,) = draw("word " * 3000)
    (file,) = message.files
    assert (file.name, file.content) == ("answer.txt", ("word " * 3000).strip().encode())
    assert said(message).endswith("…")


def test_buttons_stand_in_rows_of_five_and_each_but_once() -> None:
    steps = [Step(f"{at}", ("a",), {"page": at % 28}) for at in range(40)]
    rows = rows_of(steps)
    assert [len(row["components"]) for row in rows] == [5] * 5
    assert [each["custom_id"] for row in rows for each in row["components"]] == [step_id(each) for each in steps[:25]]
    assert rows_of([Step("long", ("a",), {"text": "x" * 100})]) == []


@pytest.mark.parametrize("kind", StepKind)
def test_a_pressed_button_tells_its_kind(kind: StepKind) -> None:
    (row,) = rows_of([Step("a", ("a",), {}), Step("b", ("b",), {}, kind)])
    assert kind_of(row["components"][1]) is kind


@pytest.mark.parametrize("pressed", [{}, {"id": 0}, {"id": 7}, {"id": 99_999}])
def test_a_button_of_somebody_else_is_a_plain_one(pressed: dict[str, Any]) -> None:
    assert kind_of(pressed) is StepKind.PLAIN
