from dataclasses import replace

from agent.bridge import Capabilities
from agent.fitting import fitted
from agent.store.outbox import dump_message, load_message
from agent.turn.delivery import answer
from tests.agent.turn.builders import a_participant, a_turn

CAPABILITIES = Capabilities(message_limit=60, has_idempotency_key=True)


def test_only_handles_of_participants_ping_and_each_part_names_its_own() -> None:
    turn = a_turn(people=(a_participant("ana", 1), a_participant("ben", 2)))
    text = f"hello @{{ana}}, <@ben> and @everyone{' and so on' * 5} and at last @{{ben}}, @{{nobody}}"
    first, last = answer(turn, text, CAPABILITIES)
    assert first.text.startswith("hello <@ana>, <\u200b@ben> and @\u200beveryone")
    assert [key.id for key in first.mentions] == ["ana"]
    assert last.text.endswith("<@ben>, @nobody")
    assert [key.id for key in last.mentions] == ["ben"]


def test_parts_have_keys_of_their_own_and_the_first_one_answers() -> None:
    parts = answer(a_turn(), "word " * 40, CAPABILITIES)
    assert len(parts) > 1
    assert [part.part for part in parts] == list(range(len(parts)))
    assert len({part.key for part in parts}) == len(parts)
    assert [part.reply_to for part in parts] == ["m1", *[None] * (len(parts) - 1)]
    assert all(part.event_id == "e1" for part in parts)


def test_an_empty_answer_is_no_message() -> None:
    assert answer(a_turn(), " \n", CAPABILITIES) == ()


def test_long_code_goes_as_a_file_with_the_words_before_it() -> None:
    code = "# @everyone, @{{ana}}\n" * 10
    text = f"{'word ' * 20}\n```python\n{code}```\nThat is all."
    parts = answer(a_turn(), text, replace(CAPABILITIES, code_files=True))
    assert [part.code is not None for part in parts] == [False, True, False]
    assert parts[-1].text == "That is all."
    kept = load_message(dump_message(parts[1]))
    assert kept == parts[1]
    sent = fitted(kept, CAPABILITIES)
    assert sent.file is not None
    assert (sent.file.name, sent.file.content.decode(), sent.code) == ("answer.py", code, None)
    assert all(part.code is None for part in answer(a_turn(), text, CAPABILITIES))


def test_code_alone_is_a_message_without_words() -> None:
    [part] = answer(a_turn(), "```\n" + "x" * 100 + "\n```", replace(CAPABILITIES, code_files=True))
    assert part.text == ""
    assert part.reply_to == "m1"
    assert part.code is not None


def test_a_persona_leaves_the_room_that_its_bridge_needs() -> None:
    turn, limits = a_turn(), replace(CAPABILITIES, persona_room=20)
    iris = replace(turn, persona=replace(turn.persona, nickname="Iris", is_default=False))
    assert max(len(part.text) for part in answer(iris, "word " * 40, limits)) <= 40
    assert max(len(part.text) for part in answer(turn, "word " * 40, limits)) > 40
