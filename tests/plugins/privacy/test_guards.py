"""Whoever guards memories refuses by failing: each way to write or to show one is closed then."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import pytest_asyncio

from agent.contracts.memory import MemoryScope, MemorySource, MemoryWrite, MemoryWritten, Origin, WriteKind
from agent.hookspecs import HOOKS
from agent.places import Audience
from agent.testing.app import running_agent
from tests.clocks import ManualClock
from tests.plugins.privacy import broken_guard
from tests.plugins.privacy.conftest import ANA, BEN, GENERAL, HOME, MAX, NOW, SETTINGS, House

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

MODULE = "tests.plugins.privacy.broken_guard"
FAILURES = ("raises", "is late", "talks nonsense")
WRITES = ("guard_memory_write", "recheck_memory_write")


@pytest.fixture(autouse=True)
def obedient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is broken yet; what is late is given up soon."""
    for hook in ("guard_memory_read", *WRITES):
        monkeypatch.setitem(HOOKS, hook, replace(HOOKS[hook], deadline=0.1))
    broken_guard.HOW.clear()
    broken_guard.ASKED.clear()
    yield
    broken_guard.HOW.clear()


@pytest_asyncio.fixture
async def house(database_url: str) -> AsyncIterator[House]:
    clock = ManualClock(NOW)
    guarded = {"broken_guard": {"module": MODULE}, **SETTINGS["plugins"]}
    settings = {"plugins": guarded, "agent": {"embeddings": "local"}}
    async with running_agent(database_url, settings, clock=clock) as agent:
        yield House(agent, clock)


@dataclass(frozen=True)
class Given:
    """A file as a bridge hands it to a command."""

    content: bytes
    name: str = "memories.json"

    async def read(self, limit: int) -> bytes:
        assert len(self.content) <= limit
        return self.content


async def contents(house: House) -> set[str]:
    rows = await house.rows("SELECT content FROM server_memories UNION SELECT content FROM personal_memories")
    return {row["content"] for row in rows}


async def bio_seed(house: House) -> MemoryWritten:
    """Save as the plugin that learns from profiles does."""
    (place, account) = await entrance(house)
    source = MemorySource("console", place, None, None, None, "bio", account.account_id, house.clock.now())
    write = MemoryWrite(
        WriteKind.CREATE,
        MemoryScope.PERSONAL,
        place,
        account.user_id,
        1,
        "{user} seeds",
        Audience.OPEN,
        Origin.BIO,
        source,
        subject_account_id=account.account_id,
        subject_user_id=account.user_id,
    )
    written = await house.agent.core.hooks.first("write_memory", write=write)
    assert isinstance(written, MemoryWritten)
    return written


async def entrance(house: House) -> tuple[int, Any]:
    entered = await house.agent.core.people.enter(HOME, GENERAL, ANA, house.clock.now())
    return entered.place.server.server_id, entered.account


async def every_write(house: House, memory_id: int) -> None:
    """Try to write in each way that there is."""
    for target in (None, "me", "Ben"):
        result, cards = await house.remember(f"new for {target}", target)
        assert (result.status.startswith("memory_save_failed"), cards) == (True, ()), result
    arguments = {"memory_id": memory_id, "memory_content": "changed by the model", "target_user": None}
    changed, _ = await house.agent.call_tool("update_long_term_memory", json.dumps(arguments), HOME, GENERAL, ANA)
    assert "failed" in changed.status, changed
    for path, who, options in (
        (("memories", "add"), MAX, {"text": "added"}),
        (("memories", "edit"), MAX, {"id": memory_id, "text": "edited"}),
        (("personal", "memories", "add"), ANA, {"text": "added"}),
        (("personal", "global", "add"), ANA, {"text": "added"}),
    ):
        reply = await house.agent.run_command(path, options, HOME, GENERAL, who)
        assert not reply.ok, (path, reply)
    file = {"format": "isthmus-memories", "version": 1, "server_memories": [{"content": "imported"}]}
    await house.agent.run_command(
        ("memories", "import"), {"file": Given(json.dumps(file).encode())}, HOME, GENERAL, MAX
    )
    assert (await bio_seed(house)).memory_id is None


@pytest.mark.parametrize("how", FAILURES)
@pytest.mark.parametrize("hook", WRITES)
async def test_nothing_is_written_when_a_guard_fails(house: House, hook: str, how: str) -> None:
    await house.meet(ANA, BEN, MAX)
    kept, _ = await house.remember("the club meets on friday")
    before = await contents(house)
    broken_guard.HOW[hook] = how
    await every_write(house, int(str(kept.data["memory_id"])))
    assert await contents(house) == before
    assert hook in broken_guard.ASKED
    gone = {"memory_id": kept.data["memory_id"], "memory_content": "", "target_user": None}
    deleted, _ = await house.agent.call_tool("update_long_term_memory", json.dumps(gone), HOME, GENERAL, ANA)
    assert deleted.status == "memory_deleted_successfully"  # a deletion is never refused
    broken_guard.HOW.clear()
    assert (await bio_seed(house)).memory_id is not None
    assert "{user} seeds" in await contents(house)


async def shown(house: House, memory_id: int) -> dict[str, str]:
    """Return what is shown in each way that there is."""
    found = {"context": await house.prompt(BEN, "hello ana")}
    house.wait(days=40)  # then nothing but recall brings it into a prompt
    found["recall"] = await house.prompt(BEN, "what does ana say of the marzipan, and where is the telescope?")
    for name, who, path, options in (
        ("list", MAX, ("memories", "list"), {}),
        ("search", MAX, ("memories", "search"), {"text": "telescope"}),
        ("why", MAX, ("memories", "why"), {"id": memory_id}),
        ("file", MAX, ("memories", "export"), {}),
        ("own list", ANA, ("personal", "memories", "list"), {}),
        ("own file", ANA, ("personal", "memories", "export"), {}),
        ("own search", ANA, ("personal", "memories", "search"), {"text": "marzipan"}),
    ):
        reply = await house.agent.run_command(path, options, HOME, GENERAL, who)
        found[name] = reply.text if reply.file is None else reply.file.content.decode()
    house.wait(days=-40)
    return {
        name: text.replace("what does ana say of the marzipan, and where is the telescope?", "")
        for name, text in found.items()
    }


@pytest.mark.parametrize("how", FAILURES)
async def test_nothing_is_shown_when_a_guard_fails(house: House, how: str) -> None:
    await house.meet(ANA, BEN, MAX)
    kept, _ = await house.remember("the telescope stands in the attic", who=BEN)
    await house.remember("{user} likes marzipan", "me")
    await house.agent.core.embedding_worker.idle()
    memory_id = int(str(kept.data["memory_id"]))
    open_ = await shown(house, memory_id)
    missing = [name for name, text in open_.items() if "telescope" not in text and "marzipan" not in text]
    assert missing == []
    broken_guard.HOW["guard_memory_read"] = how
    closed = await shown(house, memory_id)
    assert {
        name: text for name, text in closed.items() if "stands in the attic" in text or "likes marzipan" in text
    } == {}
