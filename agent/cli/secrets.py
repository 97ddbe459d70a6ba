"""`isthmus secrets rotate`: a new key, everything encrypted anew, and the old key gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from agent.cli.errors import OK
from agent.cli.options import ConfigOption, DataOption, JsonOption
from agent.cli.output import print_json, print_line

if TYPE_CHECKING:
    from agent.settings import LoadedSettings

app = typer.Typer(help="The key with which tokens are encrypted at rest.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Keep `rotate` a word of its own while it is the only one."""


@app.command("rotate")
def rotate(config: ConfigOption = None, data: DataOption = None, as_json: JsonOption = False) -> int:
    """Encrypt every stored secret with a new key, and drop the old one; stop the agent before.

    Where `[agent] secret_key` is set, its first key counts: put a new one before the old one there, run this, and
    take the old one away.
    """
    from agent.cli.opened import complete, load, silence_logs

    silence_logs()
    loaded = load(config, data)
    counted: list[int] = []

    async def work() -> int:
        counted.append(await _rotate(loaded))
        return OK

    code = complete(work())
    for count in counted:
        if as_json:
            print_json({"rotated": count})
        else:
            print_line(f"{count} stored secrets are encrypted with the new key" if count else "no secrets are stored")
    return code


async def _rotate(loaded: LoadedSettings) -> int:
    from agent.cli.opened import opened_store
    from agent.secrets import drop_old_keys, open_box, rotate_key
    from agent.store.bridge_state import rotate_secrets

    configured = loaded.settings.agent.secret_key
    async with opened_store(loaded) as store:
        if configured is not None:
            return await rotate_secrets(store, open_box(loaded.data_dir, configured))
        count = await rotate_secrets(store, rotate_key(loaded.data_dir))
    drop_old_keys(loaded.data_dir)
    return count
