import pytest

from agent.doctor import examine
from agent.settings import LoadedSettings
from tests.agent.doctor.conftest import Read
from tests.default_plugins import DEFAULT_PLUGINS

pytestmark = pytest.mark.unwatched_loop  # the first start of an agent imports what it needs

NAMES = ["settings", "data directory", "database", "migrations", "pgvector", "model", "embeddings"]


async def test_everything_is_looked_at(read: Read, database_url: str) -> None:
    lines = await examine(lambda: read(f'[database]\nurl = "{database_url}"'))
    assert [line.name for line in lines] == [*NAMES, *(f"plugin {name}" for name in DEFAULT_PLUGINS), "bridges"]
    assert {line.state for line in lines} == {"ok"}


async def test_broken_settings_are_reported_and_nothing_is_raised(read: Read) -> None:
    lines = await examine(lambda: read("[agent]\nmodle = 1"))
    assert [(line.name, line.state) for line in lines] == [("settings", "fail")]


async def test_without_a_database_the_rest_is_looked_at(read: Read) -> None:
    text = '[database]\nurl = "postgresql://127.0.0.1:9/x"\n[agent]\nmodel = "openai:gpt"\n[bridges.nowhere]\n'
    lines = {line.name: line for line in await examine(lambda: read(text))}
    assert {name for name, line in lines.items() if line.state == "fail"} == {"database", "model", "bridges"}
    assert "OPENAI_API_KEY" in lines["model"].text
    assert "there is no bridge 'nowhere'" in lines["bridges"].text
    assert all(line.remedy for line in lines.values() if line.state != "ok")


async def test_a_check_that_fails_itself_is_a_finding(
    read: Read, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_loaded: LoadedSettings) -> None:
        raise RuntimeError("hunter2")

    monkeypatch.setattr("agent.doctor.providers.model_health", fail)
    lines = {line.name: line for line in await examine(lambda: read(f'[database]\nurl = "{database_url}"'))}
    assert lines["model"].text == "the check itself failed (RuntimeError)"
    assert lines["bridges"].state == "ok"


async def test_a_plugin_speaks_for_itself(read: Read, database_url: str) -> None:
    text = f'[database]\nurl = "{database_url}"\n[plugins.patient]\nmodule = "tests.agent.doctor.patient"\n'
    lines = {line.name: line for line in await examine(lambda: read(text))}
    assert lines["plugin patient"].text == "started"
    assert (lines["patient: fever"].state, lines["patient: fever"].remedy) == ("warn", "drink tea")


async def test_a_plugin_that_does_not_start_is_a_finding(read: Read, database_url: str) -> None:
    text = f'[database]\nurl = "{database_url}"\n[plugins.patient]\nmodule = "tests.agent.doctor.patient"\nill = true\n'
    lines = {line.name: line for line in await examine(lambda: read(text))}
    assert lines["plugins"].state == "fail"
    assert "patient" in lines["plugins"].text
    assert lines["bridges"].state == "ok"
