"""What is seen at a terminal, as rich draws it there: a notice, and the set-up dialogue."""

import asyncio
import io
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from agent.setup import Setup
from agent.terminal import Whereabouts
from agent.testing.app import running_agent
from agent.testing.scripted_model import ScriptedCall, ScriptedModel
from bridges.console.bridge import ConsoleBridge
from bridges.console.conversation import Conversation
from bridges.console.rich_screen import RichScreen
from bridges.discord.setting_up import set_up
from tests.clocks import ManualClock
from tests.screens.svg import MONO
from tests.servers.discord.loopback import LoopbackDiscord

_FACES = re.compile(r"@font-face \{\{.*?\}\}\n", re.DOTALL)
FORMAT = _FACES.sub("", CONSOLE_SVG_FORMAT).replace("Fira Code, monospace", MONO)
"""rich's own picture of a terminal, without the fonts that it would fetch."""
WIDTH = 84


async def terminal(database_url: str, settings: Mapping[str, Any], clock: ManualClock) -> str:
    """Draw a terminal in which the agent has remembered something."""
    console = _console()
    where = Whereabouts("mara")
    bridge = ConsoleBridge(screen=RichScreen(console, lambda: str(where), lambda: None), clock=clock)
    save = {"memory_content": "Game night is every Friday at 20:00.", "memory_scope": "server_wide"}
    model = ScriptedModel(ScriptedCall("create_long_term_memory", save), "I will remember that.")
    async with running_agent(database_url, settings, bridge=bridge, model=model, clock=clock) as agent:
        line = "remember that game night is every Friday at 20:00"
        console.print(f"{where} {where.speaker}> {line}")
        await Conversation(bridge, where).take(line)
        await agent.idle()
    return await _exported(console, "isthmus chat", "terminal")


class Dialogue:
    """Writes down what the set-up says, and answers with a token."""

    def __init__(self, console: Console, token: str, folder: Path) -> None:
        self._console, self._token, self._folder = console, token, folder

    def say(self, text: str) -> None:
        self._console.print(text.replace(f"{self._folder}/", ""))

    def ask(self, question: str) -> str:
        raise AssertionError(f"everything is told by the token: {question}")

    def ask_secret(self, question: str) -> str:
        self._console.print(question)
        return self._token


async def set_up_dialogue(discord: LoopbackDiscord) -> str:
    """Draw `isthmus setup discord`."""
    console = _console()
    console.print("$ isthmus setup discord")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dialogue, options = Dialogue(console, discord.token, folder), {"api_base": discord.api_base}
        given = Setup("discord", folder / "plugins.toml", folder / "data", dialogue, options)
        await asyncio.to_thread(set_up, given)  # it runs an event loop of its own
    return await _exported(console, "isthmus setup discord", "setup")


async def _exported(console: Console, title: str, name: str) -> str:
    return await asyncio.to_thread(console.export_svg, title=title, unique_id=name, code_format=FORMAT)


def _console() -> Console:
    return Console(record=True, file=io.StringIO(), width=WIDTH, highlight=False, markup=False, emoji=False)
