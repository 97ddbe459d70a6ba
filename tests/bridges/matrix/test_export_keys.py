from pathlib import Path
from typing import Any

import pytest
from nio.crypto.key_export import decrypt_and_read

from agent.testing.app import settings_for_test
from bridges.matrix.export_keys import NothingToExport, export
from tests.bridges.matrix.encrypting import ENCRYPTED, encrypting
from tests.bridges.matrix.worlds import matrix_agent
from tests.servers.synapse import Synapse

pytestmark = pytest.mark.unwatched_loop  # keys are written as fast as they can


async def test_keys_are_exported_as_clients_read_them(synapse: Synapse, database_url: str, tmp_path: Path) -> None:
    ana, account = await synapse.person("ana"), await synapse.person("isthmus")
    key: dict[str, Any] = {"agent": {"secret_key": "A" * 43 + "="}}
    section = {"homeserver": synapse.url, "user": account.user_id, "password": "x", "store": str(tmp_path / "keys")}
    loaded = settings_for_test(database_url, {**key, "bridges": {"matrix": section}}, data_dir=tmp_path)
    with pytest.raises(NothingToExport):
        await export(loaded, tmp_path / "keys.txt", "pass")
    async with (
        matrix_agent(synapse, database_url, key, account=account, store=tmp_path / "keys") as trial,
        encrypting(ana, tmp_path) as client,
    ):
        room = await trial.room(ana, initial_state=[ENCRYPTED])
        await client.sync()
        await client.say(room, "hello", **{"m.mentions": {"user_ids": [account.user_id]}})
        await client.heard(account.user_id)
    await export(loaded, tmp_path / "keys.txt", "pass")
    text = decrypt_and_read(str(tmp_path / "keys.txt"), "pass").decode()
    assert room in text
    assert "BEGIN MEGOLM SESSION DATA" in (tmp_path / "keys.txt").read_text()
