"""The homeserver and the agent are killed and come back: everybody is answered once."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.events import MessageCreated
from agent.store.errors import DatabaseUnavailable
from agent.testing.contract_steps import started
from agent.testing.scripted_model import ScriptedModel
from tests.bridges.matrix.encrypting import ENCRYPTED, encrypting
from tests.bridges.matrix.worlds import MatrixWorld, matrix_agent
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


@pytest.mark.unwatched_loop  # the client beside it makes its keys on this loop
async def test_a_session_that_is_ended_meanwhile_begins_anew_with_keys_of_its_own(
    synapse: Synapse, database_url: str, tmp_path: Path
) -> None:
    ana, account = await synapse.person("ana"), await synapse.person("isthmus")
    async with (
        matrix_agent(synapse, database_url, account=account, store=tmp_path / "keys") as trial,
        encrypting(ana, tmp_path) as client,
    ):
        room = await trial.room(ana, initial_state=[ENCRYPTED])
        await account.call("POST", "v3/logout/all", {})
        async with asyncio.timeout(30):
            while len(list((tmp_path / "keys").glob("*.db"))) < 2:  # noqa: ASYNC110 - the agent is elsewhere
                await asyncio.sleep(0.05)
            await trial.agent.idle()
        for _ in range(3):
            await client.sync(500)
        await client.say(room, "still there?", **{"m.mentions": {"user_ids": [account.user_id]}})
        (answer,) = await client.heard(account.user_id)
        assert answer["content"]["body"] == "Well."


async def test_an_event_waits_for_a_database_that_is_away(synapse: Synapse, monkeypatch: pytest.MonkeyPatch) -> None:
    world = MatrixWorld(synapse)
    await world.prepare(encryption=False)
    tries: list[str] = []

    async def away(platform: str, message_ids: Sequence[str]) -> Mapping[str, int | None]:
        tries.extend(message_ids)
        if len(tries) == 1:
            raise DatabaseUnavailable("on purpose")
        return {}

    async with started(world) as host:
        monkeypatch.setattr(host, "own_messages", away)
        said = await world.say("first")
        assert (await host.next(MessageCreated)).text == "first"
        await world.reply_to(said, "second")
        await world.say("third")
        assert [(await host.next(MessageCreated)).text for _ in range(2)] == ["second", "third"]
        assert tries == [said, said]
