"""Puts the parts of an agent together, each from what it needs."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from agent import core_metrics  # noqa: F401 - declares them
from agent.background import Background
from agent.bridge import HasCommands
from agent.confirmations import Confirmations
from agent.contracts.cards import NoticeVisibility
from agent.core import Core
from agent.core_preferences import NOTICE_VISIBILITY, THOUGHT_LOG, core_preferences
from agent.corrections import Corrections
from agent.embedding_worker import EmbeddingWorker
from agent.holds import Holds
from agent.identity.arrivals import Arrivals
from agent.identity.people import People
from agent.identity.resolver import Resolver
from agent.impersonation.repository import Impersonations
from agent.invalidation import Invalidation
from agent.linking.moves import finish_moves
from agent.linking.repository import Links
from agent.models.embeddings import make_embedder
from agent.models.make import make_model
from agent.notices import NoticeRule
from agent.personas.repository import Personas
from agent.places import ChannelRef
from agent.privacy.audit import Audit
from agent.privacy.erase import finish_erasures
from agent.privacy.guards import MemoryGuards
from agent.privacy.repository import Privacy
from agent.reception import Reception
from agent.relaying.services import Relaying
from agent.sender import Sender
from agent.store.inbound import Inbound
from agent.store.migrate import migrate
from agent.store.migration_sets import CORE
from agent.store.notices import WithdrawalRows
from agent.store.outbox import OutboxRows
from agent.store.pool import Store, server_for
from agent.tool_registry import ToolRegistry
from agent.turn.admission import Addressing, Cooldowns, Quotas
from agent.turn.flow import Flow
from agent.turn.loop_values import LoopLimits
from agent.turn.queue import ConversationQueue
from agent.turn.refusals import Refusals
from agent.withdrawals import Withdrawals
from agent.withdrawer import Withdrawer

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Mapping, Sequence

    from agent.bridge import Bridge
    from agent.clock import Clock, Ids
    from agent.commands import Command
    from agent.models.chat import ChatModel
    from agent.plugin_host import PluginHost
    from agent.settings import LoadedSettings
    from agent.settings.model import AgentSettings
    from agent.trace import Watch
    from agent.turn.job import Job

TURNS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Assembly:
    """The parts that an agent is made of."""

    core: Core
    worker: int
    tools: ToolRegistry
    commands: tuple[Command, ...]
    inbound: Inbound
    outbox: OutboxRows
    sender: Sender
    withdrawer: Withdrawer
    queue: ConversationQueue[Job]
    background: Background
    reception: Reception
    relaying: Relaying
    arrivals: Arrivals
    flow: Flow


async def open_core(
    loaded: LoadedSettings, hooks: PluginHost, clock: Clock, ids: Ids, stack: contextlib.AsyncExitStack
) -> Core:
    """Open the database at today's schema and build what plugins get; closed by the stack."""
    settings = loaded.settings
    server = server_for(settings.database.resolve_url(), loaded.data_dir)
    store = Store(server, size=settings.database.pool_size)
    await stack.enter_async_context(store)
    await migrate(store.dsn, [CORE, *hooks.migrations])
    people, privacy, personas = People(store), Privacy(store), Personas(store, settings.agent, clock)
    audit = Audit(store)
    revisions = Invalidation(store)
    revisions.listen(personas.forget)
    revisions.start()
    stack.push_async_callback(revisions.stop)
    embedder = make_embedder(settings.agent)
    if embedder is not None:
        stack.push_async_callback(embedder.close)
    embedding_worker = EmbeddingWorker(embedder)
    stack.push_async_callback(embedding_worker.stop)
    return Core(
        clock=clock,
        ids=ids,
        settings=settings.agent,
        store=store,
        hooks=hooks,
        people=people,
        resolver=Resolver(people, hooks),
        personas=personas,
        impersonations=Impersonations(store, revisions, clock),
        privacy=privacy,
        guards=MemoryGuards(privacy, hooks),
        audit=audit,
        links=Links(store, hooks, audit, revisions),
        confirmations=Confirmations(store),
        preferences=core_preferences(),
        revisions=revisions,
        holds=Holds(),
        embedder=embedder,
        embedding_worker=embedding_worker,
    )


async def assemble(
    core: Core, bridges: Sequence[Bridge], watch: Watch, model: ChatModel | None, stack: contextlib.AsyncExitStack
) -> Assembly:
    """Start the plugins and build everything between a bridge's event and its answer; closed by the stack."""
    await core.hooks.start(core)
    stack.push_async_callback(core.hooks.stop)
    await finish_moves(core.store, core.hooks)
    await finish_erasures(core.store, core.hooks)
    tools = ToolRegistry(tool for given in await core.hooks.collect("register_tools") for tool in given)
    commands = tuple(command for given in await core.hooks.collect("register_commands") for command in given)
    commands += tuple(command for bridge in bridges if isinstance(bridge, HasCommands) for command in bridge.commands())
    if model is None:
        model = make_model(core.settings)
    stack.push_async_callback(model.close)
    worker = secrets.randbits(62)
    inbound, outbox = Inbound(core.store, core.clock, worker), OutboxRows(core.store, core.clock, worker)
    by_platform = {bridge.platform: bridge for bridge in bridges}
    relaying = Relaying(core, outbox, by_platform)
    withdrawer = Withdrawer(WithdrawalRows(core.store, core.clock, worker), by_platform, relaying.withdrawn)
    core.revisions.listen(withdrawer.hear)
    sender = relaying.sender = Sender(outbox, core.store, by_platform, withdrawer.wake, relaying.said)
    stack.push_async_callback(sender.stop)
    background = Background()
    stack.push_async_callback(background.stop)
    limits = loop_limits(core.settings)
    flow = Flow(core, inbound, outbox, sender, by_platform, model, tools, limits, notice_rule, watch)
    queue = ConversationQueue(flow.run, bound=core.settings.limits.queue, at_once=TURNS_AT_ONCE)
    stack.push_async_callback(queue.close, 0.0)
    reception = Reception(
        core=core,
        inbound=inbound,
        queue=queue,
        background=background,
        sender=sender,
        refusals=Refusals(core.settings.locale),
        cooldowns=Cooldowns(timedelta(seconds=core.settings.limits.cooldown_seconds)),
        quotas=Quotas(core.settings.limits.daily_answers),
        addressing=addressing(core.settings),
        corrections=Corrections(
            inbound, outbox, sender, queue, core.clock, by_platform, core.settings.limits.max_message_chars
        ),
        withdrawals=Withdrawals(core, inbound, sender, notice_rule),
    )
    parts = (inbound, outbox, sender, withdrawer, queue, background, reception, relaying)
    return Assembly(core, worker, tools, commands, *parts, Arrivals(core.store, core.revisions, core.clock), flow)


def loop_limits(settings: AgentSettings) -> LoopLimits:
    """Return what one turn may use."""
    limits = settings.limits
    return LoopLimits(
        calls=limits.tool_calls,
        tokens=limits.turn_tokens,
        seconds=limits.turn_seconds,
        wire_messages=limits.wire_messages,
    )


def addressing(settings: AgentSettings) -> Addressing:
    """Return how the agent is called."""
    return Addressing(frozenset(settings.auto_channels), settings.deliberate)


def notice_rule(preferences: Mapping[str, Any]) -> NoticeRule:
    """Return how the notices of a place are shown (memory.md, Notices)."""
    log = str(preferences[THOUGHT_LOG.key])
    return NoticeRule(NoticeVisibility(preferences[NOTICE_VISIBILITY.key]), ChannelRef(log, log) if log else None)
