from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from agent.app import Agent
from agent.plugin_loader import section_model
from agent.settings import load_settings
from tests.plugins.lorebook.talk import Talk

SETTINGS = """
[database]
url = "{url}"
[plugins.memory]
enabled = false
[plugins.lorebook]
enabled = true
max_books = 4
max_entries = 30
max_characters = 30000
"""


@pytest_asyncio.fixture
async def agent(tmp_path: Path, database_url: str) -> AsyncIterator[Agent]:
    (tmp_path / "plugins.toml").write_text(SETTINGS.format(url=database_url))
    loaded = load_settings(None, {}, tmp_path, tmp_path, data_dir=tmp_path, section_model=section_model)
    running = await Agent.start(loaded, bridges=())
    yield running
    await running.stop()


@pytest_asyncio.fixture
async def talk(agent: Agent) -> Talk:
    return Talk(agent)
