"""The recall benchmark's own data holds what the benchmark says of it."""

from __future__ import annotations

import re

import pytest

from agent.identity.names import normalise
from benchmarks.recall_data import SCRIPTS, ScriptError, conversation, files, parse, weave
from benchmarks.recall_form import Conversation, load, own_files
from benchmarks.recall_methods import Server
from benchmarks.recall_words import shares_word

CONVERSATIONS = load(own_files())
EACH = pytest.mark.parametrize("talk", CONVERSATIONS, ids=lambda talk: talk.name)


def shared(talk: Conversation) -> list[bool]:
    texts = {turn.id: turn.text for turn in talk.turns}
    return [shares_word(each.text, [texts[at] for at in each.evidence], talk.language) for each in talk.questions]


def test_the_files_are_what_the_scripts_give() -> None:
    made = files()
    assert set(made) == set(own_files())
    for file, text in made.items():
        assert file.read_text("utf-8") == text, f"run python -m benchmarks.recall_data: {file.name} is out of date"


def test_there_is_enough_of_everything() -> None:
    assert len(CONVERSATIONS) >= 6
    assert sum(len(talk.questions) for talk in CONVERSATIONS) >= 200
    assert sum(talk.held_out for talk in CONVERSATIONS) == 2
    assert {talk.language for talk in CONVERSATIONS} >= {"en", "de", "es"}


@EACH
def test_each_conversation_is_long_and_of_many(talk: Conversation) -> None:
    assert len(talk.turns) >= 300
    assert len(talk.speakers) >= 5
    assert len({each.evidence for each in talk.questions}) >= 35
    assert len({each.text for each in talk.questions}) == len(talk.questions), "a question is asked once"
    assert {each.asker for each in talk.questions} <= set(talk.speakers)
    assert len({turn.text for turn in talk.turns}) > 0.97 * len(talk.turns), "chats do not repeat themselves"


@EACH
def test_a_third_of_the_questions_shares_no_content_word_with_its_evidence(talk: Conversation) -> None:
    assert shared(talk).count(False) >= len(talk.questions) / 3


@EACH
def test_a_third_of_the_questions_names_a_person(talk: Conversation) -> None:
    server = Server([talk])
    named = [(asked, about) for asked, about in zip(server.asked, server.about, strict=True) if about is not None]
    assert len(named) >= len(talk.questions) / 3
    for asked, about in named:
        assert about in asked.said.keys, asked.question.text
    for asked, somebody in zip(server.asked, server.about, strict=True):
        assert somebody is not None or not asked.said.keys, asked.question.text


@EACH
def test_each_conversation_has_twins_of_names(talk: Conversation) -> None:
    names = sorted(normalise(label) for label in talk.speakers)
    assert any(
        one != other and (other.startswith(one) or other.split()[0] == one.split()[0])
        for one in names
        for other in names
    )


def test_proxied_people_speak_through_one_account() -> None:
    systems = [re.findall(r"\((.+)\)$", "\n".join(talk.speakers), re.MULTILINE) for talk in CONVERSATIONS]
    assert sum(any(found.count(system) >= 2 for system in found) for found in systems) >= 2


@EACH
def test_it_is_about_nobody_who_exists(talk: Conversation) -> None:
    text = "\n".join(turn.text for turn in talk.turns)
    for pattern in (r"\S+@\S+\.\w", r"https?://", r"www\.", r"(?<!\w)@\w", r"\+?\d[\d ()/-]{7,}\d"):
        assert not re.search(pattern, text), pattern


@pytest.mark.parametrize("file", sorted(SCRIPTS.glob("*.txt")), ids=lambda file: file.stem)
def test_threads_overlap_and_keep_their_order(file: object) -> None:
    script = parse("any", SCRIPTS.joinpath(str(file)).read_text("utf-8"))
    at = {id(line): place for place, line in enumerate(weave(script))}
    places = [[at[id(line)] for line in thread.lines] for thread in script.threads if thread.lines]
    assert all(each == sorted(each) for each in places)
    assert sorted(place for each in places for place in each) == list(range(len(at)))
    interrupted = [each for each in places if each[-1] - each[0] >= len(each)]
    assert len(interrupted) > len(places) / 3


def test_a_thread_that_waits_begins_after_all_before_it() -> None:
    script = parse("any", "title: x\nlanguage: en\nseed: 3\nperson A: Ana\n--- one\nA: a\nA: b\n--- then two\nA: c")
    assert [line.text for line in weave(script)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("script", "wrong"),
    [
        ("A said nothing", "line 5"),
        ("A [x]: one\nA [x]: two", "'x'"),
        ("A [x]: one\n? A: what = y", "'y'"),
        ("A [x]: one\n? A > B: what = x", "'B'"),
    ],
)
def test_a_script_that_is_wrong_is_refused(script: str, wrong: str) -> None:
    with pytest.raises(ScriptError, match=wrong):
        conversation(parse("any", f"seed: 1\nlanguage: en\nperson A: Ana\n--- one\n{script}"))
