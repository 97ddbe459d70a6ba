"""What may be done with the presets of a server: each change in one transaction, within the deployment's limits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.catalog import N_, fill
from agent.text import clean, clip, one_line
from plugins.presets.preset import MAX_NAME, Preset
from plugins.presets.reading import read_preset
from plugins.presets.repository import PresetRepository, preset_owner

if TYPE_CHECKING:
    from agent.core import Core
    from agent.tools import Connection
    from plugins.presets.settings import PresetSettings


class PresetRefused(Exception):
    """Something cannot be done; `translate(locale, refused.msgid, **refused.values)` says it to its user."""

    def __init__(self, msgid: str, **values: object) -> None:
        self.msgid = msgid
        self.values = values
        super().__init__(fill(msgid, values))


class FileFaults(Exception):
    """A file holds a preset with faults; nothing of it was taken. `lines` says which."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self.lines = lines
        super().__init__("\n".join(lines))


@dataclass(frozen=True, slots=True)
class Imported:
    """A preset that was taken over."""

    preset: Preset
    notes: tuple[str, ...]
    replaced: bool


class Presets:
    """Reads and changes presets."""

    def __init__(self, core: Core, repository: PresetRepository, settings: PresetSettings) -> None:
        self._core = core
        self._repository = repository
        self._settings = settings

    async def all(self, server_id: int) -> tuple[Preset, ...]:
        """Return the presets of a server by name."""
        return await self._repository.presets(server_id)

    async def get(self, server_id: int, name: str) -> Preset:
        """Return a preset.

        Raises:
            PresetRefused: there is none of that name.
        """
        return _known(await self._repository.find(server_id, _tidy(name)), name)

    async def import_file(
        self, server_id: int, content: bytes, file_name: str, *, name: str = "", replacing: bool = False
    ) -> Imported:
        """Take over the preset of a file; nothing is written unless all of it is sound.

        Raises:
            FileRefused: the file as a whole cannot be used.
            FileFaults: something in it is not sound.
            PresetRefused: there is a preset of that name, or no room.
        """
        limit = self._settings.max_tokens
        read, report = await asyncio.to_thread(read_preset, content, file_name, max_tokens=limit)
        if read is None:
            raise FileFaults(report.lines())
        preset = replace(read, name=_tidy(name) or read.name)
        async with self._changing(server_id) as (conn, count):
            old = await self._repository.find_on(conn, server_id, preset.name)
            if old is not None and not replacing:
                msgid = N_("There is a preset “{name}” already: give another name, or say that it be replaced.")
                raise PresetRefused(msgid, name=old.name)
            if old is not None:
                await self._repository.remove(conn, old.preset_id)
                preset = replace(preset, in_use=old.in_use)
            elif count >= self._settings.max_presets:
                raise PresetRefused(N_("A server has at most {limit} presets."), limit=self._settings.max_presets)
            preset_id = await self._repository.add(conn, server_id, preset, self._core.clock.now())
        return Imported(replace(preset, preset_id=preset_id), report.lines(), old is not None)

    async def use(self, server_id: int, name: str) -> Preset:
        """Let a server use a preset.

        Raises:
            PresetRefused: there is none of that name.
        """
        async with self._changing(server_id) as (conn, _):
            preset = _known(await self._repository.find_on(conn, server_id, _tidy(name)), name)
            await self._repository.use(conn, server_id, preset.preset_id)
        return replace(preset, in_use=True)

    async def use_none(self, server_id: int) -> str | None:
        """Let a server use no preset; return the name of the one that it used."""
        async with self._changing(server_id) as (conn, _):
            return await self._repository.use(conn, server_id, None)

    async def remove(self, server_id: int, name: str) -> Preset:
        """Remove a preset.

        Raises:
            PresetRefused: there is none of that name.
        """
        async with self._changing(server_id) as (conn, _):
            preset = _known(await self._repository.find_on(conn, server_id, _tidy(name)), name)
            await self._repository.remove(conn, preset.preset_id)
        return preset

    @contextlib.asynccontextmanager
    async def _changing(self, server_id: int) -> AsyncIterator[tuple[Connection, int]]:
        """Hold the server's presets for a change; afterwards what is cached of them is stale."""
        async with self._core.store.transaction() as conn:
            count = await self._repository.lock(conn, server_id)
            yield conn, count
            await self._repository.note_change(conn, server_id)
        self._core.revisions.announce(preset_owner(server_id))


def _tidy(name: str) -> str:
    """Return a name as it is kept: one line that the database takes."""
    return clip(one_line(clean(name)), MAX_NAME)


def _known(preset: Preset | None, name: str) -> Preset:
    if preset is None:
        raise PresetRefused(N_("There is no preset “{name}” here."), name=_tidy(name))
    return preset
