"""A chat model as the loop uses it: one request at a time, read whole, with every limit kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from agent.models.errors import BlockedReply, EmptyReply
from agent.models.usage import Usage
from agent.text import clean

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponseStreamEvent
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings

    from agent.tools import Tool

CHARACTERS_A_TOKEN: Final = 4
"""For the estimate that stands in where a server reports no usage."""
EVENTS_AT_ONCE: Final = 32
"""How much of a stream that arrives all at once is read before other turns get the event loop again."""


@cache
def preload() -> None:
    """Import and build what a request needs, so that the first turn does not hold up the event loop (0.5 s, once)."""
    import pydantic_ai.direct
    import pydantic_ai.tools  # noqa: F401 - imported for its effect
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    # The adapter is built at its first use, which takes 0.1 s.
    ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json([]))


async def _nothing() -> None:
    """Close nothing."""


@dataclass(frozen=True, slots=True)
class ChatModel:
    """One model of one provider, ready to be asked."""

    name: str
    """As the settings name it; under this name its usage is counted."""
    model: Model
    settings: ModelSettings = field(default_factory=lambda: cast("ModelSettings", {}))
    streams: bool = True
    """Whether answers are streamed on the wire, so that a stall and a broken answer are noticed."""
    takes_images: bool = False
    """Whether it is shown the pictures that come with a message."""
    cache_point: bool = False
    """Whether the prompt marks where the part that may be cached ends."""
    idle_seconds: float = 30.0
    """Longest silence within a streamed answer, once it has begun."""
    request_seconds: float = 60.0
    """Longest time of one request."""
    response_chars: int = 200_000
    """Characters of one answer, thoughts and arguments included, after which reading stops."""
    close: Callable[[], Awaitable[None]] = _nothing
    """Lets go of the provider's connections."""

    async def request(
        self,
        messages: Sequence[ModelMessage],
        tools: Sequence[Tool] = (),
        *,
        may_call: bool = True,
        seconds: float | None = None,
    ) -> ModelResponse:
        """Ask once and return the whole answer.

        Args:
            messages: The conversation so far.
            tools: What the model may call. They are declared even when `may_call` is False, because providers
                refuse a conversation that holds calls of undeclared tools.
            may_call: Whether it may call now.
            seconds: What is left of the turn.

        Raises:
            Exception: whatever the provider's client raises; `agent.models.errors.classify` tells what it means.
            TimeoutError: the answer stalled, or took too long.
            EmptyReply: it holds neither text nor a call.
            BlockedReply: the provider's content filter took it.
        """
        settings = cast("ModelSettings", dict(self.settings))
        if tools and not may_call:
            settings["tool_choice"] = "none"
        limit = self.request_seconds if seconds is None else min(seconds, self.request_seconds)
        ask = self._read_stream if self.streams else self._ask
        async with asyncio.timeout(limit):
            response = await ask(messages, settings, _parameters(tools))
        _refuse_empty(response)
        return response

    async def _ask(
        self, messages: Sequence[ModelMessage], settings: ModelSettings, parameters: ModelRequestParameters
    ) -> ModelResponse:
        from pydantic_ai.direct import model_request

        return await model_request(
            self.model,
            messages,
            model_settings=settings,
            model_request_parameters=parameters,
            instrument=False,
        )

    async def _read_stream(
        self, messages: Sequence[ModelMessage], settings: ModelSettings, parameters: ModelRequestParameters
    ) -> ModelResponse:
        from pydantic_ai.direct import model_request_stream

        opened: AbstractAsyncContextManager[StreamedResponse] = model_request_stream(
            self.model,
            messages,
            model_settings=settings,
            model_request_parameters=parameters,
            instrument=False,
        )
        clock = asyncio.get_running_loop().time
        # Before its first word a model may think for as long as a request may take; then it must go on.
        async with asyncio.timeout(None) as silence, opened as stream:
            events = characters = 0
            async for event in stream:
                silence.reschedule(clock() + self.idle_seconds)
                events += 1
                if not events % EVENTS_AT_ONCE:
                    await asyncio.sleep(0)
                characters += _characters(event)
                if characters > self.response_chars:
                    await stream.cancel()
                    break
            return stream.get()


def _parameters(tools: Sequence[Tool]) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name, description=tool.description, parameters_json_schema=_schema(tool.parameters)
            )
            for tool in tools
        ]
    )


@lru_cache(maxsize=256)
def _schema(parameters: type[BaseModel]) -> dict[str, Any]:
    from pydantic_ai.tools import GenerateToolJsonSchema

    return parameters.model_json_schema(schema_generator=GenerateToolJsonSchema)


def _characters(event: ModelResponseStreamEvent) -> int:
    """Return how much an event adds to the answer."""
    piece: object = getattr(event, "delta", None)
    if event.event_kind == "part_start":
        piece = event.part
    fields = ("content", "content_delta", "args", "args_delta")
    return sum(len(text) for name in fields if isinstance(text := getattr(piece, name, None), str))


def _refuse_empty(response: ModelResponse) -> None:
    if response.tool_calls or text_of(response):
        return
    raise BlockedReply if response.finish_reason == "content_filter" else EmptyReply


def text_of(response: ModelResponse) -> str:
    """Return what the model says in an answer, without its thoughts, control characters and outer white space."""
    return clean(response.text or "").strip()


def usage_of(response: ModelResponse, prompt_characters: int) -> Usage:
    """Return the usage of one answer: as reported, else estimated from the characters."""
    reported = response.usage
    if reported.input_tokens or reported.output_tokens:
        return Usage(1, reported.input_tokens, reported.cache_read_tokens, reported.output_tokens)
    said = len(text_of(response)) + sum(len(call.args_as_json_str()) for call in response.tool_calls)
    return Usage(1, prompt_characters // CHARACTERS_A_TOKEN, 0, said // CHARACTERS_A_TOKEN + 1)
