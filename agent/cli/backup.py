"""`isthmus backup FILE`: the database and the data directory in one checked file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.errors import OK
from agent.cli.options import ConfigOption, DataOption, JsonOption
from agent.cli.output import print_json, print_line
from agent.printing import printable

if TYPE_CHECKING:
    from agent.settings import LoadedSettings
    from agent.store.backup_files import Manifest


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; an older one is replaced.")],
    config: ConfigOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> int:
    """Write the database and the data directory to FILE; the agent may go on working meanwhile."""
    from agent.cli.opened import complete, load, silence_logs

    silence_logs()
    loaded = load(config, data)
    made: list[Manifest] = []

    async def write() -> int:
        made.append(await _write(loaded, file))
        return OK

    code = complete(write())
    for manifest in made:
        _show(file, manifest, as_json=as_json)
    return code


async def _write(loaded: LoadedSettings, file: Path) -> Manifest:
    from importlib.metadata import version

    from agent.cli.opened import opened_store
    from agent.clock import SystemClock
    from agent.store.backup import backup as write

    async with opened_store(loaded) as store:
        return await write(store.dsn, loaded.data_dir, file, version=version("isthmus"), clock=SystemClock())


def _show(file: Path, manifest: Manifest, *, as_json: bool) -> None:
    from agent.store.backup_files import SECRETS_NOTE

    size = file.stat().st_size
    if as_json:
        print_json({"file": str(file), "bytes": size, **summary(manifest)})
        return
    print_line(printable(f"{file}: {size} bytes; {described(manifest)}."))
    print_line(f"Note: {SECRETS_NOTE}.")


def summary(manifest: Manifest) -> dict[str, Any]:
    """Return what a backup holds as data."""
    return {
        "isthmus": manifest.isthmus_version,
        "postgresql": manifest.postgresql_version,
        "created_at": manifest.created_at.isoformat(),
        "revisions": manifest.heads,
        "files": sorted(manifest.members),
    }


def described(manifest: Manifest) -> str:
    """Return what a backup holds as a phrase."""
    revisions = ", ".join(f"{owner} {revision}" for owner, revision in manifest.heads.items()) or "no tables"
    return f"{len(manifest.members)} files, {revisions}, made by isthmus {manifest.isthmus_version}"
