"""What the model is reminded of in every turn: the memories of the server and of who takes part (memory.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import asyncpg

from agent import logs, metrics
from agent.contracts.context import ContextItem, Tag
from agent.contracts.memory import MemoryRead, MemoryScope
from agent.store.errors import StoreError
from agent.turn.values import server_owner, user_owner
from plugins.memory.reading import untellable
from plugins.memory.recall import Admitted
from plugins.memory.rendering import (
    Names,
    block,
    entry,
    labels_of,
    names_of,
    person_heading,
    server_heading,
    shown_text,
)
from plugins.memory.repository import Standing
from plugins.memory.rules import admits, applies, readers_of, subject_accounts
from plugins.memory.toolbox import CHANNEL_MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agent.contracts.people import Participant
    from agent.privacy.guards import MemoryGuards
    from agent.turn.values import Turn
    from plugins.memory.recall import RecallCollector
    from plugins.memory.remembered import Remembered, RememberedCache
    from plugins.memory.repository import MemoryRepository
    from plugins.memory.search import Retrieval
    from plugins.memory.seen import SeenVersions
    from plugins.memory.settings import DecaySettings

_log = logs.get_logger("plugins.memory")
metrics.declare("memory_blocks_left_out", "counter", ("block",), "Blocks of memories that could not be prepared.")


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What the block leaves out because it sleeps, and who may call it back."""

    decay: DecaySettings
    retrieval: Retrieval
    collector: RecallCollector

    async def model(self) -> str | None:
        """Return the model whose memories may be withheld; None when nothing may be."""
        return await self.retrieval.model() if self.decay.enabled else None


class StandingContext:
    """Prepares both blocks of a turn.

    At most two queries: what is not cached of the rows; and privacy and blacklist, which are read anew each time.
    """

    def __init__(
        self,
        repository: MemoryRepository,
        cache: RememberedCache,
        guards: MemoryGuards,
        seen: SeenVersions,
        forgetting: Forgetting,
    ) -> None:
        self._repository = repository
        self._cache = cache
        self._guards = guards
        self._seen = seen
        self._forgetting = forgetting

    async def items(self, turn: Turn) -> tuple[ContextItem, ...]:
        """Return the items; none while a user is impersonated, and none when the rows cannot be loaded."""
        if turn.impersonating is not None:
            return ()
        people = candidates(turn.participants)
        try:
            rows = await self._cache.read(turn.revisions, turn.place.server.server_id, people, turn.persona.lineage_id)
            standing = await self._standing(turn, people, rows)
        except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            _leave_out("all", error)
            return ()
        server = personal = Admitted()
        try:
            server = await self._server_memories(turn, rows[server_owner(turn.place.server.server_id)], standing)
        except Exception as error:  # noqa: BLE001 - whatever it is, no unfiltered text may take the block's place
            _leave_out("server", error)
        try:
            personal = await self._personal_memories(turn, people, rows, standing)
        except Exception as error:  # noqa: BLE001 - the same
            _leave_out("personal", error)
        self._seen.show(turn.turn_id, server, personal)
        self._forgetting.collector.put(turn.turn_id, server, personal)
        return (
            *block(Tag.KNOWLEDGE_SERVER_MEMORIES, server.awake(standing.asleep)),
            *block(Tag.KNOWLEDGE_USER_MEMORIES, personal.awake(standing.asleep)),
        )

    async def _standing(self, turn: Turn, people: Iterable[int], rows: Mapping[str, Remembered]) -> Standing:
        server_id = turn.place.server.server_id
        accounts = subject_accounts(rows[server_owner(server_id)].memories)
        users = [user_id for user_id in people if rows[user_owner(user_id)].memories]
        model = await self._forgetting.model()
        days = self._forgetting.decay.days
        asleep = [] if model is None else [one for each in rows.values() for one in each.dormant(turn.now, days)]
        mentioned = _mentioned(turn, rows.values())
        if not accounts and not users and not asleep and not mentioned:
            return Standing((), {})
        return await self._repository.standing(accounts, users, server_id, asleep, model, mentioned=mentioned)

    async def _server_memories(self, turn: Turn, rows: Remembered, standing: Standing) -> Admitted:
        read = _read(turn, MemoryScope.SERVER, None)
        if not rows.memories or await self._guards.check_read(read, standing.people) is not None:
            return Admitted()
        withheld = await untellable(self._guards, read, rows.memories, standing.people)
        channel_memory = bool(turn.preferences.get(CHANNEL_MEMORY.key, CHANNEL_MEMORY.default))
        readers = readers_of(turn.participants, turn.account.user_id)
        labels = labels_of(turn.place, turn.bot_name, turn.bot_keys, standing.mentioned)
        names = names_of(turn.bot_name, turn.participants, standing.names, labels)
        heading = server_heading(turn.bot_name, turn.place.server)
        admitted = Admitted()
        for memory, plain in zip(rows.memories, rows.lines(heading), strict=True):
            if (
                memory.memory_id in withheld
                or not admits(memory, turn.place, readers)
                or not applies(memory, turn.place, channel_memory=channel_memory)
            ):
                continue
            admitted.add(memory, plain or entry(memory, shown_text(memory, names), heading))
        return admitted

    async def _personal_memories(
        self, turn: Turn, people: Mapping[int, Participant], rows: Mapping[str, Remembered], standing: Standing
    ) -> Admitted:
        labels = distinct_labels(people)
        mentions = labels_of(turn.place, turn.bot_name, turn.bot_keys, standing.mentioned)
        names = Names(turn.bot_name, {}, labels, names_of(turn.bot_name, turn.participants, labels=mentions).labels)
        readers = readers_of(turn.participants, turn.account.user_id)
        admitted = Admitted()
        for user_id, person in people.items():
            remembered = rows[user_owner(user_id)]
            if not remembered.memories:
                continue
            read = _read(turn, MemoryScope.PERSONAL, user_id, proxied=person.speaker.is_proxied)
            if await self._guards.check_read(read, standing.people) is not None:
                continue
            heading = person_heading(turn.bot_name, labels[user_id])
            for memory, plain in zip(remembered.memories, remembered.lines(heading), strict=True):
                if admits(memory, turn.place, readers):
                    admitted.add(memory, plain or entry(memory, shown_text(memory, names), heading))
        return admitted


