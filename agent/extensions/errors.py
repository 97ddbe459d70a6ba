"""What goes wrong with plugins, where the agent cannot go on as if nothing had happened.

Exception
└── PluginError
    ├── PluginsRefused       what is wrong with the plugins, all of it, before any is used
    ├── PluginStartFailed    one that is not optional did not start
    └── HookFailed           what must succeed failed: whoever asked rolls back or asks again
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.extensions.order import Complaint


class PluginError(Exception):
    """Something about plugins that the agent cannot go on with."""


class PluginsRefused(PluginError):
    """The plugins cannot be used; `complaints` holds everything that was found."""

    def __init__(self, complaints: Iterable[Complaint]) -> None:
        self.complaints = tuple(complaints)
        super().__init__("\n".join(f"plugin {complaint}" for complaint in self.complaints))


class PluginStartFailed(PluginError):
    """A plugin did not start; the text is one line that names it, the cause, and the way out."""


class HookFailed(PluginError):
    """A plugin's part failed where every part must be done."""
