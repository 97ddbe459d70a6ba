from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from agent.app import Agent
from agent.plugin_loader import section_model
from agent.settings import load_settings
from tests.default_plugins import without_defaults

SETTINGS = """
[database]
url = "{url}"
[plugins.memory]
[plugins.lorebook]
enabled = true
[plugins.presets]
enabled = true
max_presets = 3
"""


@pytest_asyncio.fixture
async def agent(tmp_path: Path, database_url: str) -> AsyncIterator[Agent]:
    (tmp_path / "plugins.toml").write_text(without_defaults(SETTINGS.format(url=database_url)))
    loaded = load_settings(None, {}, tmp_path, tmp_path, data_dir=tmp_path, section_model=section_model)
    running = await Agent.start(loaded, bridges=())
    yield running
    await running.stop()
