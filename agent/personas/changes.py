"""Changes of a server's personas, each one transaction under the server's lock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from agent.catalog import N_
from agent.identity.names import normalise
from agent.personas.calling import default_of
from agent.personas.repository import NO_AVATAR, QUERIES
from agent.personas.rules import (
    Draft,
    PersonaRefused,
    check_affixes,
    check_avatar,
    check_lineage,
    check_name,
    check_prompt,
    check_room,
    check_triggers,
    find,
    unknown_lineage,
)
from agent.privacy.repository import lock_server
from agent.store.revisions import bump
from agent.turn.values import server_owner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.clock import Clock
    from agent.contracts.people import Persona
    from agent.core import Core
    from agent.invalidation import Invalidation
    from agent.personas.repository import Personas
    from agent.store.pool import Store
    from agent.tools import Connection


@dataclass(frozen=True, slots=True)
class Changed:
    """A persona before and after a change."""

    before: Persona
    after: Persona


@dataclass(frozen=True, slots=True)
class _Scene:
    """The personas of one server, as they are under its lock."""

    conn: Connection
    server_id: int
    personas: tuple[Persona, ...]

    def find(self, name: str) -> Persona:
        return find(self.personas, name)

    def others(self, persona: Persona) -> tuple[Persona, ...]:
        return tuple(other for other in self.personas if other.persona_id != persona.persona_id)


@dataclass(frozen=True, slots=True)
class PersonaChanges:
    """What managers and the operator do to personas.

    Each method raises `PersonaRefused` when a persona cannot be so, and then nothing has changed. A change raises the
    server's revision, so that it holds for every turn that begins after it.
    """

    store: Store
    personas: Personas
    revisions: Invalidation
    clock: Clock

    @classmethod
    def of(cls, core: Core) -> Self:
        """Return the changes of an agent."""
        return cls(core.store, core.personas, core.revisions, core.clock)

    async def create(self, server_id: int, draft: Draft) -> Persona:
        """Add a persona with a lineage of its own; without a prompt it gets that of the deployment."""
        async with self._scene(server_id) as scene:
            check_room(scene.personas)
            name = check_name(draft.name, scene.personas)
            prompt = self.personas.defaults.prompt if draft.prompt is None else check_prompt(draft.prompt)
            avatar = None if draft.avatar is None else check_avatar(draft.avatar)
            triggers = list(check_triggers(draft.triggers, scene.personas))
            lineage_id, now = await self._new_lineage(scene), self.clock.now()
            persona_id = await scene.conn.fetchval(
                QUERIES["create"], server_id, lineage_id, name, prompt, avatar, triggers, now
            )
            return await self._again(scene, persona_id)

    async def rename(self, server_id: int, name: str, new_name: str) -> Changed:
        """Give a persona another name."""
        async with self._scene(server_id) as scene:
            persona = scene.find(name)
            return await self._set(scene, "rename", persona, check_name(new_name, scene.others(persona)))

    async def set_prompt(self, server_id: int, name: str, prompt: str) -> Changed:
        """Give a persona another prompt."""
        async with self._scene(server_id) as scene:
            persona = scene.find(name)
            return await self._set(scene, "set_prompt", persona, check_prompt(prompt))

    async def set_avatar(self, server_id: int, name: str, avatar: str) -> Changed:
        """Give a persona another picture, or with `none` no picture."""
        async with self._scene(server_id) as scene:
            persona = scene.find(name)
            return await self._set(scene, "set_avatar", persona, check_avatar(avatar) or NO_AVATAR)

    async def set_triggers(self, server_id: int, name: str, triggers: Sequence[str]) -> Changed:
        """Give a persona other triggers, or none."""
        async with self._scene(server_id) as scene:
            persona = scene.find(name)
            return await self._set(
                scene, "set_triggers", persona, list(check_triggers(triggers, scene.others(persona)))
            )

    async def set_affixes(self, server_id: int, name: str, affixes: Sequence[str]) -> Changed:
        """Give a persona other words that it puts around people's names, or none."""
        async with self._scene(server_id) as scene:
            return await self._set(scene, "set_affixes", scene.find(name), list(check_affixes(affixes)))

    async def make_default(self, server_id: int, name: str) -> Changed:
        """Make a persona the default one; `before` is who it was until now. No lineage changes."""
        async with self._scene(server_id) as scene:
            persona, until_now = scene.find(name), default_of(scene.personas)
            if persona.persona_id != until_now.persona_id:
                _check_apart(until_now, scene.others(until_now))
                defaults = self.personas.defaults
                values = (defaults.name, defaults.prompt, defaults.avatar, list(defaults.triggers))
                await self._set(scene, "unset_default", until_now, *values)
                persona = (await self._set(scene, "set_default", persona)).after
        return Changed(until_now, persona)

    async def reset(self, server_id: int) -> Changed:
        """Make the default persona what the deployment has set: name, prompt, picture and triggers, not the lineage."""
        async with self._scene(server_id) as scene:
            persona = default_of(scene.personas)
            check_name(self.personas.defaults.name, scene.others(persona))
            return await self._set(scene, "reset", persona)

    async def share_with(self, server_id: int, name: str, other_name: str) -> Changed:
        """Let a persona share the memories of another one of its server, from now on."""
        async with self._scene(server_id) as scene:
            return await self._set(scene, "set_lineage", scene.find(name), scene.find(other_name).lineage_id)

    async def share_lineage(self, server_id: int, name: str, lineage_id: int) -> Changed:
        """Let a persona share the memories of any lineage: for the operator alone, since it may be another server's."""
        async with self._scene(server_id) as scene:
            persona = scene.find(name)
            check_lineage(lineage_id)
            if not await scene.conn.fetchval(QUERIES["is_lineage"], lineage_id):
                raise unknown_lineage(lineage_id)
            return await self._set(scene, "set_lineage", persona, lineage_id)

    async def part(self, server_id: int, name: str) -> Changed:
        """Give a persona a new lineage of its own, in which nothing is remembered yet."""
        async with self._scene(server_id) as scene:
            return await self._set(scene, "set_lineage", scene.find(name), await self._new_lineage(scene))

    async def delete(self, server_id: int, name: str) -> Persona:
        """Remove a persona; what it remembers stays with its lineage."""
        async with self._scene(server_id) as scene:
            persona = scene.find(name)
            if persona.is_default:
                raise PersonaRefused(
                    N_("{name} is the default persona and cannot be deleted: make another one the default first."),
                    name=persona.nickname,
                )
            await scene.conn.execute(QUERIES["delete"], persona.persona_id)
        return persona

    @asynccontextmanager
    async def _scene(self, server_id: int) -> AsyncIterator[_Scene]:
        """Open the transaction of one change: commit, then let go of what is cached."""
        owner = server_owner(server_id)
        async with self.store.transaction() as conn:
            await lock_server(conn, server_id)
            yield _Scene(conn, server_id, await self.personas.read(conn, server_id))
            await bump(conn, [owner])
        self.revisions.announce(owner)

    async def _new_lineage(self, scene: _Scene) -> int:
        lineage_id: int = await scene.conn.fetchval(QUERIES["new_lineage"], self.clock.now())
        return lineage_id

    async def _set(self, scene: _Scene, query: str, persona: Persona, *values: object) -> Changed:
        await scene.conn.execute(QUERIES[query], persona.persona_id, *values)
        return Changed(persona, await self._again(scene, persona.persona_id))

    async def _again(self, scene: _Scene, persona_id: int) -> Persona:
        personas = await self.personas.read(scene.conn, scene.server_id)
        return next(persona for persona in personas if persona.persona_id == persona_id)


def _check_apart(persona: Persona, others: Sequence[Persona]) -> None:
    """Refuse to fix the name of a default persona that the deployment has meanwhile given another one's name."""
    if any(normalise(other.nickname) == normalise(persona.nickname) for other in others):
        raise PersonaRefused(
            N_("Two personas here are called {name}: give one of them another name first."), name=persona.nickname
        )
