"""What lorebooks add to a turn."""

from __future__ import annotations

import asyncio
import hashlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import asyncpg

from agent import logs, metrics
from agent.identity.mentions import Labels, readable
from agent.store.errors import StoreError
from plugins.lorebook.keys import PatternSearch
from plugins.lorebook.rendering import items_of, names_of
from plugins.lorebook.rules import Activation, Limits, activate

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from agent.bridge import HistoryMessage
    from agent.contracts.context import ContextItem
    from agent.places import Place
    from agent.turn.values import Turn
    from plugins.lorebook.book import Entry
    from plugins.lorebook.rules import Chance
    from plugins.lorebook.settings import LorebookSettings
    from plugins.lorebook.shelf import Shelf, Shelves

_log = logs.get_logger("plugins.lorebook")
metrics.declare("lorebook_patterns_late", "counter", (), "Patterns of lorebooks that took too long.")

PATTERNS_AT_ONCE: Final = 5
"""All patterns of a scan together have so many times the seconds of one."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What was found, and the patterns that took too long."""

    activation: Activation
    late: tuple[str, ...] = ()


def always(_entry: Entry) -> float:
    """Draw so that every entry whose keys are said joins."""
    return 0.0


def chance_for(message: str) -> Chance:
    """Return how entries are drawn for a message: by its id, so that a turn that is begun again draws the same."""

    def draw(entry: Entry) -> float:
        digest = hashlib.blake2b(f"{message}/{entry.entry_id}".encode(errors="replace"), digest_size=8).digest()
        return int.from_bytes(digest) / 2**64 * 100

    return draw


MAX_TEXT: Final = 100_000
"""Characters of what was said that are read; older messages are not."""


def said_in(turn: Turn, limit: int, depth: int) -> list[str]:
    """Return what is read for keys, the present message first: nothing of whom the prompt does not show either.

    Mentions stand there by name, as in the prompt; each message is cut to `limit` characters.
    """
    shown = {str(person.account.key) for person in turn.participants}
    people = dict(Labels.of(turn.participants).people)
    labels = Labels(people | {key.id: turn.bot_name for key in turn.bot_keys})
    said: list[str] = []
    length = 0
    for text in (turn.event.text, *(m.text for m in reversed(turn.history) if _is_shown(m, shown))):
        length += min(len(text), limit)
        if len(said) >= depth or (said and length > MAX_TEXT):
            break
        said.append(readable(text[:limit], labels))
    return said


def _is_shown(message: HistoryMessage, people: Container[str]) -> bool:
    return message.from_agent or str(message.author.key) in people


class LoreContext:
    """Finds the lore of a message."""

    def __init__(self, shelves: Shelves, settings: LorebookSettings, *, message_limit: int) -> None:
        self._shelves = shelves
        self._settings = settings
        self._message_limit = message_limit

    async def items(self, turn: Turn) -> tuple[ContextItem, ...]:
        """Return the items of a turn; none when the lorebooks cannot be read."""
        try:
            shelf = await self._shelves.of(turn.place.server.server_id)
        except (StoreError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            _log.error("lore_left_out", error=type(error).__name__)
            return ()
        messages = said_in(turn, self._message_limit, shelf.depth)
        chance = chance_for(turn.event.event_id)
        scan = await self.search(shelf, turn.place, turn.persona.lineage_id, messages, chance)
        return items_of(scan.activation.hits, names_of(turn.bot_name, turn.speaker.display_name), turn.now)

    async def search(
        self, shelf: Shelf, place: Place, lineage_id: int, messages: Sequence[str], chance: Chance
    ) -> Scan:
        """Return what is active for these messages, the present one first. It is looked for in a thread."""
        entries = shelf.admitted(place, lineage_id)
        if not entries:
            return Scan(Activation())
        each = self._settings.pattern_seconds
        search = PatternSearch(shelf.strikes, each, each * PATTERNS_AT_ONCE, time.perf_counter)
        found = await asyncio.to_thread(
            activate,
            entries,
            messages,
            search=search,
            chance=chance,
            limits=Limits(self._settings.recursion_limit, self._settings.token_budget),
            budgets=shelf.budgets(),
        )
        if search.late:
            # The pattern itself is somebody's text: it is shown by `/lorebook test`, not written into a log.
            _log.warning("lorebook_patterns_late", count=len(search.late), server_id=place.server.server_id)
            metrics.emit("lorebook_patterns_late", len(search.late))
        return Scan(found, tuple(dict.fromkeys(search.late)))

    async def test(self, place: Place, lineage_id: int, text: str) -> Scan:
        """Return what a message would call up there, whatever the odds."""
        shelf = await self._shelves.of(place.server.server_id)
        return await self.search(shelf, place, lineage_id, [text], always)
