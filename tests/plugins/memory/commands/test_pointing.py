from datetime import timedelta
from typing import Any

import pytest

from agent.commands import GivenMessage
from agent.contracts.people import PrivacyLevel
from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.privacy.audit import Act, Audit
from tests.plugins.memory.commands.people import ANA, BEN, Counter, learned
from tests.plugins.memory.stage import author


def said(who: Author, text: str, counter: Counter, message_id: str = "m1", **more: Any) -> GivenMessage:
    return GivenMessage(message_id, who, text, more.pop("at", counter.stage.clock.now()), **more)


async def test_what_somebody_said_is_kept_about_them(counter: Counter) -> None:
    reply = await counter.run("memories remember", message=said(BEN, "I bring the cake", counter))
    assert reply.text == "Saved as memory 1."
    row = await counter.row(1)
    assert (row["content"], row["source_message_id"]) == ("{user} said: I bring the cake", "m1")
    ben = (await counter.stage.context(BEN)).account
    assert (row["subject_account_id"], row["manually_written"]) == (ben.account_id, True)
    assert "Ben said: I bring the cake" in (await counter.run("memories list")).text
    why = (await counter.run("memories why", id=1)).text
    assert "Message: m1" in why
    assert "About: Ben" in why


async def test_only_who_may_add_memories_can_have_a_message_kept(counter: Counter) -> None:
    reply = await counter.run("memories remember", manages=False, message=said(BEN, "a fact", counter))
    assert (reply.ok, reply.text) == (False, "Only those who manage this server may do that.")


@pytest.mark.parametrize("level", [PrivacyLevel.PARTIAL, PrivacyLevel.FULL])
async def test_who_lets_nothing_be_kept_is_not_kept_by_a_menu_either(counter: Counter, level: PrivacyLevel) -> None:
    await counter.stage.set_privacy(BEN, level)
    reply = await counter.run("memories remember", message=said(BEN, "I bring the cake", counter))
    assert (reply.ok, reply.text) == (False, "The privacy level of this person does not allow it.")
    assert await counter.stage.rows("SELECT FROM server_memories") == []


async def test_nothing_said_before_a_person_was_forgotten_is_kept(counter: Counter) -> None:
    ben, now = (await counter.stage.context(BEN)).account, counter.stage.clock.now()
    await counter.stage.rows("UPDATE accounts SET forgotten_before = $2 WHERE account_id = $1", ben.account_id, now)
    old = said(BEN, "I bring the cake", counter, at=now - timedelta(minutes=1))
    assert not (await counter.run("memories remember", message=old)).ok


async def test_what_the_agent_said_is_about_nobody(counter: Counter) -> None:
    await counter.run("memories remember", message=said(author("Isthmus"), "It opens at 9", counter, from_agent=True))
    row = await counter.row(1)
    assert (row["content"], row["subject_account_id"]) == ("{bot} said: It opens at 9", None)


async def test_messages_of_unknown_origin_or_without_text_are_not_kept(counter: Counter) -> None:
    hook = Author(ParticipantKind.WEBHOOK, "7", "Ben")
    refused = await counter.run("memories remember", message=said(hook, "I am Ben", counter))
    assert refused.text == "I cannot tell who is behind this message, so I do not keep it."
    empty = await counter.run("memories remember", message=said(BEN, " ", counter))
    assert empty.text == "There is nothing to keep in this text."
    by_id = await counter.run("memories remember", message="m1")
    assert by_id.text == "I cannot read that message here. Use /memories add with its text."
    assert await counter.stage.rows("SELECT FROM server_memories") == []


async def test_what_was_learned_from_a_message_is_told_with_its_origin(counter: Counter) -> None:
    memory_id = await learned(counter.stage, "the gate is green")
    await learned(counter.stage, "the gate squeaks")
    (row,) = await counter.stage.rows(
        "UPDATE server_memories SET source_message_id = 'm7' WHERE server_memory_id = $1 RETURNING *", memory_id
    )
    for message in ("m7", said(BEN, "whatever", counter, "m7")):
        reply = await counter.run("memories because", message=message)
        first, origin = reply.text.splitlines()
        assert "the gate is green" in first
        assert "How: learned in a conversation; Who: Ana;" in origin
    assert row["source_platform"] == "console"


async def test_an_answer_is_led_back_to_the_message_that_it_answered(counter: Counter) -> None:
    memory_id = await learned(counter.stage, "the gate is green")
    await counter.stage.rows("UPDATE server_memories SET source_message_id = 'm7'")
    (channel,) = await counter.stage.rows("SELECT channel_id FROM channels LIMIT 1")
    await counter.stage.rows(
        "INSERT INTO messages (platform, message_id, channel_id, event_id, created_at) "
        "VALUES ('console', 'answer', $1, 'm7', now())",
        channel["channel_id"],
    )
    reply = await counter.run("memories because", message=said(author("Isthmus"), "Green.", counter, "answer"))
    assert reply.data is not None
    assert reply.data["memory_ids"] == [memory_id]
    assert reply.data["learned"]


async def test_else_the_nearest_memories_are_told(counter: Counter) -> None:
    near = await learned(counter.stage, "the gate is green")
    await learned(counter.stage, "soup on Mondays")
    reply = await counter.run("memories because", message=said(BEN, "Is the gate green?", counter, "m9"))
    assert reply.data is not None
    assert (reply.data["memory_ids"], reply.data["learned"]) == ([near], False)
    assert reply.text.startswith("From this message itself I have learned nothing.\nWhat I remember that comes nearest")
    none = await counter.run("memories because", message=said(BEN, "Hullo", counter, "m9"))
    assert none.text == "From this message itself I have learned nothing."


async def test_who_may_not_read_a_servers_memories_sees_only_their_own(counter: Counter) -> None:
    await learned(counter.stage, "the gate is green")
    own = await counter.memory("likes the gate", "personal memories add", who=BEN, manages=False)
    reply = await counter.run(
        "memories because", who=BEN, manages=False, message=said(ANA, "what about the gate", counter, "m9")
    )
    assert reply.data is not None
    assert reply.data["memory_ids"] == [own]


async def test_people_see_what_is_remembered_about_them_and_managers_about_others(counter: Counter) -> None:
    about_ana = await learned(counter.stage, "{user} hosts")
    await counter.run("memories remember", message=said(BEN, "I bring the cake", counter))
    own = await counter.memory("sings", "personal memories add", who=BEN)
    mine = await counter.run("memories about", who=BEN, manages=False, person=BEN.key)
    assert "I bring the cake" in mine.text
    assert mine.data is not None
    assert own in mine.data["memory_ids"]
    refused = await counter.run("memories about", who=BEN, manages=False, person=ANA.key)
    assert refused.text == "Only those who manage this server may do that."
    told = await counter.run("memories about", who=BEN, person=ANA.key)
    assert told.data is not None
    assert told.data["memory_ids"] == [about_ana]
    ana = (await counter.stage.context(ANA)).account
    (seen,) = await Audit(counter.stage.store).about(ana.account_id)
    assert (seen.actor, seen.act, seen.via) == ("Ben", Act.READ, "/memories about")
    nobody = await counter.run("memories about", person=author("Nobody").key)
    assert nobody.text == "I know nobody of this account."


async def test_what_is_about_somebody_who_hides_is_not_told(counter: Counter) -> None:
    await learned(counter.stage, "{user} hosts")
    await counter.stage.set_privacy(ANA, PrivacyLevel.FULL)
    told = await counter.run("memories about", who=BEN, person=ANA.key)
    assert told.text == "I remember nothing here."
