"""Exports and imports as commands ask for them: whose, in which persona, and the report in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.contracts.people import DEFAULT_LINEAGE
from agent.json_file import SHOWN
from agent.personas.calling import default_of
from agent.text import clip
from plugins.memory.transfer.entries import ImportRefused
from plugins.memory.transfer.export import Exporter
from plugins.memory.transfer.importing import Importer
from plugins.memory.transfer.outcome import Became
from plugins.memory.transfer.planning import Target
from plugins.memory.transfer.repository import TransferRepository

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.contracts.people import Persona
    from agent.personas.repository import Personas
    from agent.privacy.audit import Audit
    from plugins.memory.saving import Writing
    from plugins.memory.transfer.outcome import Imported


@dataclass(frozen=True, slots=True)
class Whereto:
    """Where an import goes, as a command knows it."""

    platform: str
    server_id: int | None
    takes_server: bool = True
    user_id: int | None = None
    persona: str = ""
    """The name of the persona for everything; empty: as the file says."""
    speaking: Persona | None = None
    """The persona for what the file says nothing of; None: the server's default one."""
    channel: str | None = None


class Transfers:
    """The export and the import of one agent."""

    def __init__(self, personas: Personas, writing: Writing, audit: Audit) -> None:
        self.guards = writing.guards
        self._personas = personas
        self._writing = writing
        self.repository = TransferRepository(writing.store, personas)
        self.exporter = Exporter(self.repository, writing.repository, writing.guards, audit, writing.clock)
        self.importer = Importer(writing, self.repository, audit)

    async def tell_once(self, account_id: int) -> bool:
        """Note that a person is told that the agent remembers; tell whether it is for the first time."""
        return await self._writing.repository.tell_once(account_id, self._writing.clock.now())

    async def lineage(self, server_id: int, persona: str) -> int:
        """Return the lineage of a persona by its name.

        Raises:
            ImportRefused: there is none of that name; the line lists those that there are.
        """
        return _chosen(await self._personas.for_server(server_id), persona).lineage_id

    async def target(self, to: Whereto) -> Target:
        """Return where an import goes.

        Raises:
            ImportRefused: there is no persona of that name.
        """
        personas = () if to.server_id is None else await self._personas.for_server(to.server_id)
        if to.persona:
            lineage_id = _chosen(personas, to.persona).lineage_id
        elif to.speaking is not None:
            lineage_id = to.speaking.lineage_id
        else:
            lineage_id = default_of(personas).lineage_id if personas else DEFAULT_LINEAGE
        own: frozenset[tuple[str, str]] = frozenset()
        others: Sequence[tuple[str, int]] = ()
        if to.user_id is not None:
            own = frozenset(each[1:] for each in await self.repository.accounts_of_user(to.user_id))
            others = await self.repository.personas_of_user(to.user_id)
        return Target(
            platform=to.platform,
            server_id=to.server_id,
            takes_server=to.takes_server,
            user_id=to.user_id,
            own=own,
            lineage_id=lineage_id,
            forced=bool(to.persona),
            personas=tuple((each.nickname, each.lineage_id) for each in personas),
            others=others,
            channel=to.channel,
        )


def _chosen(personas: Sequence[Persona], name: str) -> Persona:
    found = next((each for each in personas if each.nickname.casefold() == name.strip().casefold()), None)
    if found is None:
        choices = ", ".join(repr(each.nickname) for each in personas) or "none"
        raise ImportRefused(f"persona {clip(name, 80)!r}: there is none of that name; there are {choices}")
    return found


def report_lines(imported: Imported, shown: int = SHOWN) -> list[str]:
    """Return what is said of an import: what was left out first, then what was saved, then notes; the rest counted."""
    order = (Became.FULL, Became.REFUSED, Became.EVICTED, Became.KNOWN, Became.SAVED)
    lines = [line.text() for kind in order for line in imported.lines if line.became is kind]
    lines = [*imported.notes, *lines]
    more = len(lines) - shown
    return [*lines[:shown], *([f"… and {more} more"] if more > 0 else ())]


def refusal_lines(refused: ImportRefused, shown: int = SHOWN) -> list[str]:
    """Return the faults of a file; the first ones, and how many more there are."""
    more = len(refused.lines) - shown
    return [*refused.lines[:shown], *([f"… and {more} more"] if more > 0 else ())]
