"""`isthmus people links` and `unlink`, on the database of an agent that ran before."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agent.cli.entry import run_command
from tests.agent.linking.conftest import SETTINGS, opened

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts


@pytest_asyncio.fixture
async def linked(database_url: str) -> AsyncIterator[str]:
    async with opened(database_url, SETTINGS) as world:
        await world.linked("discord:ana", "matrix:@ana:home")
        await world.account("console:ben")
    yield database_url


@pytest.fixture
def call(linked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ISTHMUS__DATABASE__URL", linked)
    monkeypatch.setenv("ISTHMUS__AGENT__EMBEDDINGS", "off")
    config = tmp_path / "plugins.toml"
    config.write_text("[plugins.memory]\nenabled = true\n")

    def run(*arguments: str) -> int:
        return run_command(["people", *arguments, "--config", str(config), "--data", str(tmp_path)])

    return run


def test_links_are_listed_and_undone(call: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("links") == 0
    assert "discord:ana (Ana), matrix:@ana:home" in capsys.readouterr().out
    assert call("links", "--json") == 0
    (person,) = json.loads(capsys.readouterr().out)
    assert [account["platform"] for account in person["accounts"]] == ["discord", "matrix"]
    assert person["since"] == "2026-03-01T12:00:00+00:00"

    assert call("unlink", "discord:ana") == 0
    assert "Unlinked: all 0 personal memories stay with Ana (discord:ana)" in capsys.readouterr().out
    assert call("links", "--json") == 0
    assert json.loads(capsys.readouterr().out) == []


def test_unlinking_as_data(call: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("unlink", "matrix:@ana:home", "--json") == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["account"]["platform"], done["went"], done["stayed"]) == ("matrix", 0, 0)


@pytest.mark.parametrize(
    ("account", "said"),
    [
        ("ben", "it is linked to no other account; see: isthmus people links"),
        ("discord:nobody", "nobody of that id or name has been seen"),
        ("discord:", "lacks the id"),
    ],
)
def test_what_cannot_be_unlinked(call: Any, capsys: pytest.CaptureFixture[str], account: str, said: str) -> None:
    assert call("unlink", account) == 2
    assert said in capsys.readouterr().err
