"""`isthmus doctor`: what is well and what is not, and what mends it. Nothing here changes anything but to look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.explained import explain
from agent.hookspecs import Health
from agent.settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.settings import LoadedSettings


async def examine(read: Callable[[], LoadedSettings]) -> list[Health]:
    """Return one line for each thing that can be well or ill, whatever state the deployment is in.

    Args:
        read: Reads the settings; raises SettingsError when they are wrong.

    """
    from agent.doctor.database import DatabaseHealth, database_health
    from agent.doctor.extensions import bridge_health, plugin_health
    from agent.doctor.providers import embedding_health, model_health
    from agent.doctor.settings import broken_settings, settings_health

    try:
        loaded = read()
    except SettingsError as error:
        return broken_settings(error)
    lines = await _checked("settings", settings_health(loaded))
    database = DatabaseHealth(())
    try:
        database = await database_health(loaded)
        lines += database.lines
    except Exception as error:  # noqa: BLE001 - a check that fails is a finding
        lines.append(_broken("database", error))
    lines += await _checked("model", model_health(loaded))
    lines += await _checked("embeddings", embedding_health(loaded))
    lines += await _checked("plugins", plugin_health(loaded, ready=database.ready))
    lines += await _checked("bridges", bridge_health(loaded))
    return lines


async def _checked(name: str, check: Awaitable[list[Health]]) -> list[Health]:
    """Return what a check found; one that fails itself is a finding, and the others go on."""
    try:
        return await check
    except Exception as error:  # noqa: BLE001 - a check that fails is a finding
        return [_broken(name, error)]


def _broken(name: str, error: Exception) -> Health:
    lines = explain(error)
    if lines is not None:
        return Health(name, "fail", " ".join(lines), "mend what it names")
    return Health(name, "fail", f"the check itself failed ({type(error).__name__})", "report it as a fault of isthmus")
