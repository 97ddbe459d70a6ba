"""What the loop is tried with: a place, a clock, tools that count their runs, and a ledger that can roll back."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

from pydantic import BaseModel

from agent.contracts.cards import Card
from agent.contracts.context import ContextItem, Prompt, Role, Section, Tag
from agent.contracts.people import Account, Persona, PrivacyLevel, Speaker
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.models.chat import ChatModel
from agent.models.retry import Retries
from agent.places import Channel, ChannelRef, Place, Server, ServerRef
from agent.testing.scripted_model import ScriptedModel
from agent.tools import Effect, Tool, ToolContext, ToolResult, TurnLost
from agent.trace import TraceKind
from agent.turn.loop import run_loop
from agent.turn.loop_values import LoopLimits, LoopResult

NO_CONNECTION: Any = None
"""The ledger here needs none."""
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PROMPT = Prompt(
    (
        ContextItem(Tag.PERSONA, Role.SYSTEM, Section.PREFIX, "You are Isthmus."),
        ContextItem(Tag.MESSAGE, Role.USER, Section.TAIL, '{"from": "Ana", "handle": "ana", "text": "add them"}'),
    )
)


class Ids:
    def __init__(self) -> None:
        self._numbers = count(1)

    def new(self) -> str:
        return f"id{next(self._numbers)}"


class Clock:
    """Goes on by itself; `ahead` moves it."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time() + self.ahead


class Ledger:
    """Checkpoints in memory. What is written is kept only when `commit` is called, as a transaction's is."""

    def __init__(self) -> None:
        self.checkpoint: str | None = None
        self.positions: list[int] = []
        self.cards: list[Card] = []
        self.lost = False
        self._pending: tuple[int, str, tuple[Card, ...]] | None = None

    async def load(self) -> str | None:
        return self.checkpoint

    async def write(self, conn: Any, position: int, messages: str, cards: tuple[Card, ...]) -> None:
        if self.lost:
            raise TurnLost("another worker has it")
        self._pending = (position, messages, cards)

    def commit(self) -> None:
        assert self._pending is not None
        position, self.checkpoint, cards = self._pending
        self.positions.append(position)
        self.cards += cards


class AddParameters(BaseModel):
    a: int
    b: int = 0


@dataclass
class Adder:
    """A tool that takes effect: each run that commits is counted in `total`."""

    ledger: Ledger
    total: int = 0
    runs: list[tuple[int, int]] = field(default_factory=list)
    after_commit: BaseException | None = None
    before_commit: BaseException | None = None

    async def __call__(self, context: ToolContext, arguments: AddParameters) -> ToolResult:
        self.runs.append((arguments.a, arguments.b))
        result = ToolResult("added", {"sum": arguments.a + arguments.b})
        await context.effect(NO_CONNECTION, result)
        if self.before_commit is not None:
            raise self.before_commit
        self.ledger.commit()
        self.total += arguments.a + arguments.b
        if self.after_commit is not None:
            raise self.after_commit
        return result

    def tool(self) -> Tool:
        return Tool("add", "Adds two numbers.", AddParameters, self)


def make_tool(name: str, run: Any, parameters: type[BaseModel] = AddParameters) -> Tool:
    return Tool(name, f"The tool {name}.", parameters, run)


def tool_context(name: str, effect: Effect) -> ToolContext:
    key = ParticipantKey(ParticipantKind.CONSOLE_USER, "ana")
    server = Server(1, ServerRef("console", "home", "home"))
    return ToolContext(
        turn_id="turn",
        place=Place(server, Channel(1, ChannelRef("general", "general"))),
        account=Account(1, 1, "console", key, "Ana", "ana", PrivacyLevel.NONE),
        speaker=Speaker(key, 1, "Ana"),
        persona=Persona(1, 1, 1, "Isthmus", "", None, (), is_default=True),
        participants=(),
        now=NOW,
        message_id="m1",
        said_at=NOW,
        effect=effect,
        tool_name=name,
    )


@dataclass
class Run:
    """One turn's surroundings; `go` runs the loop."""

    ledger: Ledger = field(default_factory=Ledger)
    clock: Clock = field(default_factory=Clock)
    ids: Ids = field(default_factory=Ids)
    seen: list[tuple[TraceKind, dict[str, Any]]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    async def go(
        self,
        model: ScriptedModel | ChatModel,
        tools: Sequence[Tool] = (),
        limits: LoopLimits | None = None,
        prompt: Prompt = PROMPT,
    ) -> LoopResult:
        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        return await run_loop(
            model if isinstance(model, ChatModel) else model.chat,
            prompt,
            tools,
            context=tool_context,
            ledger=self.ledger,
            limits=limits or LoopLimits(),
            clock=self.clock,
            ids=self.ids,
            watch=lambda kind, data: self.seen.append((kind, dict(data))),
            retries=Retries(sleep=sleep, chance=lambda: 0.5),
        )
