"""The loop of one turn: ask the model, run what it calls, one by one and in order, until it answers.

Each tool gets an `Effect`. Calling it inside the tool's own transaction writes a checkpoint: the loop's messages up to
and with that call's result. A turn that is begun again loads the last checkpoint and goes on behind it, so that what
took effect is never run a second time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from agent import metrics
from agent.clock import short_id
from agent.logs import get_logger
from agent.models.chat import ChatModel, text_of, usage_of
from agent.models.errors import FailureKind, ModelFailed
from agent.models.retry import Retries
from agent.models.usage import Usage
from agent.models.wire import to_messages, wire_prompt
from agent.text import clip
from agent.tool_runner import run_tool
from agent.tools import Effect, Json, Tool, ToolContext, ToolResult, TurnLost
from agent.trace import TraceKind
from agent.turn.loop_messages import (
    dump_messages,
    load_messages,
    open_calls,
    result_part,
    results_of,
    shown_arguments,
    tidy,
)
from agent.turn.loop_values import LoopLimits, LoopResult, StopReason, TurnFailed

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart

    from agent.clock import Clock, Ids
    from agent.contracts.cards import Card
    from agent.contracts.context import Prompt
    from agent.tools import Connection
    from agent.turn.ledger import Ledger

type Context = Callable[[str, Effect], ToolContext]
"""Makes the context of one call from the tool's name and its effect."""
type Report = Callable[[TraceKind, Mapping[str, Any]], None]
"""Told of each call and result, in order; the turn adds its own ids."""

UNKNOWN_TOOL: Final = "unknown_tool"
CALL_LIMIT: Final = "call_limit_reached"

_log = get_logger(__name__)

metrics.declare("model_request_seconds", "histogram", ("model",), "Time of the requests that a model answered.")
metrics.declare("model_tokens", "counter", ("model", "direction"), "Tokens, input and output.", level="debug")


