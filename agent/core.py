"""What a plugin gets from the core when it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.clock import Clock, Ids
    from agent.plugin_host import PluginHost


@dataclass(frozen=True, slots=True)
class Core:
    """The services that plugins may use; each is documented where it is defined."""

    clock: Clock
    ids: Ids
    hooks: PluginHost
