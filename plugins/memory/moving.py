"""The memories about somebody who links or unlinks accounts get their new owner; none is lost, merged or rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.store.queries import load_queries
from agent.store.revisions import bump
from agent.turn.values import server_owner

if TYPE_CHECKING:
    from agent.contracts.links import UserMove
    from agent.tools import Connection

QUERIES = load_queries("plugins.memory", "moving.sql")


async def move_memories(conn: Connection, move: UserMove) -> dict[str, int]:
    """Move what a user owns, and what is about that user, within the transaction that links or unlinks.

    Caps are not asked: what is too much stays, and the next save follows the rule of a full shelf. Equal memories of
    both sides stay two rows, because an unlinking takes them apart again.

    Returns:
        How many personal memories `went` and `stayed`.

    """
    await conn.fetch(QUERIES["lock_servers"], move.from_user_id)
    going = [account.account_id for account in move.going]
    went = 0
    if move.to_user_id is not None:
        went = await _move_owned(conn, move, move.to_user_id, going)
    about = (move.from_user_id, move.to_user_id, move.is_whole, going)
    servers = {row["server_id"] for row in await conn.fetch(QUERIES["move_about"], *about)}
    await conn.execute(QUERIES["move_forgotten_about"], *about)
    await bump(conn, map(server_owner, servers))
    return {"went": went, "stayed": await conn.fetchval(QUERIES["stayed"], move.from_user_id)}


async def _move_owned(conn: Connection, move: UserMove, to_user_id: int, going: list[int]) -> int:
    """Move personal memories and their undo copies; return how many memories went."""
    if move.is_whole:
        for user_id, side in ((move.from_user_id, move.going), (to_user_id, move.staying)):
            await conn.execute(QUERIES["mark_side"], user_id, side[0].account_id)
            await conn.execute(QUERIES["mark_forgotten"], user_id, side[0].account_id)
    staying = [account.account_id for account in move.staying]
    platforms = [account.platform for account in move.going]
    values = (move.from_user_id, to_user_id, move.is_whole, going, staying, platforms)
    went = await conn.execute(QUERIES["move_personal"], *values)
    await conn.execute(QUERIES["move_forgotten"], *values)
    return int(went.rpartition(" ")[2])