async def run_loop(  # noqa: PLR0913 - everything of the outer world is passed in
    model: ChatModel,
    prompt: Prompt,
    tools: Sequence[Tool],
    *,
    context: Context,
    ledger: Ledger,
    limits: LoopLimits,
    clock: Clock,
    ids: Ids,
    watch: Report,
    retries: Retries | None = None,
) -> LoopResult:
    """Return the model's answer to a prompt, having run what it called.

    Raises:
        TurnFailed: there is no answer; its error id stands in the log.
        TurnLost: a tool or the ledger found that the turn is no longer this worker's.
        asyncio.CancelledError: the turn was stopped.
    """
    wire = wire_prompt(prompt, max(limits.wire_messages - 2 * limits.calls, limits.wire_messages // 2))
    asked = to_messages(wire, cache_point=model.cache_point)
    loop = _Loop(
        model=model,
        tools={tool.name: tool for tool in tools},
        context=context,
        ledger=ledger,
        limits=limits,
        clock=clock,
        ids=ids,
        watch=watch,
        retries=retries or Retries(),
        prompt=asked,
        prompt_chars=wire.characters,
        deadline=clock.monotonic() + limits.seconds,
        calls_allowed=min(limits.calls, max(0, (limits.wire_messages - len(asked)) // 2)),
    )
    return await loop.run()


@dataclass(slots=True, kw_only=True)
class _Loop:
    model: ChatModel
    tools: Mapping[str, Tool]
    context: Context
    ledger: Ledger
    limits: LoopLimits
    clock: Clock
    ids: Ids
    watch: Report
    retries: Retries
    prompt: list[ModelMessage]
    prompt_chars: int
    deadline: float
    calls_allowed: int
    messages: list[ModelMessage] = field(default_factory=list)
    """What came after the prompt; the last response may still have calls without a result."""
    results: list[ToolReturnPart] = field(default_factory=list)
    """The results of the last response's calls, so far."""
    usage: Usage = field(default_factory=Usage)
    calls: int = 0
    invalid: int = 0
    spoken: str = ""
    """What the model last said beside its calls."""

    async def run(self) -> LoopResult:
        """Go from the last checkpoint to the answer."""
        self._resume(await self.ledger.load())
        while True:
            await self._run_open_calls()
            if self.usage.total_tokens >= self.limits.tokens:
                return self._stop(StopReason.TOKEN_LIMIT, FailureKind.TOKEN_LIMIT)
            if self._remaining() <= 0:
                return self._stop(StopReason.TIME_LIMIT, FailureKind.TIME_LIMIT)
            may_call = self.calls < self.calls_allowed and self.invalid < self.limits.invalid_calls
            response = await self._ask(may_call=may_call)
            if not response.tool_calls:
                return self._answer(response, StopReason.ANSWERED if may_call else StopReason.CALL_LIMIT)
            self.spoken = text_of(response) or self.spoken
            if not may_call:
                return self._stop(StopReason.CALL_LIMIT, FailureKind.CALL_LIMIT)
            self.messages.append(response)

    def _remaining(self) -> float:
        return self.deadline - self.clock.monotonic()

    def _resume(self, checkpoint: str | None) -> None:
        if checkpoint is None:
            return
        self.messages, self.results = load_messages(checkpoint)
        for message in self.messages:
            if message.kind == "response":
                self.usage += usage_of(message, self.prompt_chars)
                self.spoken = text_of(message) or self.spoken
        self.calls = sum(map(len, map(results_of, self.messages))) + len(self.results)

    async def _ask(self, *, may_call: bool) -> ModelResponse:
        async def request(seconds: float) -> ModelResponse:
            began = self.clock.monotonic()
            answer = await self.model.request(
                [*self.prompt, *self.messages], tuple(self.tools.values()), may_call=may_call, seconds=seconds
            )
            metrics.emit("model_request_seconds", self.clock.monotonic() - began, model=self.model.name)
            return answer

        try:
            response = await self.retries.run(request, self._remaining, self.model.name)
        except ModelFailed as error:
            if self.spoken and error.failure.kind is FailureKind.EMPTY:
                return _empty()
            raise self._failed(error.failure.kind) from error
        used = usage_of(response, self.prompt_chars)
        self.usage += used
        metrics.emit("model_tokens", used.input_tokens, model=self.model.name, direction="input")
        metrics.emit("model_tokens", used.output_tokens, model=self.model.name, direction="output")
        return tidy(response, self.messages, self.ids.new)

    async def _run_open_calls(self) -> None:
        """Run the calls of the last response that have no result, in order; then close them into a message."""
        for call in open_calls(self.messages, self.results):
            if self._remaining() <= 0:
                return
            self.watch(TraceKind.TOOL_CALL, {"name": call.tool_name, "arguments": shown_arguments(call)})
            self.results.append(part := await self._call(call))
            self.calls += 1
            self.watch(TraceKind.TOOL_RESULT, {"name": call.tool_name, "result": json.loads(str(part.content))})
        if self.results:
            from pydantic_ai.messages import ModelRequest

            self.messages.append(ModelRequest(parts=list(self.results)))
            self.results = []

    async def _call(self, call: ToolCallPart) -> ToolReturnPart:
        tool = self.tools.get(call.tool_name)
        if self.calls >= self.calls_allowed:
            return result_part(call, ToolResult(CALL_LIMIT, {"note": "Answer now, without further calls."}))
        if tool is None:
            self.invalid += 1
            known: list[Json] = [*self.tools]
            return result_part(call, ToolResult(UNKNOWN_TOOL, {"known_tools": known}))
        effect = _CallEffect(self, call, self.calls)
        try:
            result = await run_tool(
                tool,
                call.args or "",
                self.context(tool.name, effect),
                ids=self.ids,
                deadline=min(self.limits.tool_seconds, max(self._remaining(), 0.001)),
            )
        finally:
            effect.over = True
        if effect.written not in {"", result.status}:
            # It failed behind its effect: whether that was committed, only the ledger knows.
            return await self._recorded(call) or result_part(call, result)
        if result.status == tool.invalid_status:
            self.invalid += 1
        return result_part(call, result)

    async def _recorded(self, call: ToolCallPart) -> ToolReturnPart | None:
        checkpoint = await self.ledger.load()
        _, results = load_messages(checkpoint) if checkpoint else ([], [])
        return next((part for part in results if part.tool_call_id == call.tool_call_id), None)

    def checkpoint_with(self, call: ToolCallPart, result: ToolResult) -> str:
        """Return the loop's messages up to and with one call's result, as JSON."""
        return dump_messages(self.messages, [*self.results, result_part(call, result)])

    def _answer(self, response: ModelResponse, reason: StopReason) -> LoopResult:
        text = text_of(response) or self.spoken
        if not text:
            raise self._failed(FailureKind.EMPTY)
        is_cut = len(text) > self.limits.reply_chars or response.finish_reason == "length"
        return self._result(text, StopReason.CUT if is_cut and reason is StopReason.ANSWERED else reason)

    def _stop(self, reason: StopReason, kind: FailureKind) -> LoopResult:
        """End calmly with what the model has already said, or fail."""
        if not self.spoken:
            raise self._failed(kind)
        return self._result(self.spoken, reason)

    def _result(self, text: str, reason: StopReason) -> LoopResult:
        return LoopResult(clip(text, self.limits.reply_chars), self.usage, self.calls, reason)

    def _failed(self, kind: FailureKind) -> TurnFailed:
        error_id = short_id(self.ids)
        _log.error("turn_failed", error_id=error_id, kind=kind.value, model=self.model.name, calls=self.calls)
        return TurnFailed(error_id, kind, self.usage, self.calls)


def _empty() -> ModelResponse:
    from pydantic_ai.messages import ModelResponse

    return ModelResponse(parts=[])


@dataclass(slots=True)
class _CallEffect:
    """The effect of one call; over when the call has ended, so that an abandoned tool cannot act any more."""

    loop: _Loop
    call: ToolCallPart
    position: int
    written: str = ""
    """The status that was recorded."""
    over: bool = False

    async def __call__(self, conn: Connection, result: ToolResult, cards: tuple[Card, ...] = ()) -> None:
        if self.over:
            raise TurnLost("the call is over")
        messages = self.loop.checkpoint_with(self.call, result)
        await self.loop.ledger.write(conn, self.position, messages, cards)
        self.written = result.status
