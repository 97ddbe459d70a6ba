"""The personal commands for one of somebody's proxied identities: the same pages, about the identity alone."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agent.catalog import N_
from agent.commands import Choice, Option
from agent.contracts.memory import MemoryScope
from agent.identity.names import normalise
from plugins.memory.commands.desk import Refused
from plugins.memory.rules import UNDO_KEPT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.commands import CommandReply, Invocation, Prefill, Suggest
    from agent.contracts.people import Account, Speaker
    from plugins.memory.commands.desk import Desk, Run

OPTION: Final = "identity"
MOST_CHOICES: Final = 25
_FIRST_ID: Final = re.compile(r"[0-9]{1,18}(?![0-9])")


class Identities:
    """Whom somebody may look after beside themselves."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def option(self) -> Option:
        """Return the option that names one."""
        return Option(
            OPTION,
            N_("One of the identities that your account hosts; left out: yourself."),
            required=False,
            suggest=self._suggest,
            named_only=True,
        )

    def run(self, run: Run) -> Run:
        """Return a personal command so that it is about the identity that is named, else about whoever asks."""

        async def answer(call: Invocation) -> CommandReply:
            return await run(await self._as_identity(call))

        return answer

    def options(self, options: Sequence[Option]) -> tuple[Option, ...]:
        """Return the options of a personal command, which offer what is the identity's, and the one to name it."""
        return (
            *(
                replace(
                    each,
                    suggest=None if each.suggest is None else self._suggesting(each.suggest),
                    prefill=None if each.prefill is None else self._prefilled(each.prefill),
                )
                for each in options
            ),
            self.option(),
        )

    def _suggesting(self, suggest: Suggest) -> Suggest:
        async def suggested(call: Invocation, typed: str) -> Sequence[Choice]:
            try:
                return await suggest(await self._as_identity(call), typed)
            except Refused:
                return ()

        return suggested

    def _prefilled(self, prefill: Prefill) -> Prefill:
        async def present(call: Invocation) -> str:
            try:
                return await prefill(await self._as_identity(call))
            except Refused:
                return ""

        return present

    async def _as_identity(self, call: Invocation) -> Invocation:
        name = str(call.options.get(OPTION) or "").strip()
        known = await self._of(call.account)
        if not name:
            owner = await self._owner_of(call, known)
            return call if owner is None else replace(call, account=as_account(call.account, owner))
        wanted = normalise(name)
        found = [each for each in known if wanted in {normalise(each.display_name), normalise(each.key.id)}]
        if len(found) > 1:
            references = ", ".join(each.key.id for each in found)
            raise Refused(N_("Several are called so. Name one by its number: {references}"), references=references)
        if not found:
            raise Refused(N_("Your account hosts nobody of this name. /personal proxy identities shows whom I know."))
        return replace(call, account=as_account(call.account, found[0]))

    async def _owner_of(self, call: Invocation, known: Sequence[Speaker]) -> Speaker | None:
        """Return whose memory an id alone means, as the buttons of a card give it: an id is one memory's for ever."""
        first = _FIRST_ID.match(str(call.options.get("id") or call.options.get("ids") or ""))
        if not known or first is None:
            return None
        memory_id, since = int(first[0]), self._desk.writing.clock.now() - UNDO_KEPT
        gone = await self._desk.undo.read(memory_id, since)
        for each in known:
            if each.user_id is None:
                continue
            if gone is not None and gone.memory.scope is MemoryScope.PERSONAL and gone.memory.owner_id == each.user_id:
                return each
            if await self._desk.rows.find(MemoryScope.PERSONAL, memory_id, each.user_id) is not None:
                return each
        return None

    async def _of(self, account: Account) -> list[Speaker]:
        given: list[Sequence[Speaker]] = await self._desk.hooks.collect("own_identities", account=account)
        return [each for speakers in given for each in speakers]

    async def _suggest(self, call: Invocation, typed: str) -> Sequence[Choice]:
        wanted = normalise(typed)
        return [
            Choice(each.key.id, each.display_name)
            for each in await self._of(call.account)
            if wanted in normalise(each.display_name)
        ][:MOST_CHOICES]


def as_account(account: Account, identity: Speaker) -> Account:
    """Return the account as it acts for one of its identities: its row and privacy, the identity's memories."""
    return replace(account, key=identity.key, user_id=identity.user_id, display_name=identity.display_name)
