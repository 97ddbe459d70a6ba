"""The composition root: settings, store, plugins, bridges, and a run until stopped."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Self

from agent import logs, metrics
from agent.ailments import Ailment
from agent.assembly import Assembly, assemble, open_core
from agent.bridge import BridgeStartFailed
from agent.bridge_loader import LoadedBridges, load_bridges
from agent.clock import RandomIds, SystemClock
from agent.dispatch import Dispatcher
from agent.places import conversation_key
from agent.plugin_loader import load_plugins
from agent.presence import Presence
from agent.readiness import readiness
from agent.responding import Responding
from agent.secrets import open_box
from agent.store.bridge_state import BridgeState
from agent.store.errors import StoreError
from agent.store.own_messages import own_messages
from agent.tools import TurnLost
from agent.trace import unwatched
from agent.turn.values import Outcome
from agent.watchdog import Watchdog
from agent.workbench import Trial, Workbench

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence
    from pathlib import Path

    from agent.bridge import Bridge
    from agent.clock import Clock, Ids
    from agent.commands import Choice, Command, CommandCall, CommandReply
    from agent.contracts.cards import Card
    from agent.contracts.context import Prompt
    from agent.contracts.people import Persona
    from agent.core import Core
    from agent.directory_changes import DirectoryChange
    from agent.events import Author, Event
    from agent.models.chat import ChatModel
    from agent.places import ChannelRef, ServerRef
    from agent.plugin_host import PluginHost
    from agent.relaying.services import Relaying
    from agent.secrets import SecretBox
    from agent.settings import LoadedSettings
    from agent.settings.model import MetricsSettings
    from agent.tool_registry import ToolRegistry
    from agent.tools import ToolResult
    from agent.trace import Watch

log = logs.get_logger(__name__)

SWEEP_EVERY: Final = 3600.0
"""Seconds between two sweeps of what is kept for 30 days."""


class Agent:
    """A running agent. It is the host of its bridges (`agent.bridge.BridgeHost`)."""

    def __init__(
        self,
        parts: Assembly,
        bridges: Sequence[Bridge],
        presence: Presence,
        box: Callable[[], SecretBox],
        data_dir: Path,
    ) -> None:
        self._parts = parts
        self._data_dir = data_dir
        self._box = box
        self._bridges = bridges
        self._presence = presence
        responding = Responding(parts.core, parts.flow.bridges, self.receive)
        self._dispatcher = Dispatcher(parts.core, parts.commands, self.stop_turn, responding.command())
        self._workbench = Workbench(parts.core, parts.flow, parts.tools)

    @property
    def core(self) -> Core:
        """What plugins get."""
        return self._parts.core

    @property
    def plugins(self) -> PluginHost:
        """The plugins and their states."""
        return self._parts.core.hooks

    @property
    def tools(self) -> ToolRegistry:
        """What the model may call."""
        return self._parts.tools

    @property
    def commands(self) -> tuple[Command, ...]:
        """Every command of the core and the plugins, by path."""
        return self._dispatcher.commands

    @classmethod
    async def start(
        cls,
        loaded: LoadedSettings,
        *,
        bridges: Sequence[Bridge] | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
        watch: Watch = unwatched,
        model: ChatModel | None = None,
    ) -> Self:
        """Bring everything up, in order; `bridges` and `model` stand in for those that the settings name.

        Raises:
            SettingsError: something in plugins.toml is wrong.
            StoreError: the database cannot be used.
            PluginError: a plugin that is not optional did not start.
            AlreadyServed: another process serves a bot account of these bridges.
        """
        clock = clock or SystemClock()
        ids = ids or RandomIds(clock)
        hooks = load_plugins(loaded)
        found = load_bridges(loaded) if bridges is None else LoadedBridges(tuple(bridges))
        serving = found.bridges
        async with contextlib.AsyncExitStack() as stack:
            core = await open_core(loaded, hooks, clock, ids, stack)
            parts = await assemble(core, serving, watch, model, stack)
            identities = [f"{bridge.name}/{identity}" for bridge in serving if (identity := bridge.identity())]
            presence = Presence(core.store, parts.worker, identities)
            await presence.start()
            stack.push_async_callback(presence.stop)
            agent = cls(
                parts,
                serving,
                presence,
                cache(lambda: open_box(loaded.data_dir, loaded.settings.agent.secret_key)),
                loaded.data_dir,
            )
            await agent._serve(found.optional, stack)
            await agent._serve_status(loaded.settings.metrics, stack)
            stack.enter_context(Watchdog(hooks.packages))
            gc.freeze()  # what is loaded by now stays, so that a full collection need not look at it
            agent._closing = stack.pop_all()
        return agent

    _closing: contextlib.AsyncExitStack

    async def _serve(self, optional: Container[str], stack: contextlib.AsyncExitStack) -> None:
        """Take over what dead processes left, then let the bridges bring events, which come behind it."""
        parts = self._parts
        platforms = [bridge.platform for bridge in self._bridges]
        await parts.relaying.load(platforms)
        unsent = await parts.outbox.recover(platforms)
        unfinished = await parts.inbound.recover(platforms)
        for event in unfinished:
            await parts.reception.resume(event)
        # Who joins others is there before they bring anything.
        for bridge in sorted(self._bridges, key=lambda bridge: not getattr(bridge, "joins", False)):
            stack.push_async_callback(self._stop_bridge, bridge)
            await self._start_bridge(bridge, is_optional=bridge.name in optional)
        parts.withdrawer.start()
        stack.push_async_callback(parts.withdrawer.stop)
        parts.sender.post(unsent)
        parts.queue.start()
        if unsent or unfinished:
            log.info("resumed", unsent=len(unsent), unfinished=len(unfinished))
        sweeper = asyncio.create_task(self._sweep(), name="sweep")
        stack.callback(sweeper.cancel)

    async def _start_bridge(self, bridge: Bridge, *, is_optional: bool) -> None:
        try:
            await bridge.start(self)
        except BridgeStartFailed as error:
            if not is_optional:
                raise
            log.warning("optional_bridge_not_started", bridge=bridge.name, problem=str(error))
        except Exception as error:
            log.exception("bridge_not_started", bridge=bridge.name)
            if not is_optional:
                raise BridgeStartFailed(
                    f"bridge {bridge.name} did not start ({type(error).__name__}); the log has the detail, "
                    f"and isthmus doctor may tell more"
                ) from error

    async def _serve_status(self, settings: MetricsSettings, stack: contextlib.AsyncExitStack) -> None:
        """Answer `/metrics`, `/healthz` and `/readyz` when that is enabled."""
        if not settings.enabled:
            return
        from agent.http_status import HttpStatus

        metrics.enable()
        status = HttpStatus(settings.host, settings.port, readiness(self.core))
        await status.start()
        log.info("status_served", host=settings.host, port=status.port)
        stack.push_async_callback(status.stop)

    async def _stop_bridge(self, bridge: Bridge) -> None:
        try:
            await bridge.stop()
        except Exception:
            log.exception("bridge_not_stopped", bridge=bridge.name)

    async def stop(self, grace: float = 10.0) -> None:
        """Take no more events, give what runs `grace` seconds, send what is committed, and close."""
        parts = self._parts
        await parts.queue.close(grace)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(grace / 2, 1.0)):
                await parts.sender.idle()
                await parts.withdrawer.idle()
        await parts.sender.stop()  # before the bridges close: a call that they break off would have no known outcome
        await self._closing.aclose()

    async def idle(self) -> None:
        """Return when no event is unfinished and nothing waits in the outbox."""
        parts = self._parts
        while parts.queue.is_busy or parts.sender.is_busy or parts.background.is_busy or parts.withdrawer.is_busy:
            await parts.queue.idle()
            await parts.sender.idle()
            await parts.withdrawer.idle()
            await parts.background.idle()

    async def receive(self, event: Event) -> None:
        """Take an event; returns when its row is committed (`agent.bridge.BridgeHost`)."""
        if await self._parts.relaying.heard(event):
            await self._parts.reception.receive(event)

    async def observe(self, change: DirectoryChange) -> None:
        """Take what is so now of members, channels or a server (`agent.bridge.BridgeHost`)."""
        await self._parts.arrivals.observe(change)

    async def run_command(
        self, path: tuple[str, ...], options: dict[str, Any], server: ServerRef, channel: ChannelRef, author: Author
    ) -> CommandReply:
        """Run a command after checking rights; failures come back as a reply with `ok=False`."""
        return await self._dispatcher.run(path, options, server, channel, author)

    def state(self, bridge: str) -> BridgeState:
        """Return what the bridge of that name keeps across restarts (`agent.bridge.BridgeHost`)."""
        return BridgeState(self.core.store, self.core.clock, bridge, self._box)

    def folder(self, bridge: str) -> Path:
        """Return the directory of the bridge of that name (`agent.bridge.BridgeHost`)."""
        return self._data_dir / "bridges" / bridge

    async def own_messages(self, platform: str, message_ids: Sequence[str]) -> Mapping[str, int | None]:
        """Return those of the messages that the agent has sent (`agent.bridge.BridgeHost`)."""
        return await own_messages(self.core.store, platform, message_ids)

    async def relayed(self, server: ServerRef, message_ids: Sequence[str]) -> Mapping[str, Author]:
        """Return those of the messages that were posted for people from elsewhere (`agent.bridge.BridgeHost`)."""
        return await self._parts.relaying.authors(server, message_ids)

    def trusts(self, platform: str, webhook_id: str) -> bool:
        """Tell whether a webhook is another bridge's, whose people count as people (`agent.bridge.BridgeHost`)."""
        return self._parts.relaying.trusts(platform, webhook_id)

    @property
    def relaying(self) -> Relaying:
        """What a bridge needs that joins conversations of two platforms (`agent.bridge.BridgeHost`)."""
        return self._parts.relaying

    async def suggest(self, call: CommandCall, option: str, typed: str) -> Sequence[Choice]:
        """Return what an option may be, best first (`agent.bridge.BridgeHost`)."""
        return await self._dispatcher.suggest(call, option, typed)

    async def prefill(self, call: CommandCall, option: str) -> str:
        """Return what a form holds at first for a long text (`agent.bridge.BridgeHost`)."""
        return await self._dispatcher.prefill(call, option)

    async def ailment(self) -> Ailment | None:
        """Return what keeps the agent from answering just now (`agent.bridge.BridgeHost`)."""
        if await readiness(self.core)["database"]() is not None:
            return Ailment.DATABASE
        return Ailment.MODEL if self._parts.flow.model_state.is_away else None

    async def stop_turn(self, server: ServerRef, channel: ChannelRef) -> bool:
        """Abort the running turn of a channel and drop what waits; tell whether there was one."""
        aborted = await self._parts.queue.abort(conversation_key(server.platform, channel))
        for job in aborted:
            with contextlib.suppress(TurnLost):
                await self._parts.inbound.finish(job.event, Outcome.ABANDONED)
            # What a tool had committed when it was stopped is still told.
            self._parts.sender.post(await self._parts.outbox.unsent(job.event.platform, job.event.event_id))
        return bool(aborted)

    async def build_prompt(
        self,
        server: ServerRef,
        channel: ChannelRef,
        author: Author,
        text: str,
        *,
        persona: str | None = None,
        impersonate: str | None = None,
    ) -> Prompt:
        """Return the prompt that a message would get there now; person and place are registered, nothing is sent.

        Raises:
            PersonaRefused: there is no persona of that name.
            ImpersonationRefused: nobody may be impersonated under the name that was given.
        """
        return await self._workbench.prompt(Trial(server, channel, author, persona, impersonate), text)

    async def call_tool(
        self,
        name: str,
        arguments: str,
        server: ServerRef,
        channel: ChannelRef,
        author: Author,
        *,
        persona: str | None = None,
    ) -> tuple[ToolResult, tuple[Card, ...]]:
        """Run a tool as the model would in that place; `arguments` is its JSON text.

        Raises:
            LookupError: there is no such tool.
            PersonaRefused: there is no persona of that name.
        """
        return await self._workbench.call_tool(name, arguments, Trial(server, channel, author, persona))

    async def find_persona(self, name: str, server: ServerRef, channel: ChannelRef, author: Author) -> Persona:
        """Return the persona of that name there; person and place are registered.

        Raises:
            PersonaRefused: there is none.
        """
        return await self._workbench.find_persona(Trial(server, channel, author, name))

    async def _sweep(self) -> None:
        while True:
            try:
                await self._parts.inbound.sweep()
                await self._parts.outbox.sweep()
                await self._parts.arrivals.purge()
            except StoreError as error:
                log.warning("sweep_failed", reason=str(error))
            await asyncio.sleep(SWEEP_EVERY)
