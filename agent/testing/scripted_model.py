"""A scripted model for tests: queued answers and tool calls, no latency, and a record of what it was asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from agent.models.chat import ChatModel, preload

preload()


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """One call of a tool; arguments given as text are sent as they are, malformed or not."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request as the model got it."""

    messages: tuple[ModelMessage, ...]
    tools: tuple[str, ...]
    """What was declared."""
    may_call: bool

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts of the prompt and the results of tools, in order."""
        found: list[str] = []
        for message in self.messages:
            for part in message.parts:
                if isinstance(part, SystemPromptPart | ToolReturnPart):
                    found.append(str(part.content))
                elif isinstance(part, UserPromptPart):
                    pieces = [part.content] if isinstance(part.content, str) else part.content
                    found += [piece for piece in pieces if isinstance(piece, str)]
        return tuple(found)


type Step = str | ScriptedCall | tuple[str | ScriptedCall, ...] | Exception
"""An answer, a call, several of both in one response, or what the request raises."""


class ScriptExhausted(AssertionError):
    """The model was asked more often than the script says."""


class ScriptedModel:
    """Queue steps, hand `chat` to whatever wants a model, then look at `requests`.

    Example::

        model = ScriptedModel(ScriptedCall("add", {"a": 1, "b": 2}), "That makes 3.")
    """

    def __init__(self, *steps: Step, default: Step | Callable[[SeenRequest], Step] | None = None) -> None:
        self.steps: deque[Step] = deque(steps)
        self.requests: list[SeenRequest] = []
        self._default = default

    def say(self, *steps: Step) -> ScriptedModel:
        """Add steps to the script."""
        self.steps.extend(steps)
        return self

    @property
    def chat(self) -> ChatModel:
        """Return the model as the agent takes it."""
        return ChatModel(name="scripted", model=FunctionModel(self._respond, model_name="scripted"), streams=False)

    async def _respond(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        may_call = (info.model_settings or {}).get("tool_choice") != "none"
        request = SeenRequest(tuple(messages), tuple(tool.name for tool in info.function_tools), may_call)
        self.requests.append(request)
        step = self._next(request)
        if isinstance(step, Exception):
            raise step
        parts: list[TextPart | ToolCallPart] = []
        for piece in step if isinstance(step, tuple) else (step,):
            if isinstance(piece, str):
                parts.append(TextPart(piece))
                continue
            arguments = piece.arguments if isinstance(piece.arguments, str) else dict(piece.arguments)
            call_id = piece.call_id or f"scripted_{len(self.requests)}_{len(parts)}"
            parts.append(ToolCallPart(piece.name, arguments, call_id))
        return ModelResponse(parts=parts, usage=RequestUsage(input_tokens=10, output_tokens=5))

    def _next(self, request: SeenRequest) -> Step:
        if self.steps:
            return self.steps.popleft()
        if self._default is None:
            raise ScriptExhausted(f"the script has no step for request {len(self.requests)}")
        return self._default(request) if callable(self._default) else self._default
