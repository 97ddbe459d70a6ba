"""Memories as operators see them: the rows as data."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from agent.privacy.audit import Act, Look
from agent.store.queries import load_queries
from plugins.memory.rules import is_dormant

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    import asyncpg

    from agent.privacy.audit import Audit
    from agent.store.pool import Store

QUERIES = load_queries("plugins.memory", "cli.sql")


async def memories(
    store: Store,
    wanted: tuple[int | None, int | None, int | None, int | None],
    now: datetime,
    decay_days: int | None,
) -> list[dict[str, Any]]:
    """Return memories as data, by id; `wanted`: server, user, id of a memory, lineage. None as days: none sleeps."""
    async with store.connection() as conn:
        rows = await conn.fetch(QUERIES["memories"], *wanted)
    return [_as_data(row, now, decay_days) for row in rows]


async def user_of(store: Store, account_id: int) -> int | None:
    """Return the user of an account."""
    async with store.connection() as conn:
        found: int | None = await conn.fetchval(QUERIES["user_of"], account_id)
    return found


async def counts(
    store: Store, wanted: tuple[int | None, int | None, int | None], now: datetime, decay_days: int
) -> list[dict[str, Any]]:
    """Return counts by scope; `wanted`: server, user, lineage, each None for all."""
    async with store.connection() as conn:
        return [dict(row) for row in await conn.fetch(QUERIES["stats"], *wanted, now, decay_days)]


async def record_looks(audit: Audit, found: Iterable[dict[str, Any]], via: str, now: datetime) -> None:
    """Write down, for the people whom memories are about, that an operator looked."""
    about = Counter(
        (one["subject_account_id"], one["user_id"] or one["subject_user_id"])
        for one in found
        if one["subject_account_id"] or one["user_id"] or one["subject_user_id"]
    )
    looks = [Look(Act.READ, via, None, None, account, user, count) for (account, user), count in about.items()]
    await audit.record(looks, now)


def _as_data(row: asyncpg.Record, now: datetime, decay_days: int | None) -> dict[str, Any]:
    reinforced, created = row["last_reinforced_at"], row["created_at"]
    return {
        "memory_id": row["memory_id"],
        "scope": row["scope"],
        "server": row["server"],
        "user_id": row["user_id"],
        "persona_lineage_id": row["persona_lineage_id"],
        "content": row["content"],
        "age_days": max((now - created).days, 0),
        "dormant": decay_days is not None and is_dormant(reinforced, created, now, decay_days),
        "protected": row["manually_written"],
        "audience": row["audience"],
        "channels": list(row["channel_disc_ids"]),
        "channels_pending": row["channel_scope_pending"],
        "channel_names_pending": list(row["legacy_channel_scope_tags"]),
        "tags": list(row["tags"]),
        "origin": row["origin"],
        "subject_account_id": row["subject_account_id"],
        "subject_user_id": row["subject_user_id"],
        "author": row["author"],
        "author_account_id": row["author_account_id"],
        "platform": row["source_platform"],
        "channel": row["channel"] or row["source_channel_id"],
        "message_id": row["source_message_id"],
        "turn_id": row["source_turn_id"],
        "tool": row["source_tool"],
        "last_reinforced_at": None if reinforced is None else reinforced.isoformat(),
        "created_at": created.isoformat(),
        "updated_at": row["updated_at"].isoformat(),
        "version": row["version"],
    }
