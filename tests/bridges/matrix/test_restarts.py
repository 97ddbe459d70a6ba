"""The homeserver and the agent are killed and come back: everybody is answered once."""

from typing import Any

from agent.testing.scripted_model import ScriptedModel
from tests.bridges.matrix.worlds import matrix_agent
from tests.servers.synapse import Synapse

KEY: dict[str, Any] = {"agent": {"secret_key": "A" * 43 + "="}}


async def test_synapse_is_killed_while_people_talk(own_synapse: Synapse, database_url: str) -> None:
    ana = await own_synapse.person("ana")
    async with matrix_agent(own_synapse, database_url, encryption=False) as trial:
        room = await trial.room(ana)
        await ana.ask(room, trial.account.user_id, "before")
        await ana.answer(room, trial.account.user_id)
        await own_synapse.restart(kill=True)
        await ana.ask(room, trial.account.user_id, "after")
        answers = await ana.answer(room, trial.account.user_id, 2)
        await trial.agent.idle()
        assert [each["content"]["body"] for each in answers] == ["Well.", "Well."]
        assert len(trial.model.requests) == 2


async def test_an_answer_waits_for_a_homeserver_that_is_away(own_synapse: Synapse, database_url: str) -> None:
    ana = await own_synapse.person("ana")
    model = ScriptedModel("First.", "Second.")
    async with matrix_agent(own_synapse, database_url, model=model, encryption=False) as trial:
        room = await trial.room(ana)
        await ana.ask(room, trial.account.user_id, "one")
        await ana.answer(room, trial.account.user_id)
        await ana.ask(room, trial.account.user_id, "two")
        await own_synapse.restart(kill=True)
        answers = await ana.answer(room, trial.account.user_id, 2)
        await trial.agent.idle()
        assert [each["content"]["body"] for each in answers] == ["First.", "Second."]


async def test_the_agent_goes_on_where_it_stopped(synapse: Synapse, database_url: str) -> None:
    ana, account = await synapse.person("ana"), await synapse.person("isthmus")
    async with matrix_agent(synapse, database_url, KEY, account=account, encryption=False) as trial:
        room = await trial.room(ana)
        await ana.ask(room, account.user_id, "one")
        await ana.answer(room, account.user_id)
    for number in range(3):
        await ana.ask(room, account.user_id, f"missed {number}")
    async with matrix_agent(synapse, database_url, KEY, account=account, encryption=False) as trial:
        await ana.answer(room, account.user_id, 4)
        await trial.agent.idle()
        assert len(trial.model.requests) == 3
    async with matrix_agent(synapse, database_url, KEY, account=account, encryption=False) as trial:
        await ana.ask(room, account.user_id, "last")
        await ana.answer(room, account.user_id, 5)
        await trial.agent.idle()
        assert len(trial.model.requests) == 1
    assert len(await ana.said_by(room, account.user_id)) == 5
