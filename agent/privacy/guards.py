"""The one question before a memory is written or shown: the core's privacy first, then every plugin's guard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from agent.contracts.memory import MemoryRead, MemoryScope, MemoryWrite, WriteKind
from agent.contracts.people import Denial
from agent.privacy.check import DISABLED, Facts, PersonFacts, check_read, check_write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.privacy.hidden import Hidden
    from agent.privacy.repository import Privacy
    from agent.tools import Connection

PROXY_IDENTITY: Final = "proxy_identity"
"""What a plugin must declare in `covers` so that proxied identities may have memories."""


class Hooks(Protocol):
    """What guards need of the plugin host."""

    async def guard(self, name: str, /, **values: Any) -> Denial | None:
        """Ask every plugin; one that fails has refused."""
        ...

    def covers(self, topic: str, hook: str | None = None) -> bool:
        """Tell whether a started plugin guards a topic."""
        ...


class MemoryGuards:
    """Asks everybody who may refuse; fails closed. A deletion is never refused."""

    def __init__(self, privacy: Privacy, hooks: Hooks) -> None:
        self._privacy = privacy
        self._hooks = hooks

    async def check_write(self, write: MemoryWrite) -> Denial | None:
        """Return why a memory may not be created or updated; asked outside of any transaction, to refuse early."""
        if write.kind is WriteKind.DELETE:
            return None
        people = await self._privacy.facts_of_write(write)
        facts = Facts(people, self._hooks.covers(PROXY_IDENTITY, "guard_memory_write"))
        denial = check_write(write, facts)
        return denial if denial is not None else await self._hooks.guard("guard_memory_write", write=write)

    async def recheck(self, conn: Connection, write: MemoryWrite) -> Denial | None:
        """Return the same inside the writing transaction: what is allowed here stays so until it ends.

        Locks what the write rests on (`Privacy.lock_facts_of_write`). After a denial nothing may be written.
        """
        people = await self._privacy.lock_facts_of_write(conn, write)
        if write.kind is WriteKind.DELETE:
            return None
        facts = Facts(people, self._hooks.covers(PROXY_IDENTITY, "guard_memory_write"))
        denial = check_write(write, facts)
        if denial is not None:
            return denial
        return await self._hooks.guard("recheck_memory_write", conn=conn, write=write)

    async def check_read(self, read: MemoryRead, people: tuple[PersonFacts, ...] | None = None) -> Denial | None:
        """Return why what is remembered about an owner may not be shown to anybody, the model included.

        `people` are the facts of this moment, where the caller has read them for several owners at once.
        """
        if people is None:
            people = await self._privacy.facts_of_read(read)
        facts = Facts(people, self._hooks.covers(PROXY_IDENTITY, "guard_memory_read"))
        if not facts.people and await self._is_switched_off(read):
            return DISABLED
        denial = check_read(read, facts)
        return denial if denial is not None else await self._hooks.guard("guard_memory_read", read=read)

    async def check_own_read(self, read: MemoryRead) -> Denial | None:
        """Return why somebody may not be shown now what is remembered about themselves.

        Only plugins are asked: a level or a blacklist never keeps it from the person, who may want to remove it.
        """
        return await self._hooks.guard("guard_memory_read", read=read)

    async def hidden_names(
        self, server_id: int, account_ids: Sequence[int] = (), conn: Connection | None = None
    ) -> Hidden:
        """Return who hides, so that a list or notice shows no text that names them, as no prompt does."""
        return await self._privacy.hidden_names(server_id, account_ids, conn)

    async def _is_switched_off(self, read: MemoryRead) -> bool:
        """Ask the server's switch where no person's facts tell of it: a proxied identity has no account of its own."""
        if read.scope is not MemoryScope.PERSONAL or read.server_id is None:
            return False
        return await self._privacy.wants_no_personal_memories(read.server_id)
