"""Where a plugin is in its life, as `isthmus plugins list` shows it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """Where a plugin is in its life."""

    DISABLED = "disabled"
    LOADED = "loaded"
    STARTED = "started"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class PluginStatus:
    """One line of `isthmus plugins list`."""

    name: str
    state: State
    reason: str = ""
    """Why it failed."""
    optional: bool = False
    requires: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
