"""Personas speak under profiles of their own on the agent's account."""

from tests.bridges.matrix.worlds import matrix_agent
from tests.servers.synapse import Synapse


async def test_a_persona_speaks_under_its_name_and_reads_itself_without_it(synapse: Synapse, database_url: str) -> None:
    ana = await synapse.person("ana")
    async with matrix_agent(synapse, database_url) as trial:
        room, private = await trial.room(ana), await trial.direct(ana)
        await ana.say(room, "!persona create Mirri")
        await ana.answer(private, trial.account.user_id)
        await ana.say(room, "Mirri, are you there?")
        (answer,) = await ana.answer(room, trial.account.user_id)
        profile = answer["content"]["com.beeper.per_message_profile"]
        assert (profile["displayname"], profile["has_fallback"]) == ("Mirri", True)
        assert answer["content"]["body"] == "Mirri: Well."
        relation = {"m.in_reply_to": {"event_id": answer["event_id"]}}
        await ana.say(room, "and again?", **{"m.relates_to": relation})
        (_, again) = await ana.answer(room, trial.account.user_id, 2)
        assert again["content"]["body"] == "Mirri: Well."
        prompt = "\n".join(trial.model.requests[-1].texts)
        assert "Mirri: Well." not in prompt
