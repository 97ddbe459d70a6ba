"""Imports on a running agent: the next prompt knows what was imported."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.app import Agent
from agent.commands import CommandReply
from agent.contracts.context import Tag
from agent.testing.app import running_agent
from tests.plugins.memory.stage import GENERAL, HOME, author
from tests.plugins.memory.transfer.traffic import GivenBytes, file_of

ANA, BEN = replace(author("Ana"), can_manage=True), author("Ben")
PLUGINS = {"plugins": {"memory": {"saves_per_hour": 1}}}

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts


async def run(agent: Agent, *path: str, who: Any = ANA, **options: Any) -> CommandReply:
    return await agent.run_command(path, options, HOME, GENERAL, who)


async def block(agent: Agent, tag: Tag) -> list[str]:
    prompt = await agent.build_prompt(HOME, GENERAL, ANA, "hello")
    return [entry.line for item in prompt.items if item.tag is tag for entry in item.entries]


async def test_the_next_prompt_knows_what_was_imported(database_url: str, tmp_path: Path) -> None:
    async with running_agent(database_url, PLUGINS) as agent:
        assert await block(agent, Tag.KNOWLEDGE_SERVER_MEMORIES) == []
        file = GivenBytes(
            json.dumps(file_of({"content": "Game night is Friday."}, {"content": "Fen is old."})).encode()
        )
        refused = await run(agent, "memories", "import", who=BEN, file=file)
        assert not refused.ok
        assert await block(agent, Tag.KNOWLEDGE_SERVER_MEMORIES) == []
        taken = await run(agent, "memories", "import", file=file)
        assert taken.text.splitlines()[0] == "2 saved, 0 already known, 0 left out."
        lines = await block(agent, Tag.KNOWLEDGE_SERVER_MEMORIES)
        assert [line.partition(" ")[2] for line in lines] == ["Game night is Friday.", "Fen is old."]

        own = GivenBytes(json.dumps([{"id": "1", "memory": "{user} likes tea", "user_id": "someone"}]).encode())
        assert (await run(agent, "personal", "memories", "import", file=own)).ok
        [line] = await block(agent, Tag.KNOWLEDGE_USER_MEMORIES)
        assert line.endswith(" Ana likes tea")
        assert (await run(agent, "personal", "memories", "export")).file is not None

        # What came from a file does not use up what the model may save in an hour.
        arguments = json.dumps({"memory_content": "Snow fell.", "memory_scope": "server_wide"})
        result, _ = await agent.call_tool("create_long_term_memory", arguments, HOME, GENERAL, ANA)
        assert result.status == "memory_saved_successfully"
