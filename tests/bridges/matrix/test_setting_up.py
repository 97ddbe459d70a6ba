"""`isthmus setup matrix` and what `isthmus doctor` says, against a real homeserver."""

import asyncio
import stat
from pathlib import Path

import pytest

from agent.settings.load import load_settings
from agent.setup import Setup, SetupFailed
from bridges.matrix import MatrixBridge, MatrixSettings
from bridges.matrix.settings import Invitations
from tests.bridges.matrix.worlds import settings_of
from tests.servers.synapse import Synapse


class Scripted:
    """Answers from a list, and keeps what was said."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def ask(self, question: str) -> str:
        if not self.answers:
            raise EOFError
        return self.answers.pop(0)

    def ask_secret(self, question: str) -> str:
        assert "not shown" in question
        return self.ask(question)


async def run(synapse: Synapse, folder: Path, *answers: str) -> str:
    scripted = Scripted(*answers)
    place = Setup("matrix", folder / "plugins.toml", folder / "data", scripted, {"api_base": synapse.url})
    await asyncio.to_thread(MatrixBridge.setup, place)
    assert scripted.answers == []
    return "\n".join(scripted.said)


async def test_an_account_becomes_a_bridge_that_can_start(synapse: Synapse, tmp_path: Path) -> None:
    account = await synapse.person("isthmus")
    (tmp_path / "plugins.toml").write_text("# mine\n[bridges.console]\nanswer_everything = false\n")
    said = await run(
        synapse, tmp_path, "isthmus", account.user_id, "wrong", account.password, "@ana:home.test, example.org !r"
    )
    assert "does not take it" in said
    assert account.password not in said
    assert account.password not in (tmp_path / "plugins.toml").read_text()
    secret = tmp_path / "data" / "secrets" / "matrix-password"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    loaded = load_settings(tmp_path / "plugins.toml", {}, tmp_path, tmp_path, data_dir=tmp_path / "data")
    settings = loaded.validate_section(loaded.settings.bridges["matrix"], MatrixSettings, "bridges.matrix")
    assert (settings.homeserver, settings.user) == (synapse.url, account.user_id)
    assert settings.invitations == Invitations(people=("@ana:home.test",), servers=("example.org",), rooms=("!r",))
    devices = await account.call("GET", "v3/devices")
    assert len(devices["devices"]) == 1, "the check left a session behind"
    again = await run(synapse, tmp_path, "", account.password)
    assert "Written" in again


async def test_a_password_that_never_fits_writes_nothing(synapse: Synapse, tmp_path: Path) -> None:
    account = await synapse.person("isthmus")
    with pytest.raises(SetupFailed, match="no password was taken"):
        await run(synapse, tmp_path, account.user_id, "a", "b", "c")
    assert not (tmp_path / "plugins.toml").exists()


async def test_the_doctor_tells_what_is_wrong(synapse: Synapse) -> None:
    account = await synapse.person("isthmus")
    (line,) = await MatrixBridge(settings_of(synapse, account)).health()
    assert line.state == "ok"
    closed = await MatrixBridge(settings_of(synapse, account, invitations=Invitations())).health()
    assert [each.state for each in closed] == ["ok", "warn"]
    away = settings_of(synapse, account).model_copy(update={"homeserver": "http://127.0.0.1:9"})
    (line,) = await MatrixBridge(away).health()
    assert (line.state, bool(line.remedy)) == ("fail", True)
