"""`create_long_term_memory`: its steps, in order (memory.md, Writing)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final, assert_never

from agent.contracts.memory import MemoryScope, MemorySource, MemoryWrite, Origin, WriteKind
from agent.identity.directory import Scope
from agent.places import audience_of_personal_memory, audience_of_server_memory
from agent.tools import ToolResult
from plugins.memory.cards import Wording
from plugins.memory.content import Accepted, Empty, TooLong, accept, mentions_user, with_labels
from plugins.memory.reading import here_of
from plugins.memory.rendering import NOBODY, labels_of, names_of
from plugins.memory.saving import Request, save
from plugins.memory.status import Status
from plugins.memory.targets import Target, server_target, target_of_save, with_speaker

if TYPE_CHECKING:
    from agent.privacy.hidden import HiddenNames
    from agent.tools import Json, ToolContext
    from plugins.memory.parameters import CreateParameters
    from plugins.memory.toolbox import Toolbox

_HOUR: Final = timedelta(hours=1)


async def create(toolbox: Toolbox, context: ToolContext, given: CreateParameters) -> ToolResult:
    """Save what the model has learned."""
    wants_person = given.memory_scope == "target_user"
    name = (given.target_user or "").strip()
    if not given.memory_content.strip() or (wants_person and not name):
        note = "memory_content must not be empty, and memory_scope target_user needs target_user."
        return ToolResult(Status.SAVE_INVALID_PARAMETERS, {"note": note})
    if (stopped := await _stopped(toolbox, context)) is not None:
        return stopped

    target: Target | ToolResult = server_target(context)
    if wants_person:
        target = target_of_save(await toolbox.resolver.resolve(name, Scope.of(context)), context)
    if isinstance(target, ToolResult):
        return target

    limit = toolbox.writing.settings.max_memory_length
    match accept(with_labels(given.memory_content, context.participants), limit, target.user_name):
        case Accepted(content):
            hidden = await hidden_from(toolbox, context, target)
            request = _request(toolbox, context, target, content)
            request = replace(request, wording=replace(request.wording, hidden=hidden))
            return await save(toolbox.writing, request, context.effect)
        case Empty():
            note = "Nothing is left of memory_content once what may not be kept is taken out."
            return ToolResult(Status.SAVE_INVALID_PARAMETERS, {"note": note})
        case TooLong(length, most):
            return ToolResult(Status.SAVE_TOO_LONG, {"length": length, "limit": most})
        case unknown:
            assert_never(unknown)


async def _stopped(toolbox: Toolbox, context: ToolContext) -> ToolResult | None:
    """Return why nothing may be saved here now: switched off, or too many saves within the hour."""
    if not await toolbox.teaches_itself(context.place.server.server_id):
        return ToolResult(Status.SAVE_DISABLED, {"note": "This server does not let you save memories."})
    most = toolbox.writing.settings.saves_per_hour
    since = toolbox.writing.clock.now() - _HOUR
    if await toolbox.writing.repository.count_saves(context.account.account_id, since) >= most:
        return ToolResult(Status.SAVE_RATE_LIMITED, {"limit": most, "note": "Enough for this hour: try again later."})
    return None


def source_of(context: ToolContext) -> MemorySource:
    """Return where a memory of this call comes from."""
    return MemorySource(
        platform=context.place.platform,
        server_id=context.place.server.server_id,
        channel_external_id=context.place.channel.ref.external_id,
        message_id=context.message_id,
        turn_id=context.turn_id,
        tool=context.tool_name or None,
        author_account_id=context.account.account_id,
        occurred_at=context.said_at,
    )


def _request(toolbox: Toolbox, context: ToolContext, target: Target, content: str) -> Request:
    if mentions_user(content):
        target = with_speaker(target, context)
    personal = target.scope is MemoryScope.PERSONAL
    audience = (audience_of_personal_memory if personal else audience_of_server_memory)(context.place)
    write = MemoryWrite(
        kind=WriteKind.CREATE,
        scope=target.scope,
        server_id=context.place.server.server_id,
        user_id=target.user_id,
        lineage_id=context.persona.lineage_id,
        content=content,
        audience=audience,
        origin=Origin.MODEL,
        source=source_of(context),
        subject_account_id=target.subject_account_id,
        subject_user_id=target.subject_user_id,
        about_proxy_identity=target.proxied,
        host_account_ids=target.host_account_ids,
    )
    extra: dict[str, Json] = {"memory_scope": "target_user" if personal else "server_wide"}
    if target.note:
        extra["note"] = target.note
    shown = toolbox.seen.saying(context.turn_id, write)
    return Request(write, wording_of(target, context, toolbox.locale), extra, here_of(context), shown)


async def hidden_from(toolbox: Toolbox, context: ToolContext, target: Target) -> HiddenNames:
    """Return whom the cards of a memory of this target may not name: those whom prompts would not name either."""
    accounts = [target.subject_account_id] if target.subject_account_id is not None else []
    hidden = await toolbox.writing.guards.hidden_names(context.place.server.server_id, accounts)
    return hidden.around if target.scope is MemoryScope.PERSONAL else hidden.here


def wording_of(target: Target, context: ToolContext, locale: str) -> Wording:
    """Return how cards speak of a memory of this target."""
    bot = context.persona.nickname
    names = names_of(bot, context.participants, labels=labels_of(context.place, bot, context.bot_keys))
    user = names.person(target.subject_account_id, target.subject_user_id)
    if user == NOBODY and (target.scope is MemoryScope.PERSONAL or target.user_name is not None):
        user = target.about  # somebody who does not take part
    return Wording(target.about, user, bot, locale, names.labels)
