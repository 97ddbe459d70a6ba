"""What most commands begin with: settings that are read, logs that go where they belong, an agent that is started."""

from __future__ import annotations

import io
import os
import signal
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from agent.cli.errors import TERMINATED, CallRefused, CommandFailed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine, Generator
    from datetime import datetime

    from agent.app import Agent
    from agent.settings import LoadedSettings
    from agent.store.pool import Store

LOG_FILE = "isthmus.log"
_MAX_LOG = 10 * 1024 * 1024


def load(config: Path | None, data: Path | None) -> LoadedSettings:
    """Read the settings that `--config` and `--data` name.

    Raises:
        SettingsError: with every mistake in them.
        CallRefused: the working directory is gone.
    """
    from agent.extensions.find import section_model
    from agent.settings import default_config_dir, load_settings

    try:
        cwd = Path.cwd()
        data_dir = None if data is None else cwd / data.expanduser()
    except (OSError, RuntimeError) as error:
        raise CallRefused(f"the working directory or home cannot be used: {error}") from None
    return load_settings(config, os.environ, cwd, default_config_dir(), data_dir=data_dir, section_model=section_model)


@contextmanager
def logged(loaded: LoadedSettings) -> Generator[None]:
    """Send log lines to a file in the data directory, so that they do not stand between what a command prints."""
    from agent import logs

    path = loaded.data_dir / LOG_FILE
    settings = loaded.settings.logging
    with ExitStack() as stack:
        stream: TextIO = _Nowhere()
        # Where the directory cannot be used, the database will say so in its own words.
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if path.exists() and path.stat().st_size > _MAX_LOG:
                path.replace(path.with_suffix(".log.1"))
            path.touch(mode=0o600)
            stream = stack.enter_context(path.open("a", encoding="utf-8", errors="backslashreplace", buffering=1))
        logs.configure(settings.format, settings.level, stream)
        stack.callback(silence_logs)
        yield


def silence_logs() -> None:
    """Write no log lines: for commands that say themselves what is wrong."""
    from agent import logs

    logs.configure("console", "error", _Nowhere())


class _Nowhere(io.StringIO):
    """A stream that keeps nothing."""

    def write(self, text: str, /) -> int:
        """Keep nothing."""
        return len(text)


@asynccontextmanager
async def opened_agent(loaded: LoadedSettings, now: datetime | None = None) -> AsyncGenerator[Agent]:
    """Start an agent without bridges, and stop it at the end; `now` moves its clock."""
    from agent.app import Agent
    from agent.clock import ShiftedClock

    with logged(loaded):
        agent = await Agent.start(loaded, bridges=(), clock=None if now is None else ShiftedClock(now))
        try:
            yield agent
        finally:
            await agent.stop()


def complete(work: Coroutine[Any, Any, int]) -> int:
    """Run a command's work to its end; SIGTERM ends it as Ctrl-C does, letting go of everything.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed, and everything has been let go of.
    """
    import asyncio

    async def watched() -> int:
        task = asyncio.current_task()
        terminated = False

        def terminate() -> None:
            nonlocal terminated
            terminated = True
            if task is not None:
                task.cancel()

        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
        try:
            return await work
        except asyncio.CancelledError:
            if terminated:
                return TERMINATED
            raise

    return asyncio.run(watched())


@asynccontextmanager
async def opened_store(loaded: LoadedSettings) -> AsyncGenerator[Store]:
    """Open the database alone, and close it at the end.

    Raises:
        StoreError: it cannot be reached.
    """
    from agent.store.pool import Store, server_for

    async with Store(server_for(database_url(loaded), loaded.data_dir), size=2) as store:
        yield store


def database_url(loaded: LoadedSettings) -> str:
    """Return the address of the database; it may hold a password.

    Raises:
        SecretError: the secret that holds it cannot be read.
        CommandFailed: it is no address of a database.
    """
    try:
        return loaded.settings.database.resolve_url()
    except ValueError as error:
        raise CommandFailed(f"[database] url: {error}") from None
