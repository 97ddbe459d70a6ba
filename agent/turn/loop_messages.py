"""The loop's messages: written as a checkpoint, read back, and kept tidy."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import from_json

from agent.text import clip
from agent.tool_runner import shown_result
from agent.tools import ToolResult

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart

_SURROGATES: Final = re.compile("[\ud800-\udfff]")
MAX_MALFORMED: Final = 1_000
"""Characters of arguments that are no JSON object; the model is shown its own mistake, but no megabyte of it."""


def dump_messages(messages: Sequence[ModelMessage], results: Sequence[ToolReturnPart]) -> str:
    """Return the messages, with the results so far as their last one, as JSON."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest

    return ModelMessagesTypeAdapter.dump_json([*messages, ModelRequest(parts=list(results))]).decode()


def load_messages(text: str) -> tuple[list[ModelMessage], list[ToolReturnPart]]:
    """Read what `dump_messages` wrote: the messages, and the results of the last response's calls.

    Raises:
        pydantic.ValidationError: it is no such text.
    """
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    messages = ModelMessagesTypeAdapter.validate_json(text)
    return (messages[:-1], results_of(messages[-1])) if messages else ([], [])


def results_of(message: ModelMessage) -> list[ToolReturnPart]:
    """Return the tool results of a message."""
    from pydantic_ai.messages import ToolReturnPart

    return [part for part in message.parts if isinstance(part, ToolReturnPart)]


def open_calls(messages: Sequence[ModelMessage], results: Sequence[ToolReturnPart]) -> list[ToolCallPart]:
    """Return the calls of the last message that have no result yet, in order."""
    if not messages or messages[-1].kind != "response":
        return []
    done = {part.tool_call_id for part in results}
    return [call for call in messages[-1].tool_calls if call.tool_call_id not in done]


def result_part(call: ToolCallPart, result: ToolResult) -> ToolReturnPart:
    """Return a result as the model reads it.

    The content is JSON text, never an object: an object out of untrusted data could pass for an image or a file, which
    the client would then fetch.
    """
    from pydantic_ai.messages import ToolReturnPart

    text = _storable(json.dumps(shown_result(result), ensure_ascii=False))
    return ToolReturnPart(tool_name=call.tool_name, content=text, tool_call_id=call.tool_call_id)


def shown_arguments(call: ToolCallPart) -> Any:
    """Return the arguments as an object where they are one, else the text as it came."""
    if not isinstance(call.args, str):
        return call.args or {}
    try:
        return from_json(call.args) if call.args.strip() else {}
    except ValueError:
        return clip(call.args, MAX_MALFORMED)


def tidy(response: ModelResponse, earlier: Sequence[ModelMessage], new_id: Callable[[], str]) -> ModelResponse:
    """Return an answer that can be kept and continued.

    Every call gets an id of its own: some servers number their calls anew in each answer or give them no id, and a
    result must belong to one call. Arguments become JSON text, malformed ones are cut short. What the database cannot
    hold is replaced.
    """
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    used = {call.tool_call_id for message in earlier if message.kind == "response" for call in message.tool_calls}
    parts = list(response.parts)
    for index, part in enumerate(parts):
        if isinstance(part, ToolCallPart):
            call_id = part.tool_call_id if part.tool_call_id and part.tool_call_id not in used else f"call_{new_id()}"
            used.add(call_id)
            parts[index] = replace(part, tool_call_id=_storable(call_id), args=_arguments_text(part))
        elif isinstance(part, TextPart | ThinkingPart):
            parts[index] = replace(part, content=_storable(part.content))
    return replace(response, parts=parts)


def _arguments_text(call: ToolCallPart) -> str:
    if not isinstance(call.args, str):
        return _storable(json.dumps(call.args or {}, ensure_ascii=False))
    call = replace(call, args=_storable(call.args))
    return malformed if isinstance(malformed := shown_arguments(call), str) else str(call.args)


def _storable(text: str) -> str:
    """Return the text without what PostgreSQL's JSON cannot hold."""
    return _SURROGATES.sub("\ufffd", text.replace("\0", ""))
