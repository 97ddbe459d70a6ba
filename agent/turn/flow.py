"""One reply, from an admitted message to its committed answer: the steps in order, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import structlog

from agent import logs, metrics
from agent.ailments import ModelState
from agent.bridge import KnowsRights, TellsLosses
from agent.catalog import translate
from agent.clock import short_id
from agent.models import usage_counters
from agent.models.usage import Usage, cost_micros
from agent.models.usage_counters import ModelUsage
from agent.store.errors import DatabaseUnavailable
from agent.store.inbound import MOST_ATTEMPTS
from agent.store.notices import WITHDRAWN
from agent.tools import ToolContext, TurnLost
from agent.trace import Trace, TraceKind
from agent.turn.admission import Reason
from agent.turn.checkpoints import TurnLedger
from agent.turn.context import build_prompt, may_quote
from agent.turn.delivery import answer
from agent.turn.images import images_of
from agent.turn.loop import run_loop
from agent.turn.loop_values import LoopLimits, LoopResult, TurnFailed
from agent.turn.prepare import prepare
from agent.turn.values import Outcome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

    from agent.bridge import Bridge, OutgoingMessage
    from agent.contracts.context import Prompt
    from agent.core import Core
    from agent.events import Attachment, MessageCreated
    from agent.models.chat import ChatModel
    from agent.notices import NoticeRule
    from agent.sender import Sender
    from agent.store.inbound import Inbound
    from agent.store.outbox import OutboxRows, Posted
    from agent.tool_registry import ToolRegistry
    from agent.tools import Effect
    from agent.trace import Watch
    from agent.turn.job import Job
    from agent.turn.values import Turn

log = logs.get_logger(__name__)

TYPING_AFTER: Final = 0.5
TYPING_EVERY: Final = 8.0
DATABASE_PATIENCE: Final = 60.0
"""Seconds that a turn waits for a database that went away."""


@dataclass(frozen=True, slots=True)
class Flow:
    """What the steps of a turn work with."""

    core: Core
    inbound: Inbound
    outbox: OutboxRows
    sender: Sender
    bridges: Mapping[str, Bridge]
    model: ChatModel
    tools: ToolRegistry
    limits: LoopLimits
    notice_rule: Callable[[Mapping[str, Any]], NoticeRule]
    watch: Watch
    model_state: ModelState = field(default_factory=ModelState)

    async def run(self, job: Job) -> None:
        """Run a job to its one outcome. A lost database is waited for; the checkpoints let the run go on."""
        turn_id = self.core.ids.new()
        with structlog.contextvars.bound_contextvars(turn=turn_id):
            try:
                while (attempt := await self._patiently(lambda: self.inbound.begin(job.event))) <= MOST_ATTEMPTS:
                    try:
                        await self._attempt(job, turn_id, attempt)
                        return
                    except DatabaseUnavailable as error:
                        log.warning("turn_waits_for_database", reason=str(error))
                error_id = short_id(self.core.ids)
                log.error("turn_given_up", error_id=error_id, attempts=attempt)
                await self._patiently(lambda: self._excuse(job, error_id))
            except TurnLost:
                log.warning("turn_lost", event_id=job.event.event_id)

    async def _patiently[T](self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something again and again while the database is away."""
        return await self.core.store.retrying(work, patience=DATABASE_PATIENCE)

    async def _attempt(self, job: Job, turn_id: str, attempt: int) -> None:
        """Take the steps; whatever fails ends in one calm sentence with an id, the detail in the log."""
        began = self.core.clock.monotonic()
        try:
            turn = await prepare(job, self.core, self.bridges[job.event.platform], turn_id=turn_id, attempt=attempt)
            if job.event.corrects is not None:
                turn = replace(turn, replaces=await self.inbound.parts(job.event.platform, job.event.message_id))
            if await self.core.hooks.guard("guard_turn", turn=turn) is not None:
                await self._end(turn, Outcome.IGNORED, "")
                return
            if self._is_mute(turn):
                await self._end(turn, Outcome.IGNORED, "")
                return
            turn = await self.core.impersonations.applied(turn)
            prompt, recalled = await self.prompt(turn)
            prompt = await self._with_images(turn, prompt)
            ledger = self._ledger(turn)
            async with self._typing(turn):
                result = await self._loop(turn, prompt, ledger)
        except TurnFailed as failure:
            usage = failure.usage
            self.model_state.failed(failure.kind)
            await self._excuse(job, failure.error_id)
            await self._patiently(lambda: self._count(job, usage))
        except (TurnLost, DatabaseUnavailable):
            raise
        except Exception:
            error_id = short_id(self.core.ids)
            log.exception("turn_failed", error_id=error_id)
            await self._excuse(job, error_id)
        else:
            self.model_state.answered()
            await self._end(turn, Outcome.ANSWERED, result.text)
            metrics.emit("turn_seconds", self.core.clock.monotonic() - began)
            await self._patiently(lambda: self._count(job, result.usage))
            await self.core.hooks.collect("turn_finished", turn=turn, recalled=recalled)

    def _is_mute(self, turn: Turn) -> bool:
        """Tell whether the agent may say nothing there: then no model is asked, and whoever asked is told."""
        bridge = self.bridges[turn.event.platform]
        if not isinstance(bridge, KnowsRights):
            return False
        [message] = answer(turn, "…", bridge.capabilities)
        if bridge.may_post(message):
            return False
        metrics.emit("turns_refused", reason=Reason.MUTE)
        if isinstance(bridge, TellsLosses):
            bridge.undelivered(message, "the agent may not write there")
        return True

    async def prompt(self, turn: Turn) -> tuple[Prompt, tuple[str, ...]]:
        """Build exactly what the model is shown; also what of it was called back."""
        limits = self.core.settings.limits
        accounts = [person.account.account_id for person in turn.participants]
        hidden = await self.core.privacy.hidden_names(turn.place.server.server_id, accounts)
        return await build_prompt(
            turn,
            self.core.hooks,
            self.core.embedder,
            budget=limits.context_tokens,
            message_limit=limits.max_message_chars,
            hidden=hidden,
        )

    async def _with_images(self, turn: Turn, prompt: Prompt) -> Prompt:
        """Add the pictures of the message and of the one that it answers, for a model that takes them."""
        if not self.model.takes_images:
            return prompt
        files = (*turn.event.attachments, *_answered_files(turn))
        return replace(prompt, images=await images_of(files, self.bridges[turn.event.platform]))

    def context(self, turn: Turn, name: str, effect: Effect) -> ToolContext:
        """Return the context in which the tool of that name runs."""
        return ToolContext(
            turn_id=turn.turn_id,
            place=turn.place,
            account=turn.account,
            speaker=turn.speaker,
            persona=turn.persona,
            participants=turn.participants,
            now=self.core.clock.now(),
            message_id=turn.event.message_id,
            said_at=turn.event.occurred_at,
            effect=effect,
            tool_name=name,
            bot_keys=turn.bot_keys,
        )

    def _ledger(self, turn: Turn) -> TurnLedger:
        rule = self.notice_rule(turn.preferences)
        return TurnLedger(self.inbound, self.outbox, turn.event, turn.place, rule, attempt=turn.attempt)

    async def _loop(self, turn: Turn, prompt: Prompt, ledger: TurnLedger) -> LoopResult:
        def watch(kind: TraceKind, data: Mapping[str, Any]) -> None:
            if kind is TraceKind.TOOL_RESULT:
                self.sender.post(ledger.committed())
            self._trace(turn, kind, data)

        return await run_loop(
            self.model,
            prompt,
            tuple(self.tools) if turn.impersonating is None else (),  # what is said in play is no fact to keep
            context=lambda name, effect: self.context(turn, name, effect),
            ledger=ledger,
            limits=self.limits,
            clock=self.core.clock,
            ids=self.core.ids,
            watch=watch,
        )

    async def _end(self, turn: Turn, outcome: Outcome, text: str) -> None:
        bridge = self.bridges[turn.event.platform]
        capabilities = bridge.capabilities
        if isinstance(bridge, KnowsRights) and not bridge.may_send_files(turn.place.channel.ref):
            capabilities = replace(capabilities, code_files=False)
        messages = answer(turn, text, capabilities) if text else ()
        surplus = turn.replaces[len(messages) :]
        self.sender.post(await self._finish(turn.event, outcome, messages, surplus))
        if surplus:
            self.core.revisions.announce(WITHDRAWN)
        metrics.emit("turns", outcome=outcome)
        self._trace(turn, TraceKind.OUTCOME, {"outcome": outcome})

    async def _finish(
        self,
        event: MessageCreated,
        outcome: Outcome,
        messages: Sequence[OutgoingMessage],
        surplus: Sequence[str],
    ) -> Sequence[Posted]:
        """End an event; when the database goes away meanwhile, find out afterwards whether it was ended."""
        try:
            return await self.inbound.finish(event, outcome, messages, surplus)
        except DatabaseUnavailable as error:
            log.warning("turn_waits_for_database", reason=str(error))

        async def again() -> Sequence[Posted]:
            try:
                return await self.inbound.finish(event, outcome, messages, surplus)
            except TurnLost:
                keys = {message.key for message in messages}
                unsent = await self.outbox.unsent(event.platform, event.event_id)
                if committed := [posted for posted in unsent if posted.message.key in keys]:
                    return committed
                raise

        return await self._patiently(again)

    async def _excuse(self, job: Job, error_id: str) -> None:
        """Answer with one calm sentence; what went wrong stands in the log under the same id."""
        turn = await prepare(job, self.core, None, turn_id=error_id, attempt=0)
        text = translate(
            turn.locale,
            "Sorry, I could not answer that just now. If it goes on, tell an operator this id: {error_id}",
            error_id=error_id,
        )
        self._trace(turn, TraceKind.ERROR, {"text": text, "error_id": error_id})
        await self._end(turn, Outcome.ANSWERED, text)

    async def _count(self, job: Job, usage: Usage) -> None:
        """Count what the turn has used, after its answer is committed."""
        cost = cost_micros(usage, self.core.settings.costs.get(self.model.name))
        used = ModelUsage(self.model.name, usage, cost)
        server_id, now = job.place.server.server_id, self.core.clock.now()
        async with self.core.store.connection() as conn:
            await usage_counters.add(conn, server_id, now, used)

    def _trace(self, turn: Turn, kind: TraceKind, data: Mapping[str, Any]) -> None:
        self.watch(Trace(kind, turn.turn_id, turn.event.event_id, self.core.clock.now(), data))

    @contextlib.asynccontextmanager
    async def _typing(self, turn: Turn) -> AsyncIterator[None]:
        bridge = self.bridges[turn.event.platform]
        if not bridge.capabilities.typing:
            yield
            return
        task = asyncio.create_task(_keep_typing(bridge, turn))
        try:
            yield
        finally:
            task.cancel()


def _answered_files(turn: Turn) -> Sequence[Attachment]:
    """Return what came with the message that is answered: from the history, else as the bridge has it, if it may be."""
    reply = turn.event.reply
    if reply is None:
        return ()
    found = next((said.attachments for said in turn.history if said.message_id == reply.message_id), None)
    if found is not None:
        return found
    return reply.attachments if may_quote(turn, reply) else ()


async def _keep_typing(bridge: Bridge, turn: Turn) -> None:
    await asyncio.sleep(TYPING_AFTER)
    while True:
        try:
            await bridge.typing(turn.place.channel.ref)
        except Exception as error:  # noqa: BLE001 - a sign of life is only comfort
            log.debug("typing_failed", error=type(error).__name__)
        await asyncio.sleep(TYPING_EVERY)
