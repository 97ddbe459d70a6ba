"""`python -m bridges.matrix.export_keys FILE`: the keys of encrypted messages, in the form that all clients read."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.errors import CallRefused, CommandFailed
from agent.cli.opened import load
from agent.clock import SystemClock
from agent.secrets import open_box
from agent.settings import SettingsError
from agent.store.bridge_state import BridgeState
from agent.store.pool import Store, server_for
from bridges.matrix.client import Client
from bridges.matrix.login import DEVICE, PASSPHRASE
from bridges.matrix.settings import MatrixSettings

if TYPE_CHECKING:
    from agent.settings import LoadedSettings


class NothingToExport(Exception):
    """There are no keys; the text says why."""


async def export(loaded: LoadedSettings, file: Path, passphrase: str) -> None:
    """Write the keys, encrypted under a passphrase of the operator's.

    Raises:
        NothingToExport: the bridge is not set up, or has never been in an encrypted room.
    """
    section = loaded.settings.bridges.get("matrix")
    if section is None:
        raise NothingToExport("there is no [bridges.matrix] in plugins.toml")
    settings = loaded.validate_section(section, MatrixSettings, "bridges.matrix")
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(
            Store(server_for(loaded.settings.database.resolve_url(), loaded.data_dir), size=1)
        )
        state = BridgeState(
            store, SystemClock(), "matrix", lambda: open_box(loaded.data_dir, loaded.settings.agent.secret_key)
        )
        device, key = await state.get(DEVICE), await state.get(PASSPHRASE)
        folder = settings.store or loaded.data_dir / "bridges" / "matrix"
        if device is None or key is None or not await asyncio.to_thread(folder.is_dir):
            raise NothingToExport("the agent has no encryption keys: it has not been started with encryption")
        client = Client(settings.homeserver, settings.user)
        stack.push_async_callback(client.close)
        client.use("not used", device)
        client.use_keys(folder, key)
        await client.nio.export_keys(str(file), passphrase)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Export the keys of encrypted messages; stop the agent before.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    passphrase = getpass.getpass("Passphrase for the file (it is not shown): ")
    try:
        asyncio.run(export(load(arguments.config, arguments.data), arguments.file, passphrase))
    except (NothingToExport, SettingsError, CallRefused, CommandFailed, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"Written: {arguments.file}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
