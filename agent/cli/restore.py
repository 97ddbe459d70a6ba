"""`isthmus restore FILE`: a backup into an empty database and an empty data directory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli.errors import OK, CallRefused
from agent.cli.options import ConfigOption, DataOption, JsonOption
from agent.cli.output import print_json, print_line
from agent.printing import printable

if TYPE_CHECKING:
    from agent.settings import LoadedSettings


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `isthmus backup` wrote.")],
    config: ConfigOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> int:
    """Bring a backup back into an empty place; every byte is checked before anything is written."""
    from agent.cli.opened import complete, load, silence_logs

    if not file.is_file():
        raise CallRefused(f"there is no backup {file}: check the name")
    silence_logs()  # the data directory must stay empty until the backup's own files come
    return complete(_restore(load(config, data), file, as_json=as_json))


async def _restore(loaded: LoadedSettings, file: Path, *, as_json: bool) -> int:
    from agent.cli.backup import described, summary
    from agent.cli.opened import opened_store
    from agent.doctor.database import migration_sets
    from agent.store.restore import restore as read

    sets = migration_sets(loaded)
    async with opened_store(loaded) as store:
        manifest = await read(store.dsn, loaded.data_dir, file, sets=sets)
    if as_json:
        print_json({"file": str(file), "data": str(loaded.data_dir), **summary(manifest)})
    else:
        print_line(printable(f"Restored into {loaded.data_dir}: {described(manifest)}."))
    return OK
