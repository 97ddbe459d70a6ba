"""`remove` and `undo`: several at once only after asking back."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from agent.catalog import N_, translate, translate_count
from agent.commands import CommandReply, Invocation, Step, StepKind
from agent.confirmations import LENGTH, VALID, Answer
from agent.contracts.memory import WriteKind
from agent.privacy.audit import Act
from plugins.memory.amending import delete
from plugins.memory.cards import undo_hint
from plugins.memory.commands.desk import (
    CHANGED,
    NOT_FOUND,
    Desk,
    Refused,
    Shelf,
    actor_of,
    acts_for_identity,
    change_of,
    check_writer,
    memory_id_of,
    path_of,
    personal_shelf,
    record,
    reply,
    server_shelf,
    version_of,
)
from plugins.memory.commands.identities import OPTION
from plugins.memory.rules import admits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from agent.tools import Connection
    from plugins.memory.memory import Memory

MOST_AT_ONCE: Final = 1000
_BETWEEN: Final = re.compile(r"[\s,]+")
_REFUSED: Final = {
    Answer.WRONG: N_("That is not the code. Nothing was removed; look at it again."),
    Answer.VOID: N_("No open question has this code. Nothing was removed; ask again without a code."),
}


class Removing:
    """Both `remove`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def remove_server(self, call: Invocation) -> CommandReply:
        """Remove memories of this server."""
        ids, _ = asked_for(call)
        await check_writer(self._desk, call, ids[0] if len(ids) == 1 else None)
        return await self._remove(call, server_shelf(call))

    async def remove_personal(self, call: Invocation) -> CommandReply:
        """Remove memories about whoever asks."""
        return await self._remove(call, personal_shelf(call))

    async def _remove(self, call: Invocation, shelf: Shelf) -> CommandReply:
        ids, code = asked_for(call)
        memories = await self._found(call, shelf, ids)
        if len(memories) > 1:
            action = _action(call, [memory.memory_id for memory in memories])
            if code is None:
                return await self._ask_back(call, memories, action)
            answer = await self._desk.confirmations.answer(call.account.account_id, action, code, call.now)
            if answer is not Answer.CONFIRMED:
                raise Refused(_REFUSED[answer])
        removed = [memory.memory_id for memory in memories if await self._delete(call, memory)]
        if not removed:
            raise Refused(NOT_FOUND, id=ids[0])
        text = translate_count(
            call.locale,
            "{count} memory removed: {ids}.",
            "{count} memories removed: {ids}.",
            len(removed),
            ids=", ".join(map(str, removed)),
        )
        several = translate(call.locale, "Within 24 hours each of them can be brought back: /memories undo ID")
        hint = undo_hint(removed[0], call.locale) if len(removed) == 1 else several
        whose = {OPTION: call.account.key.id} if acts_for_identity(call) else {}
        undo = Step(translate(call.locale, "Undo"), (*call.command[:-1], "undo"), {"id": removed[0], **whose})
        return reply(f"{text} {hint}", [undo] if len(removed) == 1 else [], removed=removed)

    async def _found(self, call: Invocation, shelf: Shelf, ids: Sequence[int]) -> list[Memory]:
        """Return the memories of these ids that may be known here.

        Deleting is never refused for the sake of privacy, so nothing else is asked; the answer repeats no text.
        """
        found: list[Memory] = []
        for memory_id in ids:
            memory = await self._desk.rows.find(shelf.scope, memory_id, shelf.owner_id)
            if memory is None or not admits(memory, call.place, (call.account.user_id,)):
                raise Refused(NOT_FOUND, id=memory_id)
            if version_of(call) not in {None, memory.version}:
                raise Refused(CHANGED, id=memory_id)
            found.append(memory)
        return found

    async def _ask_back(self, call: Invocation, memories: Sequence[Memory], action: str) -> CommandReply:
        code = await self._desk.confirmations.ask(call.account.account_id, action, call.now)
        ids = ",".join(str(memory.memory_id) for memory in memories)
        text = translate(
            call.locale,
            "This removes {count} memories. To go on, run within {minutes} minutes: {command} {ids} {code}",
            count=len(memories),
            minutes=_minutes(VALID),
            command=path_of(call),
            ids=ids,
            code=code,
        )
        label = translate_count(call.locale, "Remove {count} memory", "Remove {count} memories", len(memories))
        step = Step(label, call.command, {"ids": ids, "code": code}, StepKind.CONFIRM)
        return reply(text, [step], code=code, memory_ids=[memory.memory_id for memory in memories])

    async def _delete(self, call: Invocation, memory: Memory) -> bool:
        async def bind(conn: Connection, _: str) -> None:
            await record(self._desk, call, Act.DELETED, [memory], conn)

        write = change_of(call, memory, WriteKind.DELETE)
        return await delete(self._desk.writing, write, memory, actor_of(call), bind) is not None


def asked_for(call: Invocation) -> tuple[tuple[int, ...], str | None]:
    """Return the ids that are named, in order, and the code that confirms them.

    Raises:
        Refused: none is named, one is no id, or there are too many.
    """
    words = [word for word in _BETWEEN.split(f"{call.options['ids']} {call.options.get('code') or ''}") if word]
    code = None
    if len(words) > 1 and len(words[-1].replace("-", "")) == LENGTH and not words[-1].isdecimal():
        code = words.pop()
    ids = tuple(sorted({_id(word) for word in words}))
    if not ids or len(ids) > MOST_AT_ONCE:
        raise Refused(N_("Name between 1 and {limit} ids, with commas between them."), limit=MOST_AT_ONCE)
    return ids, code


def _id(word: str) -> int:
    return memory_id_of(int(word) if word.isascii() and word.isdecimal() and len(word) < 20 else word)  # noqa: PLR2004


def _action(call: Invocation, ids: Sequence[int]) -> str:
    """Return what is confirmed: exactly these memories, so that a code never removes others."""
    named = hashlib.sha256(",".join(map(str, ids)).encode()).hexdigest()
    return f"{' '.join(call.command)} {named}"


def _minutes(time: timedelta) -> int:
    return round(time.total_seconds() / 60)
