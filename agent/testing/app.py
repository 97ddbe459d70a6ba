"""A whole agent for a test: on a real database, with a fake platform and a scripted model."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agent.app import Agent
from agent.models.chat import ChatModel, preload
from agent.settings.file import merge
from agent.settings.loaded import LoadedSettings
from agent.settings.model import Settings
from agent.settings.validate import validate_section
from agent.trace import unwatched

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from agent.bridge import Bridge
    from agent.clock import Clock, Ids
    from agent.trace import Watch

preload()  # a test's event loop shall not wait for imports

GRACE = 5.0
"""Seconds that running turns get at the end of a test."""


class Scripted(Protocol):
    """A stand-in for a model, such as `agent.testing.scripted_model.ScriptedModel`."""

    @property
    def chat(self) -> ChatModel:
        """Return the model as the agent takes it."""
        ...


def settings_for_test(
    database_url: str, settings: Mapping[str, Any] | None = None, *, data_dir: Path
) -> LoadedSettings:
    """Return settings for a test: the given tables of plugins.toml, without embeddings unless they ask for them.

    Plugins and bridges are those that the tables name, and no others.

    Raises:
        SettingsError: with every mistake in the tables.
    """
    tables: dict[str, Any] = {
        "agent": {"embeddings": "off"},
        "database": {"url": database_url},
    }
    merge(tables, dict(settings or {}))
    return LoadedSettings(validate_section(tables, Settings, ""), None, data_dir)


@contextlib.asynccontextmanager
async def running_agent(
    database_url: str,
    settings: Mapping[str, Any] | None = None,
    *,
    bridge: Bridge | Sequence[Bridge] | None = None,
    model: ChatModel | Scripted | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    watch: Watch = unwatched,
) -> AsyncIterator[Agent]:
    """Run an agent for the length of a block, and stop it as an operator would.

    Example::

        platform = FakePlatform()
        settings = {"plugins": {"quiet_hours": {"module": "docs.examples.quiet_hours", "begins": 23}}}
        async with running_agent(database_url, settings, bridge=FakeBridge(platform=platform)):
            answer = await platform.ask("ana", "hello")

    Args:
        database_url: The address of a database (fixture `database_url`); it is migrated when it has to be.
        settings: Tables of plugins.toml, as in the example.
        bridge: The one bridge, or several; None: those that the settings name.
        model: A scripted model; None: the one that the settings name, `offline` by default.
        clock: The time; None: the machine's.
        ids: Fresh identifiers; None: random ones.
        watch: Called with what happens in turns.

    """
    bridges = tuple(bridge) if isinstance(bridge, Sequence) else None if bridge is None else (bridge,)
    chat = model if model is None or isinstance(model, ChatModel) else model.chat
    with tempfile.TemporaryDirectory(prefix="isthmus-") as directory:
        loaded = settings_for_test(database_url, settings, data_dir=Path(directory))
        agent = await Agent.start(loaded, bridges=bridges, model=chat, clock=clock, ids=ids, watch=watch)
        try:
            yield agent
        finally:
            await agent.stop(GRACE)
