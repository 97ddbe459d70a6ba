"""What a plugin gets from the core when it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.clock import Clock, Ids
    from agent.confirmations import Confirmations
    from agent.embedding_worker import EmbeddingWorker
    from agent.holds import Holds
    from agent.identity.people import People
    from agent.identity.resolver import Resolver
    from agent.impersonation.repository import Impersonations
    from agent.invalidation import Invalidation
    from agent.linking.repository import Links
    from agent.models.embeddings import Embedder
    from agent.personas.repository import Personas
    from agent.plugin_host import PluginHost
    from agent.preferences import Preferences
    from agent.privacy.audit import Audit
    from agent.privacy.guards import MemoryGuards
    from agent.privacy.repository import Privacy
    from agent.settings.model import AgentSettings
    from agent.store.pool import Store


@dataclass(frozen=True, slots=True)
class Core:
    """The services that plugins may use; each is documented where it is defined."""

    clock: Clock
    ids: Ids
    settings: AgentSettings
    store: Store
    hooks: PluginHost
    people: People
    resolver: Resolver
    personas: Personas
    impersonations: Impersonations
    privacy: Privacy
    guards: MemoryGuards
    audit: Audit
    links: Links
    confirmations: Confirmations
    preferences: Preferences
    revisions: Invalidation
    holds: Holds
    embedder: Embedder | None
    """None when embeddings are off."""
    embedding_worker: EmbeddingWorker
    """Embeds what plugins keep, in the background; does nothing when embeddings are off."""
