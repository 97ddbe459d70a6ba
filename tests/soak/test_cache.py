"""Ten thousand random orders of commits, turns and loads over two processes."""

from __future__ import annotations

import pytest

from tests.plugins.memory.interleavings import two_processes
from tests.soak.record import keep

INTERLEAVINGS = 10_000


@pytest.mark.unwatched_loop
async def test_ten_thousand_interleavings(database_url: str) -> None:
    async with two_processes(database_url, seed=3) as interleavings:
        await interleavings.run(INTERLEAVINGS)
    keep("cache", dict(interleavings.counts))
    assert interleavings.counts["interleavings"] == INTERLEAVINGS
