"""A turn that begins after a commit, in any process, never sees the state before it (memory.md, Caches)."""

import pytest

from tests.plugins.memory.interleavings import two_processes

pytestmark = pytest.mark.unwatched_loop  # the other process takes its time to start


@pytest.mark.parametrize(("seed", "listens"), [(1, True), (2, False)])
async def test_two_processes_in_random_orders(database_url: str, seed: int, listens: bool) -> None:
    async with two_processes(database_url, seed, listens=listens) as interleavings:
        await interleavings.run(150)
    counts = interleavings.counts
    assert counts["interleavings"] == 150
    # It was tried what matters: turns beside commits and loads, commits that nobody heard of, listeners that died.
    assert min(counts[what] for what in ("changed_meanwhile", "began_during_load", "not_told")) > 30
    assert (counts["listeners_died"] > 0) == listens
