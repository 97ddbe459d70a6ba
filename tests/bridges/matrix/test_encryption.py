"""Encrypted rooms: a whole agent and a plain nio client at a real homeserver."""

from pathlib import Path
from typing import Any

import pytest

from tests.bridges.matrix.encrypting import ENCRYPTED, encrypting
from tests.bridges.matrix.test_commands import SETTINGS
from tests.bridges.matrix.worlds import matrix_agent
from tests.servers.synapse import Synapse

pytestmark = pytest.mark.unwatched_loop  # the client beside it makes its keys on this loop


async def test_a_conversation_in_an_encrypted_room(synapse: Synapse, database_url: str, tmp_path: Path) -> None:
    ana = await synapse.person("ana")
    async with (
        matrix_agent(synapse, database_url, store=tmp_path / "keys") as trial,
        encrypting(ana, tmp_path) as client,
    ):
        room = await trial.room(ana, initial_state=[ENCRYPTED])
        await client.sync()
        asked = await client.say(room, "hello?", **{"m.mentions": {"user_ids": [trial.account.user_id]}})
        (answer,) = await client.heard(trial.account.user_id)
        assert answer["content"]["body"] == "Well."
        assert await ana.said_by(room, trial.account.user_id) == [], "it was said in clear"
        # Edits are read too, and reactions, which are never encrypted, come through.
        relation = {"rel_type": "m.replace", "event_id": asked}
        new = {"msgtype": "m.text", "body": "hello again?", "m.mentions": {}}
        await client.say(room, "* hello again?", **{"m.new_content": new, "m.relates_to": relation})
        await client.say(room, "and now?", **{"m.mentions": {"user_ids": [trial.account.user_id]}})
        await client.heard(trial.account.user_id, 2)
        assert "hello again?" in "\n".join(trial.model.requests[-1].texts)
        assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700


async def test_keys_and_device_outlive_a_restart(synapse: Synapse, database_url: str, tmp_path: Path) -> None:
    ana, account = await synapse.person("ana"), await synapse.person("isthmus")
    options: dict[str, Any] = {"account": account, "store": tmp_path / "keys"}
    key = {"agent": {"secret_key": "A" * 43 + "="}}
    async with encrypting(ana, tmp_path) as client:
        async with matrix_agent(synapse, database_url, key, **options) as trial:
            room = await trial.room(ana, initial_state=[ENCRYPTED])
            await client.sync()
            await client.say(room, "first", **{"m.mentions": {"user_ids": [account.user_id]}})
            await client.heard(account.user_id)
        await client.say(room, "while you slept", **{"m.mentions": {"user_ids": [account.user_id]}})
        async with matrix_agent(synapse, database_url, key, **options) as trial:
            await client.heard(account.user_id, 2)
            assert "while you slept" in "\n".join(trial.model.requests[0].texts)
        devices = await account.call("GET", "v3/devices")
        assert len(devices["devices"]) == 2, "the test's own session, and one of the agent"


async def test_what_cannot_be_read_is_said_once_and_taken_up_with_its_key(
    synapse: Synapse, database_url: str, tmp_path: Path
) -> None:
    ana = await synapse.person("ana")
    async with (
        matrix_agent(synapse, database_url, store=tmp_path / "keys") as trial,
        encrypting(ana, tmp_path) as client,
    ):
        room = await trial.room(ana, initial_state=[ENCRYPTED])
        await client.sync()
        held = await client.hold_keys(room)
        mention = {"m.mentions": {"user_ids": [trial.account.user_id]}}
        await client.say(room, "can you read me?", **mention)
        await client.say(room, "and this?", **mention)
        (note,) = await client.heard(trial.account.user_id)
        assert note["content"]["msgtype"] == "m.notice"
        assert "cannot read this message" in note["content"]["body"]
        assert trial.model.requests == []
        await client.release_keys(held)
        await client.heard(trial.account.user_id, 3)
        await trial.agent.idle()
        assert len(trial.model.requests) == 2


async def test_private_answers_of_encrypted_rooms_are_encrypted(
    synapse: Synapse, database_url: str, tmp_path: Path
) -> None:
    ana = await synapse.person("ana")
    async with (
        matrix_agent(synapse, database_url, SETTINGS, store=tmp_path / "keys") as trial,
        encrypting(ana, tmp_path) as client,
    ):
        room = await trial.room(ana, initial_state=[ENCRYPTED])
        await client.sync()
        await client.say(room, "!privacy show")
        while not (found := await ana.invited()):
            await client.sync()
        await ana.join(found[0])
        assert (await ana.read_state(found[0], "m.room.encryption"))["algorithm"] == "m.megolm.v1.aes-sha2"
        (shown,) = await client.heard(trial.account.user_id)
        assert "Your privacy level is" in shown["content"]["body"]
