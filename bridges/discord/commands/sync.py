"""Telling Discord of the commands, only when they have changed."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import nextcord
from nextcord.http import Route

from agent import logs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent.bridge import State
    from bridges.discord.client import DiscordClient
    from bridges.discord.commands.declare import Declaration

log = logs.get_logger(__name__)

DECLARED: Final = "commands:declared"
"""What was declared last, as a digest."""
HELD: Final = "commands:held"
"""What Discord made of it, as a digest of ids and versions."""
PATIENCE: Final = 30.0
"""Seconds that a start waits for it."""


async def synchronise(client: DiscordClient, declaration: Declaration, state: State) -> bool:
    """Replace the commands that Discord has when they are not those declared; tell whether they were replaced.

    A failure is logged: the agent talks without commands, and the next start tries again.
    """
    try:
        async with asyncio.timeout(PATIENCE):
            return await _synchronise(client, declaration, state)
    except nextcord.HTTPException as error:
        log.error("commands_not_declared", status=error.status, code=error.code, reason=error.text[:500])  # noqa: TRY400  # Discord's words say all
    except (aiohttp.ClientError, OSError) as error:
        log.error("commands_not_declared", reason=type(error).__name__)  # noqa: TRY400  # the address holds no news
    return False


async def _synchronise(client: DiscordClient, declaration: Declaration, state: State) -> bool:
    route = {"application_id": client.application_id}
    held = await client.http.request(Route("GET", "/applications/{application_id}/commands", **route))
    kept = await state.below("commands:")
    if kept.get(DECLARED) == declaration.digest and kept.get(HELD) == _digest(held):
        return False
    made = await client.http.request(
        Route("PUT", "/applications/{application_id}/commands", **route), json=list(declaration.payloads)
    )
    await state.put({DECLARED: declaration.digest, HELD: _digest(made)})
    log.info("commands_declared", count=len(declaration.payloads))
    return True


def _digest(commands: Iterable[Mapping[str, Any]]) -> str:
    """Return a digest of which commands there are, each in which version: Discord numbers every change."""
    seen = sorted(f"{command['id']}:{command.get('version')}" for command in commands)
    return hashlib.sha256("\n".join(seen).encode()).hexdigest()
