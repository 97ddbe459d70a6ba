"""Whether the settings and their secrets are well, and the data directory can be used."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Final

from agent.hookspecs import Health

if TYPE_CHECKING:
    from pathlib import Path

    from agent.settings import LoadedSettings, SettingsError

LOW_SPACE: Final = 200 * 1024 * 1024
"""Bytes; the embedded database needs about 100 MB to be made."""


def broken_settings(error: SettingsError) -> list[Health]:
    """Return one line for each mistake; the rest cannot be looked at before they are mended."""
    lines = [
        Health("settings", "fail", str(problem), f"correct {problem.origin}, then run `isthmus doctor` again")
        for problem in error.problems
    ]
    return lines or [Health("settings", "fail", "they cannot be used", "correct plugins.toml")]


async def settings_health(loaded: LoadedSettings) -> list[Health]:
    """Return what is known about the settings that were read."""
    source = "built-in defaults" if loaded.source is None else str(loaded.source)
    lines = [Health("settings", "ok", source)]
    for warning in loaded.warnings():
        text = f"{warning.key}: {warning.expected}" if warning.key else warning.expected
        lines.append(Health("settings", "warn", text, f"see {warning.origin}"))
    broken = {problem.key: problem for problem in loaded.problems()}
    lines += [Health("secret", "ok", f"{key} ({secret})") for key, secret in loaded.secrets() if key not in broken]
    for problem in broken.values():
        text = f"{problem.key}: {problem.expected}"
        lines.append(Health("secret", "fail", text, f"set it, or change {problem.key} in {problem.origin}"))
    lines.append(data_directory_health(loaded.data_dir))
    return lines


def data_directory_health(path: Path) -> Health:
    """Tell whether the data directory, or what it will be made in, can be written and has room."""
    name = "data directory"
    existing = path
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    choose = "choose another with --data DIR"
    if not existing.is_dir():
        return Health(name, "fail", f"{existing} is no directory", choose)
    if not os.access(existing, os.W_OK | os.X_OK):
        return Health(name, "fail", f"{existing} cannot be written", f"chmod u+rwx {existing}, or {choose}")
    try:
        free = shutil.disk_usage(existing).free
    except OSError as error:
        return Health(name, "fail", f"{existing}: {error.strerror}", choose)
    shown = f"{path}, {free // (1024 * 1024)} MB free" + ("" if path.exists() else ", made at first start")
    if free < LOW_SPACE:
        return Health(name, "warn", shown, f"free some space, or {choose}")
    return Health(name, "ok", shown)
