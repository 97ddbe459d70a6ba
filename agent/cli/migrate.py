"""`isthmus migrate`: bring the database to the schema of this version, without starting the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.cli.errors import OK
from agent.cli.options import ConfigOption, DataOption, JsonOption
from agent.cli.output import print_json, print_line

if TYPE_CHECKING:
    from agent.settings import LoadedSettings


def migrate(config: ConfigOption = None, data: DataOption = None, as_json: JsonOption = False) -> int:
    """Bring the database to the schema that this version needs. A start of the agent does the same."""
    from agent.cli.opened import complete, load, logged

    loaded = load(config, data)
    with logged(loaded):
        return complete(_migrate(loaded, as_json=as_json))


async def _migrate(loaded: LoadedSettings, *, as_json: bool) -> int:
    from agent.cli.opened import opened_store
    from agent.doctor.database import migration_sets
    from agent.store.migrate import migrate as run

    sets = migration_sets(loaded)
    async with opened_store(loaded) as store:
        changed = await run(store.dsn, sets)
    rows = [{"owner": each.owner, "from": each.current, "to": each.head} for each in changed]
    if as_json:
        print_json(rows)
        return OK
    for row in rows:
        print_line(f"{row['owner']}: {row['from'] or 'nothing'} → {row['to']}")
    if not rows:
        print_line(f"Nothing to do: {', '.join(each.owner for each in sets)} are up to date.")
    return OK
