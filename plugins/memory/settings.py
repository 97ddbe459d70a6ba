"""What a deployment may set under `[plugins.memory]`."""

from __future__ import annotations

from pydantic import Field

from agent.settings import Section


class DecaySettings(Section):
    """When a memory counts as dormant."""

    enabled: bool = True
    """Whether dormant memories are withheld, and give way when every place of their owner is taken."""
    days: int = Field(default=30, ge=1, le=36_500)
    """Days without reinforcement after which a memory is dormant."""


class MemorySettings(Section):
    """The caps and the decay of memories."""

    max_server_memories: int = Field(default=100, ge=1, le=10_000)
    """Memories of one server in one lineage."""
    max_personal_memories: int = Field(default=100, ge=1, le=10_000)
    """Memories about one person in one lineage, the global ones counted in."""
    max_memory_length: int = Field(default=1000, ge=1, le=20_000)
    """Characters of one memory."""
    saves_per_hour: int = Field(default=60, ge=1, le=100_000)
    """Memories that may be saved within an hour on behalf of one account."""
    decay: DecaySettings = DecaySettings()
