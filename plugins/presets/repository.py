"""All SQL of the presets plugin: rows in, frozen values out."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from agent.contracts.context import Role
from agent.store.queries import load_queries
from agent.store.revisions import bump, read
from plugins.presets.preset import Preset, PresetPrompt

if TYPE_CHECKING:
    from agent.store.pool import Store
    from agent.tools import Connection

QUERIES = load_queries(__name__)


def preset_owner(server_id: int) -> str:
    """Return the key of a server's presets in `owner_revisions`."""
    return f"presets:{server_id}"


class PresetRepository:
    """Reads and writes presets. What takes `conn` belongs into the caller's transaction, after `lock`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def revision(self, server_id: int) -> int:
        """Return the revision of a server's presets; 0 while there never was one."""
        owner = preset_owner(server_id)
        async with self._store.connection() as conn:
            return (await read(conn, [owner]))[owner]

    async def in_use(self, server_id: int) -> Preset | None:
        """Return the preset that a server uses."""
        async with self._store.connection() as conn:
            row = await conn.fetchrow(QUERIES["preset_in_use"], server_id)
        return None if row is None else _preset(row)

    async def presets(self, server_id: int) -> tuple[Preset, ...]:
        """Return the presets of a server by name."""
        async with self._store.connection() as conn:
            return tuple(map(_preset, await conn.fetch(QUERIES["presets"], server_id)))

    async def find(self, server_id: int, name: str) -> Preset | None:
        """Return a preset by its name."""
        async with self._store.connection() as conn:
            return await self.find_on(conn, server_id, name)

    async def find_on(self, conn: Connection, server_id: int, name: str) -> Preset | None:
        """Do the same within a transaction."""
        row = await conn.fetchrow(QUERIES["preset_by_name"], server_id, name)
        return None if row is None else _preset(row)

    async def lock(self, conn: Connection, server_id: int) -> int:
        """Hold the server's presets until the transaction ends, and return how many there are."""
        await conn.execute(QUERIES["lock_server"], server_id)
        count: int = await conn.fetchval(QUERIES["count_presets"], server_id)
        return count

    async def add(self, conn: Connection, server_id: int, preset: Preset, now: datetime) -> int:
        """Add a preset; return its id."""
        prompts = [_as_json(prompt) for prompt in preset.prompts]
        preset_id: int = await conn.fetchval(
            QUERIES["add_preset"], server_id, preset.name, prompts, dict(preset.samplers), preset.in_use, now
        )
        return preset_id

    async def use(self, conn: Connection, server_id: int, preset_id: int | None) -> str | None:
        """Let a server use a preset, or none; return the name of the one that it used."""
        name: str | None = await conn.fetchval(QUERIES["use_none"], server_id)
        if preset_id is not None:
            await conn.execute(QUERIES["use_preset"], preset_id)
        return name

    async def remove(self, conn: Connection, preset_id: int) -> None:
        """Remove a preset."""
        await conn.execute(QUERIES["remove_preset"], preset_id)

    async def note_change(self, conn: Connection, server_id: int) -> None:
        """Raise the revision, at the end of a transaction that changed something."""
        await bump(conn, [preset_owner(server_id)])

    async def counts(self) -> tuple[int, int]:
        """Return how many presets there are, and how many are in use, in all servers."""
        async with self._store.connection() as conn:
            row = await conn.fetchrow(QUERIES["counts"])
        return (0, 0) if row is None else (row["presets"], row["used"])


def _preset(row: Any) -> Preset:
    return Preset(
        name=row["name"],
        prompts=tuple(map(_prompt, row["prompts"])),
        samplers=row["samplers"],
        preset_id=row["preset_id"],
        in_use=row["in_use"],
    )


def _prompt(data: dict[str, Any]) -> PresetPrompt:
    return PresetPrompt(
        identifier=data["identifier"],
        name=data["name"],
        content=data["content"],
        role=Role(data["role"]),
        depth=data["depth"],
        priority=data["priority"],
        enabled=data["enabled"],
    )


def _as_json(prompt: PresetPrompt) -> dict[str, Any]:
    return {
        "identifier": prompt.identifier,
        "name": prompt.name,
        "content": prompt.content,
        "role": prompt.role.value,
        "depth": prompt.depth,
        "priority": prompt.priority,
        "enabled": prompt.enabled,
    }
