"""Memories of people in Matrix, who have no user row: as server memories about them, or not at all."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.places import ChannelRef, ServerRef
from agent.store.pool import Store
from agent.testing.scripted_model import ScriptedCall, ScriptedModel
from tests.bridges.matrix.test_commands import SETTINGS, answered
from tests.bridges.matrix.worlds import Trial, matrix_agent
from tests.servers.synapse import Person, Synapse


def saving(content: str) -> ScriptedCall:
    """What a model asks for that shall remember something about whoever speaks."""
    return ScriptedCall(
        "create_long_term_memory", {"memory_content": content, "memory_scope": "target_user", "target_user": "me"}
    )


async def rows(store: Store, sql: str, *arguments: Any) -> list[Mapping[str, Any]]:
    async with store.connection() as conn:
        return [dict(row) for row in await conn.fetch(sql, *arguments)]


async def told(store: Store) -> list[Mapping[str, Any]]:
    """Return every memory with whose it is."""
    return await rows(
        store,
        "SELECT content, external_id AS about FROM server_memories"
        " LEFT JOIN accounts ON account_id = subject_account_id"
        " UNION ALL SELECT content, 'user ' || user_id FROM personal_memories",
    )


async def ask(trial: Trial, person: Person, room: str, text: str = "remember that") -> None:
    """Ask the agent something, and wait until it has done everything."""
    before = len(trial.model.requests)
    await person.ask(room, trial.account.user_id, text)
    async with asyncio.timeout(20):
        while len(trial.model.requests) == before:  # noqa: ASYNC110 - the agent is elsewhere
            await asyncio.sleep(0.02)
    await trial.agent.idle()


async def test_a_memory_of_oneself_becomes_the_server_s_and_the_tool_says_so(
    synapse: Synapse, database_url: str, store: Store
) -> None:
    mati = await synapse.person("mati", "Mati {bot}")
    model = ScriptedModel(saving("{user} plays the harp"), "Kept.", default="Well.")
    async with matrix_agent(synapse, database_url, SETTINGS, model=model) as trial:
        room = await trial.room(mati)
        await ask(trial, mati, room)
        assert await told(store) == [{"content": "Mati bot plays the harp", "about": mati.user_id}]
        result = trial.model.requests[1].texts[-1]
        assert "server_wide" in result
        assert "no account" in result
        assert await rows(store, "SELECT user_id FROM accounts WHERE external_id = $1", mati.user_id) == [
            {"user_id": None}
        ]
        (card,) = [e for e in await mati.said_by(room, trial.account.user_id) if "harp" in e["content"]["body"]]
        assert card["content"]["msgtype"] == "m.notice"
        assert card["content"]["m.mentions"] == {}
        await ask(trial, mati, room, "what do you know?")
        assert "plays the harp" in "\n".join(trial.model.requests[-1].texts)


@pytest.mark.parametrize("level", ["partial", "full"])
async def test_a_restricted_person_is_refused_and_not_widened(
    synapse: Synapse, database_url: str, store: Store, level: str
) -> None:
    mati, ana = await synapse.person("mati", "Mati"), await synapse.person("ana", "Ana")
    arguments = {
        "memory_content": "{user} plays the harp",
        "memory_scope": "target_user",
        "target_user": mati.user_id,
    }
    model = ScriptedModel(ScriptedCall("create_long_term_memory", arguments), "No.", default="Well.")
    async with matrix_agent(synapse, database_url, SETTINGS, model=model) as trial:
        room, private = await trial.room(ana, mati), await trial.direct(mati)
        set_to = await answered(trial, mati, private, f"!privacy set {level}")
        assert level in set_to["body"]
        await ask(trial, ana, room, "remember of Mati that she plays the harp")
        assert await told(store) == []
        assert "harp" not in str([e["content"] for e in await ana.said_by(room, trial.account.user_id)])


async def test_forget_me_takes_it_away_and_its_card_too(synapse: Synapse, database_url: str, store: Store) -> None:
    mati, ana = await synapse.person("mati", "Mati"), await synapse.person("ana", "Ana")
    model = ScriptedModel(saving("{user} plays the harp"), "Kept.", saving("{user} sings"), "Kept.", default="Well.")
    async with matrix_agent(synapse, database_url, SETTINGS, model=model) as trial:
        room, private = await trial.room(mati, ana), await trial.direct(mati)
        await ask(trial, mati, room)
        await ask(trial, ana, room)
        assert len(await told(store)) == 2
        question = await answered(trial, mati, private, "!privacy forget-me")
        code = question["body"].partition("forget-me ")[2].split()[0].rstrip(".")
        done = await answered(trial, mati, private, f"!privacy forget-me {code}")
        assert "Forgotten" in done["body"]
        await trial.agent.idle()
        assert await told(store) == [{"content": "Ana sings", "about": ana.user_id}]
        bodies = [event["content"]["body"] for event in await mati.said_by(room, trial.account.user_id)]
        assert not any("harp" in body for body in bodies), "the card still tells it"
        assert any("sings" in body for body in bodies)


async def test_a_linked_account_has_memories_of_its_own(synapse: Synapse, database_url: str, store: Store) -> None:
    mati = await synapse.person("mati", "Mati")
    model = ScriptedModel(saving("{user} paints"), "Kept.", default="Well.")
    async with matrix_agent(synapse, database_url, SETTINGS, model=model) as trial:
        room, private = await trial.room(mati), await trial.direct(mati)
        other = Author(ParticipantKind.DISCORD_USER, "77", "Mati", username="mati")
        server, channel = ServerRef("discord", "1", "Garden"), ChannelRef("2", "general")
        begun = await trial.agent.run_command(("link",), {}, server, channel, other)
        assert begun.data is not None
        await answered(trial, mati, private, f"!link {begun.data['code']}")
        await trial.agent.run_command(("link",), {"code": "confirm"}, server, channel, other)
        confirmed = await trial.agent.run_command(("link",), {"code": "confirm"}, server, channel, other)
        assert confirmed.ok or "linked" in confirmed.text
        await ask(trial, mati, room)
        (kept,) = await told(store)
        assert str(kept["about"]).startswith("user ")
