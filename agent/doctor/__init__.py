"""`isthmus doctor`: what is well and what is not, and what mends it. Nothing here changes anything but to look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.hookspecs import Health
    from agent.settings import LoadedSettings


async def examine(read: Callable[[], LoadedSettings]) -> list[Health]:
    """Return one line for each thing that can be well or ill, whatever state the deployment is in.

    Args:
        read: Reads the settings; raises SettingsError when they are wrong.

    """
    from agent.doctor.database import database_health
    from agent.doctor.extensions import bridge_health, plugin_health
    from agent.doctor.providers import embedding_health, model_health
    from agent.doctor.settings import broken_settings, settings_health

    try:
        loaded = read()
    except SettingsError as error:
        return broken_settings(error)
    lines = settings_health(loaded)
    database = await database_health(loaded)
    lines += database.lines
    lines.append(await model_health(loaded))
    lines.append(await embedding_health(loaded))
    lines += await plugin_health(loaded, ready=database.ready)
    lines += bridge_health(loaded)
    return lines
