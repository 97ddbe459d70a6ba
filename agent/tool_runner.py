"""Runs one call of a tool: validates its arguments, keeps its time, and turns every failure into a result.

What the model gets back is always data. A traceback goes to the log, under an error id that the result carries.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from agent import metrics
from agent.clock import short_id
from agent.logs import get_logger
from agent.text import clean, clip
from agent.tools import Json, Tool, ToolContext, ToolResult, TurnLost

if TYPE_CHECKING:
    from agent.clock import Ids

TOOL_FAILED: Final = "tool_failed"
DEADLINE: Final = 30.0
"""Seconds that one call may take unless the caller says otherwise."""
CANCEL_GRACE: Final = 2.0
"""Seconds that a cancelled call gets to roll back before it is abandoned."""
MAX_PROBLEMS: Final = 8
MAX_RESULT: Final = 32_000
"""Characters of a result's JSON that the model is shown."""

_log = get_logger(__name__)

metrics.declare(
    "tool_calls", "counter", ("tool", "status"), "Calls of tools, by the status of their answer.", level="debug"
)


class InvalidArguments(ValueError):
    """The arguments do not fit the tool; `problems` says what is wrong, without repeating them."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def validate_arguments(tool: Tool, raw: str | Mapping[str, Any]) -> BaseModel:
    """Return the arguments as the tool's own model.

    Raises:
        InvalidArguments: they are no JSON object, or do not fit the tool's parameters.
    """
    try:
        arguments = (from_json(raw.encode()) if raw.strip() else {}) if isinstance(raw, str) else dict(raw)
    except ValueError as error:
        raise InvalidArguments(f"the arguments are not JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise InvalidArguments(f"the arguments are not a JSON object but {type(arguments).__name__}")
    try:
        return tool.parameters.model_validate(arguments)
    except ValidationError as error:
        raise InvalidArguments(*_problems(error)) from None


def _problems(error: ValidationError) -> list[str]:
    details = error.errors(include_url=False, include_input=False, include_context=False)
    problems = [
        f"{'.'.join(str(part) for part in detail['loc']) or 'arguments'}: {detail['msg']}"
        for detail in details[:MAX_PROBLEMS]
    ]
    return [clip(clean(problem), 200) for problem in problems]


def invalid_result(tool: Tool, error: InvalidArguments) -> ToolResult:
    """Return what the model reads when its arguments do not fit."""
    return ToolResult(tool.invalid_status, {"problems": list(error.problems)})


def shown_result(result: ToolResult) -> dict[str, Json]:
    """Return the result as the model is shown it: a huge one is cut, and says so.

    Raises:
        TypeError, ValueError: the result is no JSON.
    """
    data = result.as_json()
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    if len(text) <= MAX_RESULT:
        return data
    return {"status": result.status, "cut": clip(text, MAX_RESULT), "characters": len(text)}


async def run_tool(
    tool: Tool,
    raw_arguments: str | Mapping[str, Any],
    context: ToolContext,
    *,
    ids: Ids,
    deadline: float = DEADLINE,
) -> ToolResult:
    """Run one call and return its result, whatever the tool does.

    Args:
        tool: What is called.
        raw_arguments: A JSON text or an object; validated against `tool.parameters`.
        context: In which place and for whom it runs.
        ids: Where the error id of a failure comes from.
        deadline: Seconds it may take.

    Raises:
        TurnLost: the turn is no longer this worker's.
        asyncio.CancelledError: the turn was stopped; the call was cancelled first.
    """
    result = await _result(tool, raw_arguments, context, ids, deadline)
    metrics.emit("tool_calls", tool=tool.name, status=result.status)
    return result


async def _result(
    tool: Tool, raw_arguments: str | Mapping[str, Any], context: ToolContext, ids: Ids, deadline: float
) -> ToolResult:
    try:
        arguments = validate_arguments(tool, raw_arguments)
    except InvalidArguments as error:
        return invalid_result(tool, error)
    try:
        result = await _within(tool, arguments, replace(context, tool_name=tool.name), deadline)
        shown_result(result)
    except TurnLost:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a tool raises must end here
        return _failed(tool, error, short_id(ids))
    return result


async def _within(tool: Tool, arguments: BaseModel, context: ToolContext, deadline: float) -> ToolResult:
    """Await the tool in a task of its own, so that one which swallows its cancellation cannot hold the turn."""
    loop = asyncio.get_running_loop()
    task: asyncio.Task[ToolResult] = asyncio.Task(_guarded(tool, arguments, context), loop=loop, eager_start=True)
    try:
        done, _ = await asyncio.wait({task}, timeout=deadline)
    except asyncio.CancelledError:
        await _end(task)
        raise
    if not done:
        await _end(task)
        if task.done() and not task.cancelled() and isinstance(error := task.exception(), TurnLost):
            raise error
        raise TimeoutError(f"no result within {deadline:g} s")
    if task.cancelled():
        raise RuntimeError("the tool cancelled itself")
    return task.result()


async def _end(task: asyncio.Task[ToolResult]) -> None:
    """Cancel the call and let it roll back; what is still running then is abandoned."""
    task.cancel()
    await asyncio.wait({task}, timeout=CANCEL_GRACE)
    if task.done() and not task.cancelled():
        task.exception()  # retrieved, so that asyncio does not report it a second time
    elif not task.done():
        _log.error("tool_abandoned")


async def _guarded(tool: Tool, arguments: BaseModel, context: ToolContext) -> ToolResult:
    try:
        result: object = await tool.run(context, arguments)
    except SystemExit as error:
        # Left alone, it would end the event loop and with it every other turn.
        raise RuntimeError("the tool raised SystemExit") from error
    if not isinstance(result, ToolResult):
        raise TypeError(f"the tool returned {type(result).__name__}, not a ToolResult")
    return result


def failed_result(error_id: str) -> ToolResult:
    """Return what the model reads of a call that failed."""
    return ToolResult(TOOL_FAILED, {"error_id": error_id, "note": "It did not work. Do not say that it did."})


def _failed(tool: Tool, error: Exception, error_id: str) -> ToolResult:
    _log.error("tool_failed", tool=tool.name, plugin=tool.owner, error_id=error_id, exc_info=error)
    return failed_result(error_id)
