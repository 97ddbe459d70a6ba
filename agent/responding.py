"""`/respond`: an answer to what was said last, without calling the agent by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agent.catalog import N_, translate
from agent.commands import Command, CommandReply, Invocation, Option
from agent.events import Author, MessageCreated, Reply
from agent.identity.directory import is_hidden
from agent.personas.rules import PersonaRefused, find

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from agent.bridge import Bridge, HistoryMessage
    from agent.contracts.people import Account
    from agent.core import Core
    from agent.events import Event

LOOKED_AT: Final = 20
"""Messages among which the last one of a person is looked for."""


class Responding:
    """The command. Whoever runs it answers for the turn: privacy, cooldowns and quotas are theirs."""

    def __init__(self, core: Core, bridges: Mapping[str, Bridge], receive: Callable[[Event], Awaitable[None]]) -> None:
        self._core = core
        self._bridges = bridges
        self._receive = receive

    def command(self) -> Command:
        """Return the command."""
        persona = Option("persona", N_("The persona that shall answer; left out: the default one."), required=False)
        return Command(
            ("respond",), N_("Have me answer what was said last here."), self.respond, (persona,), private=True
        )

    async def respond(self, call: Invocation) -> CommandReply:
        """Take a message of whoever asks that points to what was said last."""
        try:
            persona = await self._persona(call)
        except PersonaRefused as refused:
            return CommandReply(translate(call.locale, refused.msgid, **refused.values), private=True, ok=False)
        last = await self._last(call)
        if last is None:
            text = translate(call.locale, "Nobody has said anything here that I could answer.")
            return CommandReply(text, private=True, ok=False)
        await self._receive(self._event(call, last, persona))
        return CommandReply(translate(call.locale, "I am answering."), private=True)

    async def _persona(self, call: Invocation) -> str | None:
        name = str(call.options.get("persona") or "").strip()
        if not name:
            return None
        return find(await self._core.personas.for_server(call.place.server.server_id), name).nickname

    async def _last(self, call: Invocation) -> HistoryMessage | None:
        bridge = self._bridges.get(call.place.platform)
        if bridge is None:
            return None
        said = await bridge.history(call.place.server.ref, call.place.channel.ref, LOOKED_AT)
        for message in reversed(said):
            if not message.from_agent and not await self._hides(call.place.platform, message.author):
                return message
        return None

    async def _hides(self, platform: str, author: Author) -> bool:
        """Tell whether somebody is not to be named: whoever asks cannot point to what they said."""
        found = await self._core.people.find(platform, author.external_id)
        return any(is_hidden(account) for account in found if account.key == author.key)

    def _event(self, call: Invocation, last: HistoryMessage, persona: str | None) -> MessageCreated:
        author = author_of(call.account, can_manage=call.can_manage)
        is_own = last.author.key == author.key
        return MessageCreated(
            platform=call.place.platform,
            event_id=f"respond:{last.message_id}:{self._core.ids.new()}",
            message_id=last.message_id,
            server=call.place.server.ref,
            channel=call.place.channel.ref,
            author=author,
            text=last.text if is_own else translate(call.locale, "(asks you to answer what was said last)"),
            occurred_at=call.now,
            mentions_agent=True,
            reply=None if is_own else Reply(last.message_id, author=last.author, text=last.text),
            attachments=last.attachments if is_own else (),
            persona=persona,
        )


def author_of(account: Account, *, can_manage: bool) -> Author:
    """Return an account as the author of an event."""
    return Author(account.key.kind, account.key.id, account.display_name, account.username, can_manage=can_manage)
