"""Which errors are ours: their text is written for an operator. Everything else is a fault of the program."""

from __future__ import annotations

from typing import Final

KNOWN: Final = frozenset(
    {
        "agent.bridge.BridgeStartFailed",
        "agent.dispatch.CommandError",
        "agent.http_status.HttpStatusError",
        "agent.models.errors.ModelSetupError",
        "agent.extensions.errors.PluginError",
        "agent.presence.AlreadyServed",
        "agent.settings.errors.SecretError",
        "agent.settings.errors.SettingsError",
        "agent.store.errors.StoreError",
        "agent.tool_registry.ToolError",
    }
)
"""By name, so that saying what went wrong needs nothing to be imported that did not go wrong."""


def explain(error: BaseException) -> tuple[str, ...] | None:
    """Return the lines of an error that is ours; None when it is a fault of the program."""
    if not KNOWN & set(kinds(error)):
        return None
    return tuple(line for line in str(error).splitlines() if line.strip()) or (type(error).__name__,)


def kinds(error: BaseException) -> tuple[str, ...]:
    """Return the full names of an error's class and of what it derives from."""
    return tuple(f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__)
