"""Exports and imports on a stage, for tests."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.personas.repository import Personas
from agent.privacy.audit import Audit
from agent.settings.model import AgentSettings
from plugins.memory.transfer.export import Exported, Reach
from plugins.memory.transfer.importing import How
from plugins.memory.transfer.outcome import Became, Imported
from plugins.memory.transfer.reading import read_file
from plugins.memory.transfer.service import Transfers, Whereto
from tests.plugins.memory.stage import Stage


@dataclass
class GivenBytes:
    """A file that somebody attached."""

    content: bytes
    name: str = "memories.json"

    async def read(self, limit: int) -> bytes:
        assert len(self.content) <= limit
        return self.content


@dataclass
class Traffic:
    stage: Stage
    transfers: Transfers = field(init=False)

    def __post_init__(self) -> None:
        self.configure()

    def configure(self, **settings: Any) -> None:
        if settings:
            self.stage.configure(**settings)
        personas = Personas(self.stage.store, AgentSettings(), self.stage.clock)
        self.transfers = Transfers(personas, self.stage.toolbox.writing, Audit(self.stage.store))

    async def export(self, **reach: Any) -> dict[str, Any]:
        exported = await self.exported(**reach)
        found: dict[str, Any] = json.loads(exported.content)
        return found

    async def exported(self, **reach: Any) -> Exported:
        return await self.transfers.exporter.export(Reach(**reach))

    async def take(self, data: Any, server_id: int | None = None, how: How | None = None, **to: Any) -> Imported:
        content = data if isinstance(data, bytes) else json.dumps(data).encode()
        parsed = read_file(content, "memories.json")
        where = Whereto("console", server_id, to.pop("takes_server", server_id is not None), **to)
        return await self.transfers.importer.run(parsed, await self.transfers.target(where), how or How())


def file_of(*entries: Mapping[str, Any], personal: tuple[Mapping[str, Any], ...] = (), **more: Any) -> dict[str, Any]:
    return {
        "format": "isthmus-memories",
        "version": 1,
        "server_memories": list(entries),
        "personal_memories": list(personal),
        **more,
    }


def became(imported: Imported) -> list[Became]:
    return [line.became for line in imported.lines]


def plain(data: dict[str, Any]) -> list[dict[str, Any]]:
    """What must be the same after an export and an import elsewhere."""
    same = ("content", "lineage", "about", "person", "audience", "place", "tags", "created_at")
    entries = [*data["server_memories"], *data["personal_memories"]]
    return [{key: entry.get(key) for key in same} for entry in entries]
