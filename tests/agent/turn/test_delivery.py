from agent.bridge import Capabilities
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
