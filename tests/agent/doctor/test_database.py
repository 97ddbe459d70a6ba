import asyncio
from pathlib import Path

import pytest

from agent.doctor.database import database_health
from agent.hookspecs import Health
from agent.store.connect import connect
from agent.testing.database import DatabaseCluster
from tests.agent.doctor.conftest import Read


def by_name(lines: tuple[Health, ...]) -> dict[str, Health]:
    assert all(line.remedy for line in lines if line.state != "ok")
    return {line.name: line for line in lines}


async def test_a_database_at_todays_schema(read: Read, database_url: str) -> None:
    found = await database_health(read(f'[database]\nurl = "{database_url}"'))
    assert found.ready
    lines = by_name(found.lines)
    assert {line.state for line in found.lines} == {"ok"}
    assert lines["database"].text.startswith("PostgreSQL ")
    assert "core 0" in lines["migrations"].text


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("unsupported", "1 on platforms that cannot delete what was sent"),
        ("failed", "1 whose deletion was refused"),
        ("pending", "1 waiting for their bridge"),
        ("sent", ""),
    ],
)
async def test_notices_that_should_be_gone_are_told_of(read: Read, database_url: str, state: str, said: str) -> None:
    connection = await connect(database_url)
    await connection.execute(
        "INSERT INTO outbox (key, kind, platform, channel, state, worker, message_id, created_at)"
        " VALUES ('k', 'withdraw', 'fake', 'c', $1, 0, 'm', 'epoch')",
        state,
    )
    await connection.close()
    found = by_name((await database_health(read(f'[database]\nurl = "{database_url}"'))).lines)
    text = found["notices"].text if "notices" in found else ""
    assert text == (f"withdrawn, and still standing: {said}" if said else "")


async def test_a_new_database_is_no_fault(read: Read, postgres_cluster: DatabaseCluster) -> None:
    with await asyncio.to_thread(postgres_cluster.fresh) as url:
        found = await database_health(read(f'[database]\nurl = "{url}"'))
    assert not found.ready
    assert by_name(found.lines)["migrations"].text.startswith("a new database")


async def test_an_older_schema_says_how_to_mend_it(read: Read, database_url: str) -> None:
    connection = await connect(database_url)
    await connection.execute("UPDATE alembic_version_core SET version_num = '0001'")
    await connection.close()
    found = await database_health(read(f'[database]\nurl = "{database_url}"'))
    line = by_name(found.lines)["migrations"]
    assert (line.state, line.remedy, found.ready) == ("warn", "isthmus migrate", False)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE alembic_version_core SET version_num = '9999'", "9999"),
        ("DROP TABLE alembic_version_core", "something else"),
    ],
)
async def test_a_database_that_is_not_ours_to_touch(read: Read, database_url: str, statement: str, said: str) -> None:
    connection = await connect(database_url)
    await connection.execute(statement)
    await connection.close()
    found = await database_health(read(f'[database]\nurl = "{database_url}"'))
    line = by_name(found.lines)["migrations"]
    assert line.state == "fail"
    assert said in line.text
    assert not found.ready


async def test_a_database_that_does_not_answer(read: Read) -> None:
    found = await database_health(read('[database]\nurl = "postgresql://u:hunter2@127.0.0.1:9/x"'))
    lines = by_name(found.lines)
    assert lines["database"].state == "fail"
    assert "127.0.0.1:9" in lines["database"].text
    assert "hunter2" not in str(found.lines)
    assert {lines["migrations"].state, lines["pgvector"].state} == {"warn"}


@pytest.mark.parametrize("value", ["", "mysql://x"])
async def test_an_address_that_is_none_is_not_quoted(read: Read, value: str) -> None:
    found = await database_health(read('[database]\nurl = "env:DB"', {"DB": value}))
    assert by_name(found.lines)["database"].state == "fail"
    assert "mysql" not in str(found.lines)


async def test_an_embedded_database_that_cannot_run(read: Read, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "postgres").mkdir()
    (tmp_path / "data" / "postgres" / "PG_VERSION").write_text("9.6\n")
    found = await database_health(read())
    line = by_name(found.lines)["database"]
    assert line.state == "fail"
    assert "9.6" in line.text
