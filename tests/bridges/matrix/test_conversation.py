"""Conversations of a whole agent at a real homeserver."""

from tests.bridges.matrix.worlds import matrix_agent, thread
from tests.servers.synapse import Synapse


async def test_a_mention_is_answered_once_and_others_are_not(synapse: Synapse, database_url: str) -> None:
    ana, ben = await synapse.person("ana"), await synapse.person("ben")
    async with matrix_agent(synapse, database_url) as trial:
        room = await trial.room(ana, ben)
        await ben.say(room, "nothing for you")
        await ana.ask(room, trial.account.user_id, "Isthmus: hello")
        (answer,) = await ana.answer(room, trial.account.user_id)
        await trial.agent.idle()
        assert answer["content"]["body"] == "Well."
        assert answer["content"]["msgtype"] == "m.text"
        assert answer["content"]["m.mentions"] == {}
        assert "formatted_body" not in answer["content"]
        assert len(trial.model.requests) == 1
        prompt = "\n".join(trial.model.requests[0].texts)
        assert "nothing for you" in prompt
        assert "Kitchen" in prompt
        assert len(await ana.said_by(room, trial.account.user_id)) == 1


async def test_a_direct_conversation_needs_no_mention(synapse: Synapse, database_url: str) -> None:
    ana = await synapse.person("ana")
    async with matrix_agent(synapse, database_url) as trial:
        room = await trial.direct(ana)
        await ana.say(room, "hello")
        (answer,) = await ana.answer(room, trial.account.user_id)
        assert answer["content"]["body"] == "Well."


async def test_what_is_said_with_an_invitation_is_answered(synapse: Synapse, database_url: str) -> None:
    ana = await synapse.person("ana")
    async with matrix_agent(synapse, database_url) as trial:
        room = await ana.create_room(is_direct=True, invite=[trial.account.user_id], preset="trusted_private_chat")
        await ana.say(room, "hello before you came")
        await ana.answer(room, trial.account.user_id)


async def test_what_was_said_long_before_the_agent_came_is_not_answered(synapse: Synapse, database_url: str) -> None:
    ana = await synapse.person("ana")
    async with matrix_agent(synapse, database_url) as trial:
        room = await ana.create_room("Old")
        await ana.ask(room, trial.account.user_id, "anybody there?")
        await ana.invite(room, trial.account.user_id)
        await ana.joined(room, trial.account.user_id)
        await ana.ask(room, trial.account.user_id, "and now?")
        await ana.answer(room, trial.account.user_id)
        await trial.agent.idle()
        assert len(trial.model.requests) == 1


async def test_an_answer_stays_in_its_thread(synapse: Synapse, database_url: str) -> None:
    ana = await synapse.person("ana")
    async with matrix_agent(synapse, database_url) as trial:
        room = await trial.room(ana)
        root = await ana.say(room, "plans for spring")
        asked = await ana.ask(room, trial.account.user_id, "what do you say?", **{"m.relates_to": thread(root)})
        (answer,) = await ana.answer(room, trial.account.user_id)
        relation = answer["content"]["m.relates_to"]
        assert (relation["rel_type"], relation["event_id"]) == ("m.thread", root)
        assert relation["m.in_reply_to"]["event_id"] in {asked, root}
        assert "plans for spring" in "\n".join(trial.model.requests[0].texts)
