import json
from pathlib import Path
from typing import Any

import pytest

from agent.cli.entry import run_command
from agent.doctor.extensions import plugin_health
from agent.plugin_host import State
from agent.settings import load_settings
from agent.testing.app import running_agent, settings_for_test
from tests.clocks import ManualClock
from tests.plugins.privacy.conftest import ANA, BEN, MAX, NOW, SETTINGS, House

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

WITHOUT: dict[str, Any] = {"plugins": {"memory": {"enabled": True}, "privacy": {"enabled": False}}}


def test_it_is_on_by_default(tmp_path: Path) -> None:
    settings = load_settings(None, {}, tmp_path, tmp_path, data_dir=tmp_path).settings
    assert settings.plugins["privacy"].enabled


async def test_what_was_decided_holds_while_the_plugin_is_off_and_when_it_is_back(database_url: str) -> None:
    clock = ManualClock(NOW)
    async with running_agent(database_url, SETTINGS, clock=clock) as agent:
        house = House(agent, clock)
        await house.meet(ANA, BEN, MAX)
        await house.remember("{user} likes tea", "me")
        await house.run("set", level="partial")
        await house.run("blacklist", "add", who=MAX, person=BEN.key)
        await house.run("switch", who=MAX, name="personal-memories", state=False)
    async with running_agent(database_url, WITHOUT, clock=clock) as agent:
        house = House(agent, clock)
        assert (await house.run("show")).text == "There is no command /privacy show."
        assert "likes tea" not in await house.prompt()
        assert (await house.remember("coffee", "me"))[0].status == "memory_save_failed_disabled"
        assert (await house.remember("coffee", "me", BEN))[0].status == "memory_save_failed_disabled"
        async with agent.core.store.connection() as conn:
            await conn.execute("DELETE FROM server_settings")
        assert (await house.remember("coffee", "me"))[0].status == "memory_save_failed_privacy_restricted"
        assert (await house.remember("coffee", "me", BEN))[0].status == "memory_save_failed_blacklisted"
    async with running_agent(database_url, SETTINGS, clock=clock) as agent:
        house = House(agent, clock)
        assert (await house.run("show")).data["level"] == "partial"  # type: ignore[index]
        assert (await house.run("blacklist", "list", who=MAX)).text == "Ben (console:ben)"


async def test_a_question_that_was_asked_is_still_open_after_a_restart(database_url: str) -> None:
    clock = ManualClock(NOW)
    async with running_agent(database_url, SETTINGS, clock=clock) as agent:
        asked = await House(agent, clock).run("forget-me")
    assert asked.data is not None
    async with running_agent(database_url, SETTINGS, clock=clock) as agent:
        assert (await House(agent, clock).run("forget-me", code=asked.data["code"])).ok


async def test_a_person_is_forgotten_by_memory_when_it_is_switched_on_again(database_url: str) -> None:
    clock = ManualClock(NOW)
    async with running_agent(database_url, SETTINGS, clock=clock) as agent:
        await House(agent, clock).remember("{user} likes tea", "me")
    async with running_agent(database_url, {"plugins": {"privacy": {"enabled": True}}}, clock=clock) as agent:
        house = House(agent, clock)
        asked = await house.run("forget-me")
        assert asked.data is not None
        done = await house.run("forget-me", code=asked.data["code"])
        assert "personal_memories" not in done.data["counts"]  # type: ignore[index]
        assert await house.rows("SELECT content FROM personal_memories") == [{"content": "{user} likes tea"}]
    async with running_agent(database_url, SETTINGS, clock=clock) as agent:
        house = House(agent, clock)
        assert await house.rows("SELECT content FROM personal_memories") == []
        held = json.loads((await house.run("export")).file.content)  # type: ignore[union-attr]
        assert held["erasures"][0]["counts"]["personal_memories"] == 1


@pytest.mark.parametrize("privacy", [True, False])
async def test_the_doctor_warns_when_memory_is_on_and_privacy_off(
    database_url: str, tmp_path: Path, privacy: bool
) -> None:
    loaded = settings_for_test(database_url, SETTINGS if privacy else WITHOUT, data_dir=tmp_path)
    lines = {line.name: line for line in await plugin_health(loaded, ready=True)}
    assert ("memory privacy" in lines) is not privacy
    if not privacy:
        assert lines["memory privacy"].state == "warn"
        assert "privacy is switched off" in lines["memory privacy"].text
        assert lines["memory privacy"].remedy == "set enabled = true in [plugins.privacy]"


async def test_it_starts_alone(database_url: str) -> None:
    async with running_agent(database_url, {"plugins": {"privacy": {"enabled": True}}}) as agent:
        assert [status.state for status in agent.plugins.plugins] == [State.STARTED]
        reply = await House(agent, ManualClock(NOW)).run("switch", who=MAX)
        assert reply.data == {"switches": {"personal-memories": True, "member-access": False}}


@pytest.fixture
def config(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "plugins.toml"
    path.write_text(f'[database]\nurl = "{database_url}"\n[agent]\nembeddings = "off"\n')
    return ["--config", str(path), "--data", str(tmp_path / "data")]


def test_an_operator_exports_forgets_and_sees_who_looked(config: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: str) -> tuple[int, str, str]:
        code = run_command([*words, *config])
        out, err = capsys.readouterr()
        return code, out, err

    save = '{"memory_content": "likes tea", "memory_scope": "target_user", "target_user": "me"}'
    assert run("tools", "call", "create_long_term_memory", save, "--as", "ana")[0] == 0
    code, out, _ = run("privacy", "export", "ana")
    assert (code, json.loads(out)["account"]["external_id"]) == (0, "ana")
    code, out, _ = run("privacy", "audit", "console:ana", "--json")
    assert [(act["act"], act["by_operator"], act["actor"]) for act in json.loads(out)] == [("exported", True, None)]
    assert "\toperator\t" in run("privacy", "audit", "ana")[1]
    code, _, err = run("privacy", "forget", "ana")
    assert (code, "--yes" in err) == (2, True)
    code, out, _ = run("privacy", "forget", "ana", "--yes", "--json")
    assert (code, json.loads(out)["counts"]["personal_memories"]) == (0, 1)
    code, out, _ = run("privacy", "forget", "ana", "--yes")
    assert (code, out.startswith("forgotten at ")) == (0, True)
    assert [act["act"] for act in json.loads(run("privacy", "audit", "ana", "--json")[1])] == ["erased"]
    code, _, err = run("privacy", "export", "nobody")
    assert (code, err) == (2, "isthmus: USER nobody: nobody of that id or name has been seen\n")
