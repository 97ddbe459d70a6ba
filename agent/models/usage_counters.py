"""The counters of tokens and costs: one row a server, day (UTC) and model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from agent.models.usage import Usage
from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.tools import Connection

QUERIES = load_queries("agent.models", "usage.sql")


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What one model was used for."""

    model: str
    usage: Usage
    cost_micros: int
    """Millionths of the unit in which the operator gave the prices."""


def day_of(now: datetime) -> date:
    """Return the day under which a moment is counted."""
    return now.astimezone(UTC).date()


async def add(conn: Connection, server_id: int, now: datetime, used: ModelUsage) -> None:
    """Count what a turn has used; turns that failed are counted too."""
    usage = used.usage
    if not usage.requests:
        return
    await conn.execute(
        QUERIES["add_usage"],
        server_id,
        day_of(now),
        used.model,
        usage.requests,
        usage.input_tokens,
        usage.output_tokens,
        used.cost_micros,
    )


async def spent(conn: Connection, server_id: int, now: datetime) -> int:
    """Return what a server has cost on the day of `now`, in millionths."""
    micros: int = await conn.fetchval(QUERIES["spent_micros"], server_id, day_of(now))
    return micros


async def by_model(conn: Connection, server_id: int, since: date) -> tuple[ModelUsage, ...]:
    """Return what a server has used since a day, by model; the cached share is not kept."""
    rows = await conn.fetch(QUERIES["usage_by_model"], server_id, since)
    return tuple(
        ModelUsage(
            row["model"],
            Usage(row["requests"], row["input_tokens"], 0, row["output_tokens"]),
            row["cost_micros"],
        )
        for row in rows
    )
