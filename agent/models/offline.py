"""The offline model: an honest stand-in for trying the agent without a key.

It is no language model but a small set of rules (`offline_rules`). It stands behind the same interface as every other
model, uses the same tool loop, and reads nothing but the prompt. Its own words are English only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from agent.models.chat import CHARACTERS_A_TOKEN, ChatModel
from agent.models.offline_rules import Call, answer
from agent.models.offline_sight import SeenResult, Sight, look, read_object

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse
    from pydantic_ai.models.function import AgentInfo

NAME: Final = "offline"


def make_offline() -> ChatModel:
    """Return the offline model."""
    from pydantic_ai.models.function import FunctionModel

    return ChatModel(name=NAME, model=FunctionModel(_respond, model_name=NAME), streams=False)


async def _respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.usage import RequestUsage

    may_call = (info.model_settings or {}).get("tool_choice") != "none"
    sight = sight_of(messages, [tool.name for tool in info.function_tools] if may_call else [])
    what = answer(sight)
    part = ToolCallPart(what.tool, dict(what.arguments)) if isinstance(what, Call) else TextPart(what.text)
    said = len(json.dumps(dict(what.arguments)) if isinstance(what, Call) else what.text)
    heard = sum(len(text) for message in messages if message.kind == "request" for text in _texts(message))
    usage = RequestUsage(input_tokens=heard // CHARACTERS_A_TOKEN + 1, output_tokens=said // CHARACTERS_A_TOKEN + 1)
    return ModelResponse(parts=[part], usage=usage)


def sight_of(messages: Sequence[ModelMessage], tools: Iterable[str]) -> Sight:
    """Return what the offline model sees in a conversation."""
    texts = [text for message in messages if message.kind == "request" for text in _texts(message)]
    return look(texts, list(_results(messages)), tools)


def _texts(message: ModelRequest) -> Iterable[str]:
    from pydantic_ai.messages import SystemPromptPart, UserPromptPart

    for part in message.parts:
        if isinstance(part, SystemPromptPart):
            yield part.content
        elif isinstance(part, UserPromptPart):
            yield from [part.content] if isinstance(part.content, str) else filter(_is_text, part.content)


def _is_text(piece: object) -> bool:
    return isinstance(piece, str)


def _results(messages: Sequence[ModelMessage]) -> Iterable[SeenResult]:
    from pydantic_ai.messages import ToolReturnPart

    calls = {
        call.tool_call_id: call for message in messages if message.kind == "response" for call in message.tool_calls
    }
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                call = calls.get(part.tool_call_id)
                arguments = call.args_as_dict() if call else {}
                yield SeenResult(part.tool_name, arguments, read_object(str(part.content)))
