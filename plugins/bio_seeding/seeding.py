"""One snapshot of what is published about an identity; refused, it is tried again at the next message."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from agent.contracts.memory import MemoryScope, MemorySource, MemoryWrite, MemoryWritten, Origin, WriteKind
from agent.contracts.people import GLOBAL_LINEAGE
from agent.places import Audience
from agent.text import clean, clip, one_line
from agent.turn.values import user_owner

if TYPE_CHECKING:
    from agent.contracts.people import Registration
    from agent.core import Core
    from plugins.bio_seeding.repository import SeedRepository

LIMIT: Final = 1_000
"""Characters of a bio."""
KINDS: Final = frozenset({"bio", "pronouns"})
"""What is taken over; what is not published the first time never is."""
MOST_DONE: Final = 10_000


def texts_of(registration: Registration) -> dict[str, str]:
    """Return what would be kept, by kind: in one line, with braces that stand for nothing."""
    bio, pronouns = _plain(registration.bio), _plain(registration.speaker.pronouns)
    found = {"bio": bio, "pronouns": f"Pronouns: {pronouns}" if pronouns else ""}
    return {what: text for what, text in found.items() if text}


def _plain(text: str | None) -> str:
    escaped = one_line(clean(text or "")).replace("{", "(").replace("}", ")")
    return clip(" ".join(escaped.split()), LIMIT)


class Seeding:
    """Writes through `write_memory`, so that every guard is asked as for any other memory."""

    def __init__(self, core: Core, repository: SeedRepository) -> None:
        self._core = core
        self._repository = repository
        self._done: OrderedDict[str, None] = OrderedDict()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def seed(self, registration: Registration) -> None:
        """Keep what was not kept yet."""
        key = registration.speaker.key.id
        wanted = texts_of(registration)
        if key in self._done or registration.speaker.user_id is None:
            return
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            digest = await self._repository.digest(key)
            for what in sorted(KINDS - await self._repository.seeded(digest)):
                if (text := wanted.get(what)) is not None and not await self._write(registration, text):
                    return  # refused for now: the next message brings it again
                await self._repository.keep(digest, what, self._core.clock.now())
            self._finish(key)

    async def _write(self, registration: Registration, text: str) -> bool:
        speaker = registration.speaker
        write = MemoryWrite(
            kind=WriteKind.CREATE,
            scope=MemoryScope.PERSONAL,
            server_id=registration.server_id,
            user_id=speaker.user_id,
            lineage_id=GLOBAL_LINEAGE,
            content=text,
            audience=Audience.OPEN,
            origin=Origin.BIO,
            source=MemorySource(
                platform=registration.platform,
                server_id=registration.server_id,
                channel_external_id=registration.channel_external_id,
                message_id=None,  # it goes with no message
                turn_id=None,
                tool=None,
                author_account_id=registration.account_id,
                occurred_at=registration.occurred_at,
            ),
            subject_user_id=speaker.user_id,
            about_proxy_identity=True,
            host_account_ids=speaker.host_account_ids,
        )
        written: MemoryWritten | None = await self._core.hooks.first("write_memory", write=write)
        if written is None or not written.saved:
            return False
        if speaker.user_id is not None:
            self._core.revisions.announce(user_owner(speaker.user_id))
        return True

    def _finish(self, key: str) -> None:
        self._done[key] = None
        while len(self._done) > MOST_DONE:
            self._done.popitem(last=False)