def _mentioned(turn: Turn, rows: Iterable[Remembered]) -> frozenset[str]:
    """Return the platform ids of those whom memories mention and who do not take part."""
    present = {person.account.key.id for person in turn.participants} | {key.id for key in turn.bot_keys}
    return frozenset(key for each in rows for key in each.mentioned) - present


def _read(turn: Turn, scope: MemoryScope, user_id: int | None, *, proxied: bool = False) -> MemoryRead:
    return MemoryRead(
        scope=scope,
        server_id=turn.place.server.server_id,
        user_id=user_id,
        lineage_id=turn.persona.lineage_id,
        reader_account_id=turn.account.account_id,
        about_proxy_identity=proxied,
        reader_user_id=turn.speaker.user_id,
    )


def candidates(participants: Iterable[Participant]) -> dict[int, Participant]:
    """Return by user id, in a stable order, who may be remembered as far as the turn knows; guards are asked later.

    Whoever speaks through several accounts is one person, and one restricted account is enough to leave them out.
    """
    found: dict[int, Participant] = {}
    withheld: set[int] = set()
    for person in participants:
        user_id = person.speaker.user_id
        if user_id is None:
            continue
        if not person.may_be_remembered:
            withheld.add(user_id)
        found.setdefault(user_id, person)
    return {user_id: found[user_id] for user_id in sorted(found) if user_id not in withheld}


def distinct_labels(people: Mapping[int, Participant]) -> dict[int, str]:
    """Return the label of each person; those who share one get their handle beside it."""
    labels: Sequence[str] = [person.label for person in people.values()]
    return {
        user_id: person.label if labels.count(person.label) == 1 else f"{person.label} (@{{{person.handle}}})"
        for user_id, person in people.items()
    }


def _leave_out(name: str, error: Exception) -> None:
    _log.error("memory_block_left_out", block=name, exc_info=error)
    metrics.emit("memory_blocks_left_out", block=name)
