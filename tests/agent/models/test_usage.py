from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from agent.models.usage import Usage, cost_micros
from agent.models.usage_counters import ModelUsage, add, by_model, spent
from agent.settings.model import CostSettings
from agent.store.pool import Store

NOW = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
USAGE = Usage(2, 1_000, 400, 50)


async def new_server(store: Store, name: str) -> int:
    async with store.connection() as conn:
        server_id: int = await conn.fetchval(
            "INSERT INTO servers (platform, external_id, kind, name, created_at) "
            "VALUES ('console', $1, 'guild', $1, $2) RETURNING server_id",
            name,
            NOW,
        )
        return server_id


@pytest.mark.parametrize(
    ("costs", "micros"),
    [
        (None, 0),
        (CostSettings(), 0),
        (CostSettings(input=2.0, output=8.0), 2_400),
        (CostSettings(input=2.0, cached_input=0.5, output=8.0), 1_800),
        (CostSettings(output=0.001), 1),
    ],
)
def test_cost(costs: CostSettings | None, micros: int) -> None:
    assert cost_micros(USAGE, costs) == micros


def test_usages_add_up() -> None:
    assert USAGE + Usage(1, 1, 1, 1) == Usage(3, 1_001, 401, 51)
    assert USAGE.total_tokens == 1_050


async def test_usage_is_counted_by_server_day_and_model(store: Store) -> None:
    home, other = await new_server(store, "home"), await new_server(store, "other")
    tomorrow = NOW + timedelta(hours=1)
    async with store.connection() as conn:
        await add(conn, home, NOW, ModelUsage("one", USAGE, 70))
        await add(conn, home, NOW, ModelUsage("one", USAGE, 30))
        await add(conn, home, NOW, ModelUsage("two", Usage(1, 10, 0, 1), 5))
        await add(conn, home, tomorrow, ModelUsage("one", USAGE, 1))
        await add(conn, other, NOW, ModelUsage("one", USAGE, 1_000))
        await add(conn, other, NOW, ModelUsage("none", Usage(), 0))

        assert await spent(conn, home, NOW) == 105
        assert await spent(conn, home, tomorrow) == 1
        assert await spent(conn, home, NOW - timedelta(days=9)) == 0
        found = await by_model(conn, home, date(2026, 3, 1))
        assert [(each.model, each.usage.requests, each.cost_micros) for each in found] == [
            ("one", 6, 101),
            ("two", 1, 5),
        ]
        assert [each.model for each in await by_model(conn, other, date(2026, 1, 1))] == ["one"]


async def test_days_are_counted_in_utc(store: Store) -> None:
    home = await new_server(store, "home")
    async with store.connection() as conn:
        await add(conn, home, NOW.astimezone(timezone(timedelta(hours=10))), ModelUsage("one", USAGE, 7))
        assert await spent(conn, home, NOW) == 7
