"""The two tools that the model may call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import asyncpg

from agent import logs
from agent.store.errors import StoreError
from agent.tools import Tool, ToolResult, ToolRun
from plugins.memory.creating import create
from plugins.memory.parameters import CreateParameters, UpdateParameters
from plugins.memory.status import Status
from plugins.memory.updating import update

if TYPE_CHECKING:
    from agent.tools import ToolContext
    from plugins.memory.toolbox import Toolbox

_log = logs.get_logger("plugins.memory")

CREATE_DESCRIPTION = (
    "Keep one fact, preference or instruction for later conversations, when somebody asks you to remember it or when "
    "it will plainly matter again. Do not keep what stands in your memories already, small talk, secrets or passwords."
)
UPDATE_DESCRIPTION = (
    "Correct a memory that is no longer right, by its ID, or delete it with empty content when somebody asks you to "
    "forget it or it is no longer true."
)


def memory_tools(toolbox: Toolbox) -> tuple[Tool, ...]:
    """Return both tools."""
    return (
        Tool(
            "create_long_term_memory",
            CREATE_DESCRIPTION,
            CreateParameters,
            _answering(toolbox, create, Status.SAVE_UNAVAILABLE),
            invalid_status=Status.SAVE_INVALID_PARAMETERS,
            owner="memory",
        ),
        Tool(
            "update_long_term_memory",
            UPDATE_DESCRIPTION,
            UpdateParameters,
            _answering(toolbox, update, Status.UPDATE_UNAVAILABLE),
            invalid_status=Status.UPDATE_INVALID_PARAMETERS,
            owner="memory",
        ),
    )


def _answering(
    toolbox: Toolbox, run: Callable[[Toolbox, ToolContext, Any], Awaitable[ToolResult]], unavailable: Status
) -> ToolRun:
    """Return the tool so that a database that is away becomes a result, which the model can tell of."""

    async def answer(context: ToolContext, given: Any) -> ToolResult:
        try:
            return await run(toolbox, context, given)
        except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            _log.warning("memory_tool_unavailable", tool=context.tool_name, error=type(error).__name__)
            note = "The memories cannot be reached now, and it is not certain that anything was kept."
            return ToolResult(unavailable, {"note": note})

    return answer
