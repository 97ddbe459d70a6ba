"""Memories as people read them: lists, searches, and where one comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from agent.catalog import N_, translate, translate_count
from agent.commands import CommandReply, Invocation
from agent.privacy.audit import Act
from agent.steps import page_steps
from agent.text import clean, one_line
from plugins.memory.commands.desk import (
    Desk,
    Refused,
    Shelf,
    View,
    check_reader,
    find,
    personal_shelf,
    record,
    reply,
    server_shelf,
    shown_versions,
    view,
)
from plugins.memory.rendering import NOBODY, line, shown_text
from plugins.memory.rules import is_dormant

if TYPE_CHECKING:
    from datetime import datetime

    from plugins.memory.commands.rows import Provenance
    from plugins.memory.memory import Memory
    from plugins.memory.rendering import Names

PAGE: Final = 10
"""Memories on one page."""
_GLOBAL: Final = 0
_ORIGINS: Final = {
    "model": N_("learned in a conversation"),
    "command": N_("written with a command"),
    "import": N_("imported"),
    "bio": N_("from a profile"),
    "history": N_("from earlier messages"),
}
_AUDIENCES: Final = {
    "open": N_("wherever its person takes part"),
    "server": N_("in this server"),
    "channel": N_("in the channel where it was said"),
    "person": N_("in direct messages only"),
}


class Showing:
    """`list`, `search` and `why`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def list_server(self, call: Invocation) -> CommandReply:
        """Show the memories of this server that may be known here; of a persona, where one is named."""
        await check_reader(self._desk, call)
        return await self._page(call, await self.shelf_of(call), None)

    async def list_personal(self, call: Invocation) -> CommandReply:
        """Show what is remembered about whoever asks, as far as it may be known here."""
        return await self._page(call, personal_shelf(call), None)

    async def list_global(self, call: Invocation) -> CommandReply:
        """Show what every persona knows about whoever asks."""
        return await self._page(call, personal_shelf(call, _GLOBAL), None)

    async def search_server(self, call: Invocation) -> CommandReply:
        """Show the memories of this server that fit best; of a persona, where one is named."""
        await check_reader(self._desk, call)
        return await self._page(call, await self.shelf_of(call), _question(call.options["text"]))

    async def search_personal(self, call: Invocation) -> CommandReply:
        """Show the memories about whoever asks that fit best."""
        return await self._page(call, personal_shelf(call), _question(call.options["text"]))

    async def why_server(self, call: Invocation) -> CommandReply:
        """Show where a memory of this server comes from."""
        await check_reader(self._desk, call)
        return await self._why(call, server_shelf(call))

    async def why_personal(self, call: Invocation) -> CommandReply:
        """Show where a memory about whoever asks comes from."""
        return await self._why(call, personal_shelf(call))

    async def shelf_of(self, call: Invocation) -> Shelf:
        """Return the server's memories of the persona that is named, else of the default one.

        Raises:
            PersonaRefused: there is no persona of that name.
        """
        from agent.personas.rules import find as find_persona

        name = call.options.get("persona")
        if not name:
            return server_shelf(call)
        personas = await self._desk.personas.for_server(call.place.server.server_id)
        return server_shelf(call, find_persona(personas, str(name)).lineage_id)

    async def _page(self, call: Invocation, shelf: Shelf, question: str | None) -> CommandReply:
        server, users = (None, (shelf.owner_id,)) if shelf.is_personal else (shelf.owner_id, ())
        rows = await self._desk.writing.repository.block(server, users, shelf.lineage_id)
        seen = await view(self._desk, call, shelf, rows)
        found = [(memory, shown_text(memory, seen.names)) for memory in seen.memories]
        if question is not None:
            found = list(await self._desk.finder.find(question, found, seen.names.accounts))
        pages = max(-(-len(found) // PAGE), 1)
        page = min(max(int(call.options.get("page") or 1), 1), pages)
        shown = found[(page - 1) * PAGE : page * PAGE]
        memories = [memory for memory, _ in shown]
        await record(self._desk, call, Act.READ, memories)
        shown_versions(self._desk, call, memories)
        channels = await self._channels(memories)
        lines = [f"{line(memory, text)} [{self._state(call, memory, channels)}]" for memory, text in shown]
        if not lines:
            none = N_("I remember nothing here.") if question is None else N_("No memory fits these words.")
            lines = [translate(call.locale, none)]
        if pages > 1:
            lines.append(translate(call.locale, "Page {page} of {pages}.", page=page, pages=pages))
        if seen.elsewhere:
            lines.append(translate(call.locale, "{count} more cannot be shown in this place.", count=seen.elsewhere))
        return reply(
            "\n".join(lines),
            page_steps(call, page, pages),
            memories=[self.as_data(memory, text, call.now) for memory, text in shown],
            page=page,
            pages=pages,
            found=len(found),
            elsewhere=seen.elsewhere,
        )

    async def lines(self, call: Invocation, seen: View) -> list[str]:
        """Return a line for each memory: id, text, age and state."""
        channels = await self._channels(seen.memories)
        return [
            f"{line(memory, shown_text(memory, seen.names))} [{self._state(call, memory, channels)}]"
            for memory in seen.memories
        ]

    async def origin(self, call: Invocation, memory: Memory, names: Names) -> str:
        """Return in one line how, by whom, where and when a memory was made."""
        told = await self._desk.rows.provenance(memory.memory_id)
        return "" if told is None else "; ".join(_told(call.locale, memory, told, names.subject(memory))[:4])

    async def _channels(self, memories: Sequence[Memory]) -> Mapping[str, str]:
        scoped = next((memory for memory in memories if memory.channel_ids), None)
        return {} if scoped is None else await self._desk.rows.channels(scoped.owner_id)

    def _state(self, call: Invocation, memory: Memory, channels: Mapping[str, str]) -> str:
        """Return age and state of a memory in a few words."""
        days = max((call.now - memory.created_at).days, 0)
        old = translate_count(call.locale, "{count} day old", "{count} days old", days)
        words = [old if days else translate(call.locale, "new")]
        if memory.lineage_id == _GLOBAL:
            words.append(translate(call.locale, "global"))
        if self.is_dormant(memory, call.now):
            words.append(translate(call.locale, "dormant"))
        if memory.manually_written:
            words.append(translate(call.locale, "protected"))
        if memory.scope_pending:
            words.append(translate(call.locale, "channels not settled"))
        words += [f"#{one_line(channels.get(channel, channel))}" for channel in memory.channel_ids]
        return ", ".join(words)

    def is_dormant(self, memory: Memory, now: datetime) -> bool:
        """Tell whether a memory sleeps, where memories may sleep."""
        decay = self._desk.writing.settings.decay
        return decay.enabled and is_dormant(memory.last_reinforced_at, memory.created_at, now, decay.days)

    def as_data(self, memory: Memory, text: str, now: datetime) -> dict[str, Any]:
        """Return a memory for programs."""
        return {
            "memory_id": memory.memory_id,
            "scope": memory.scope.value,
            "persona_lineage_id": memory.lineage_id,
            "content": text,
            "version": memory.version,
            "age_days": max((now - memory.created_at).days, 0),
            "created_at": memory.created_at.isoformat(),
            "dormant": self.is_dormant(memory, now),
            "protected": memory.manually_written,
            "audience": memory.audience.value,
            "channels": list(memory.channel_ids),
            "channels_pending": memory.scope_pending,
        }

    async def _why(self, call: Invocation, shelf: Shelf) -> CommandReply:
        memory, names = await find(self._desk, call, shelf)
        told = await self._desk.rows.provenance(memory.memory_id)
        if told is None:
            raise Refused(N_("There is no memory {id} here. Look at the list for the ids."), id=memory.memory_id)
        await record(self._desk, call, Act.READ, [memory])
        shown_versions(self._desk, call, [memory])
        seen = View([memory], names)
        text = shown_text(memory, seen.names)
        lines = [*await self.lines(call, seen), *_told(call.locale, memory, told, names.subject(memory))]
        source = {
            "origin": told.origin,
            "author": told.author,
            "platform": told.platform,
            "server": told.server,
            "channel": told.channel or memory.source_channel_id,
            "message_id": told.message_id,
            "turn_id": told.turn_id,
            "tool": told.tool,
            "tags": list(told.tags),
            "updated_at": told.updated_at.isoformat(),
        }
        return reply("\n".join(lines), **self.as_data(memory, text, call.now), **source)


def _told(locale: str, memory: Memory, told: Provenance, subject: str) -> list[str]:
    """Return the lines of `why`: who, where, when, which message, which tool."""
    channel, server = told.channel or memory.source_channel_id, one_line(told.server or told.platform)
    where = server if channel is None else f"#{one_line(channel)} ({server})"
    about = (told.server or told.platform) if subject == NOBODY else subject
    origin = translate(locale, _ORIGINS.get(told.origin, told.origin))
    audience = translate(locale, _AUDIENCES[memory.audience.value])
    unknown = translate(locale, "not known")
    moment = f"{told.created_at:%Y-%m-%d %H:%M}"
    lines = [
        translate(locale, "How: {origin}", origin=origin),
        translate(locale, "Who: {author}", author=unknown if told.author is None else one_line(told.author)),
        translate(locale, "Where: {where}", where=where),
        translate(locale, "When: {time} UTC", time=moment),
        translate(locale, "Message: {message}", message=told.message_id or unknown),
        translate(locale, "Tool: {tool}", tool=told.tool or unknown),
        translate(locale, "About: {subject}", subject=one_line(about)),
        translate(locale, "Told: {audience}", audience=audience),
        translate(locale, "Version: {version}", version=memory.version),
    ]
    if told.tags:
        lines.append(translate(locale, "Tags: {tags}", tags=one_line(", ".join(told.tags))))
    return lines


def _question(text: object) -> str:
    question = clean(str(text)).strip()
    if not question:
        raise Refused(N_("Say which words to look for."))
    return question
