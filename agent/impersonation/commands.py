"""`/impersonate PERSON` and `/impersonate consent on|off`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agent.catalog import N_, translate, translate_count
from agent.commands import Choice, Command, CommandReply, Invocation, Option
from agent.identity.directory import Scope
from agent.impersonation.asking import ImpersonationRefused, find_target
from agent.impersonation.rules import CONSENT, LASTS, Consent, consent_of
from agent.preferences import Layer
from agent.preferences_repository import choose
from agent.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.core import Core

CONSENT_WORD: Final = "consent"
NOBODY_WORD: Final = "nobody"
_CHOSEN: Final = {
    Consent.OFF: N_("Nobody can have me answer in your style."),
    Consent.MANAGERS: N_("Those who manage a server can have me answer in your style; nobody else but you can."),
    Consent.ON: N_("Everybody in a server can have me answer in your style."),
}


class ImpersonateCommand:
    """One command, because platforms cannot offer a group that is a command itself."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def command(self) -> Command:
        """Return the command."""
        return Command(
            ("impersonate",),
            N_("Have my next answer here be in somebody's style, or say who may ask for yours."),
            self.run,
            (
                Option(
                    "person",
                    N_(
                        "A name or mention; “nobody” takes it back; “consent” shows or sets who may ask for your style."
                    ),
                    required=False,
                    suggest=self.people,
                ),
                Option(
                    "consent",
                    N_("Who may have me answer in your style."),
                    required=False,
                    choices=tuple(consent.value for consent in Consent),
                ),
            ),
        )

    async def people(self, call: Invocation, typed: str) -> Sequence[Choice]:
        """Offer the people of the server whose name begins with what was typed, nobody hidden; and the words."""
        words = [word for word in (NOBODY_WORD, CONSENT_WORD) if word.startswith(typed.casefold())]
        found = await self._core.people.beginning(call.place.server.server_id, typed)
        names = dict.fromkeys(one_line(account.display_name) for account in found)
        return [Choice(name, name) for name in (*words, *names)]

    async def run(self, call: Invocation) -> CommandReply:
        """Set or show consent, take a wish back, or keep one."""
        person, consent = call.options.get("person"), call.options.get("consent")
        if consent is not None:
            async with self._core.store.connection() as conn:
                await choose(conn, CONSENT, Layer.PERSON, call.account.account_id, consent)
            return await self._consent(call)
        if person is None or person.casefold() == CONSENT_WORD:
            return await self._consent(call)
        if person.casefold() == NOBODY_WORD:
            return await self._take_back(call)
        return await self._ask(call, person)

    async def _consent(self, call: Invocation) -> CommandReply:
        """Say what holds for the person; another account of theirs may have said no."""
        server_id = call.place.server.server_id
        standing = await self._core.impersonations.standing(call.account.account_id, server_id)
        consent = consent_of(standing.consents)
        return CommandReply(translate(call.locale, _CHOSEN[consent]), private=True, data={"consent": consent.value})

    async def _take_back(self, call: Invocation) -> CommandReply:
        if await self._core.impersonations.cancel(call.place):
            return CommandReply(translate(call.locale, "My next answer here is in my own style."))
        return CommandReply(translate(call.locale, "Nobody has asked for another style here."), private=True)

    async def _ask(self, call: Invocation, name: str) -> CommandReply:
        people = await self._core.people.participants(call.place, [call.account.key], reserved=[call.persona.nickname])
        scope = Scope(call.place, people, call.persona, call.persona.nickname, speaker=people[0] if people else None)
        try:
            target = await find_target(self._core, scope, name, call.account, is_manager=call.can_manage)
        except ImpersonationRefused as refused:
            return CommandReply(translate(call.locale, refused.msgid), private=True, ok=False)
        until = await self._core.impersonations.arrange(
            call.place, target.account, call.account, by_right=target.by_right
        )
        text = translate_count(
            call.locale,
            "My next answer here, within {count} minute, is in the style of {name}.",
            "My next answer here, within {count} minutes, is in the style of {name}.",
            int(LASTS.total_seconds() // 60),
            name=one_line(target.account.display_name),
        )
        return CommandReply(text, data={"account_id": target.account.account_id, "until": until.isoformat()})
