"""`isthmus people list`, on the database of an agent that ran before."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agent.cli.entry import run_command
from agent.directory_changes import Member, MemberLeft, MembersSeen
from agent.identity import listing
from agent.identity.arrivals import Arrivals
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.invalidation import Invalidation
from agent.places import ServerRef
from agent.store.pool import ExternalServer, Store
from tests.agent.identity.builders import NOW
from tests.clocks import ManualClock

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

TEA = ServerRef("discord", "100", "Tea House")


@pytest_asyncio.fixture
async def known(database_url: str) -> AsyncIterator[str]:
    async with Store(ExternalServer(database_url)) as store:
        arrivals = Arrivals(store, Invalidation(store), ManualClock(NOW))
        members = [
            Member(ParticipantKind.DISCORD_USER, str(n), f"Ana {n}", f"Global {n}", f"ana.{n}") for n in (1, 2, 3)
        ]
        await arrivals.observe(MembersSeen(TEA, tuple(members)))
        await arrivals.observe(MemberLeft(TEA, ParticipantKey(ParticipantKind.DISCORD_USER, "3")))
        async with store.connection() as conn:
            await conn.execute("UPDATE accounts SET privacy_level = 'full' WHERE external_id = '2'")
            await conn.execute(
                "INSERT INTO server_blacklist SELECT server_id, account_id, $1 FROM servers, accounts "
                "WHERE accounts.external_id = '2'",
                NOW,
            )
    yield database_url


@pytest.fixture
def call(known: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ISTHMUS__DATABASE__URL", known)
    monkeypatch.setenv("ISTHMUS__AGENT__EMBEDDINGS", "off")
    config = tmp_path / "plugins.toml"
    config.write_text("")

    def run(*arguments: str) -> int:
        return run_command(["people", "list", *arguments, "--config", str(config), "--data", str(tmp_path)])

    return run


def test_everybody_is_listed_with_each_name_and_its_source(call: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--server", "tea house", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["server"], shown["page"], shown["pages"], shown["total"]) == ("discord:100", 1, 1, 3)
    first, hidden, gone = shown["people"]
    assert first["names"] == [
        {"source": "guild", "name": "Ana 1"},
        {"source": "global", "name": "Global 1"},
        {"source": "username", "name": "ana.1"},
        {"source": "handle", "name": "@{ana_1}"},
    ]
    assert (first["key"], first["privacy"], first["is_member"], first["blacklisted"]) == (
        "discord_user:1",
        "none",
        True,
        False,
    )
    assert (hidden["privacy"], hidden["blacklisted"]) == ("full", True)
    assert (gone["is_member"], [each["source"] for each in gone["names"]]) == (False, ["global", "username"])


def test_a_large_server_has_pages(
    call: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGE", 2)
    assert call("--server", "discord:100", "--page", "2") == 0
    printed = capsys.readouterr()
    assert {line.split("\t")[0] for line in printed.out.splitlines()} == {"discord_user:3"}
    assert "page 2 of 2, 3 people" in printed.err
    assert call("--server", "discord:100", "--page", "3") == 2
    assert "--page 3: Tea House has 2" in capsys.readouterr().err
    assert call("--page", "0") == 2


def test_a_server_that_nobody_has_entered(call: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--server", "nowhere") == 2
    assert "nobody has been seen there" in capsys.readouterr().err
