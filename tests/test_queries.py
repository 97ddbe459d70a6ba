"""Every named query of the project is valid SQL against the migrated schema."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.store.pool import Store
from agent.store.queries import parse_queries

ROOT = Path(__file__).parents[1]
FILES = sorted(
    path
    for part in ("agent", "plugins", "bridges")
    for path in (ROOT / part).rglob("*.sql")
    if "migrations" not in path.relative_to(ROOT).parts
)


def test_there_are_files_of_queries() -> None:
    assert FILES


QUERIES = {str(file.relative_to(ROOT)): parse_queries(file.read_text("utf-8"), str(file)) for file in FILES}


@pytest.mark.parametrize("queries", QUERIES.values(), ids=QUERIES)
async def test_each_query_can_be_prepared(queries: Mapping[str, str], store: Store) -> None:
    failures = []
    async with store.connection() as connection:
        for name, statement in queries.items():
            try:
                await connection.execute(f"PREPARE query AS {statement}")
                await connection.execute("DEALLOCATE query")
            except Exception as error:  # noqa: BLE001  # every failure of the file is shown at once
                failures.append(f"{name}: {error}")
    assert failures == []


@pytest.mark.parametrize("queries", QUERIES.values(), ids=QUERIES)
def test_no_query_asks_the_server_for_the_time(queries: Mapping[str, str]) -> None:
    for name, statement in queries.items():
        lowered = statement.lower()
        for clock in ("now()", "current_timestamp", "clock_timestamp", "statement_timestamp", "localtime"):
            assert clock not in lowered, name
