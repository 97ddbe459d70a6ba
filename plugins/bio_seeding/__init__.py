"""Bio seeding: what a service publishes about a member becomes a first memory, once (docs/message-proxies.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.hookspecs import hookimpl

if TYPE_CHECKING:
    from agent.contracts.people import Registration
    from agent.core import Core


class BioSeedingPlugin:
    """The plugin: one snapshot of a profile, through the same guards as every other memory."""

    name = "bio_seeding"
    requires = ("message_proxy", "memory")
    migrations = "plugins.bio_seeding.migrations"

    @hookimpl
    def start(self, core: Core) -> None:
        """Put the parts together."""
        from plugins.bio_seeding.repository import SeedRepository
        from plugins.bio_seeding.seeding import Seeding

        self._seeding = Seeding(core, SeedRepository(core.store))

    @hookimpl
    async def identity_registered(self, registration: Registration) -> None:
        """Keep what is published about an identity, unless that was done before."""
        await self._seeding.seed(registration)
