"""`isthmus setup discord`, with a scripted dialogue, and once as a process at a real terminal."""

import asyncio
import contextlib
import os
import pty
import stat
import sys
from pathlib import Path

import pytest

from agent.setup import Setup, SetupFailed
from bridges.discord import DiscordBridge
from bridges.discord.checking import PERMISSIONS
from tests.servers.discord.events import Intent
from tests.servers.discord.loopback import LoopbackDiscord

ROOT = Path(__file__).parents[3]
COMMENTED = """\
# What this deployment runs.
[agent]  # its mind
model = "offline"

[bridges.discord]
enabled = false  # not yet
status = "thinking"  # shown below its name
token = "env:OLD"

[bridges.console]
answer_everything = false
"""


class Scripted:
    """Answers from a list, and keeps what was said."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def ask(self, question: str) -> str:
        raise AssertionError(f"everything is told by the token: {question}")

    def ask_secret(self, question: str) -> str:
        assert "not shown" in question
        if not self.answers:
            raise EOFError
        return self.answers.pop(0)


def written_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def run(discord: LoopbackDiscord, folder: Path, *answers: str) -> str:
    """Hold the dialogue; return all that was said."""
    scripted = Scripted(*answers)
    place = Setup("discord", folder / "plugins.toml", folder / "data", scripted, {"api_base": discord.api_base})
    await asyncio.to_thread(DiscordBridge.setup, place)
    return "\n".join(scripted.said)


async def test_a_token_becomes_a_bridge_that_can_start(discord: LoopbackDiscord, tmp_path: Path) -> None:
    discord.deny_intents(Intent.MESSAGE_CONTENT)
    (tmp_path / "plugins.toml").write_text(COMMENTED)
    said = await run(discord, tmp_path, "", "wrong", f"  Bot {discord.token} ")
    secret = tmp_path / "data" / "secrets" / "discord-token"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert secret.read_text() == discord.token + "\n"
    written = COMMENTED.replace("enabled = false  # not yet", "enabled = true  # not yet").replace(
        'token = "env:OLD"\n', f'token = "file:{secret}"\napi_base = "{discord.api_base}"\n'
    )
    assert (tmp_path / "plugins.toml").read_text() == written
    assert discord.token not in said
    for expected in (
        "That is no token.",
        "Discord does not take this token.",
        f"This is agent ({discord.application_id}).",
        f"Message Content Intent: off. Switch it on at https://discord.com/developers/applications/{discord.application_id}/bot",
        "Server Members Intent: on.",
        f"client_id={discord.application_id}&scope=bot+applications.commands&permissions={sum(PERMISSIONS.values())}",
    ):
        assert expected in said


async def test_a_file_is_made_where_there_is_none(discord: LoopbackDiscord, tmp_path: Path) -> None:
    await run(discord, tmp_path, discord.token)
    text = (tmp_path / "plugins.toml").read_text()
    assert text.startswith("[bridges.discord]\n")
    assert "enabled = true" in text


async def test_nothing_is_written_when_no_token_is_taken(discord: LoopbackDiscord, tmp_path: Path) -> None:
    with pytest.raises(SetupFailed, match="no token was taken"):
        await run(discord, tmp_path, "a", "b", "c")
    with pytest.raises(EOFError):
        await run(discord, tmp_path)
    discord.faults.fail(503)
    with pytest.raises(SetupFailed, match="answers 503: check the network, or --api-base"):
        await run(discord, tmp_path, discord.token)
    (tmp_path / "plugins.toml").write_text("[bridges\n")
    with pytest.raises(SetupFailed, match="mend it first"):
        await run(discord, tmp_path, discord.token)
    assert written_in(tmp_path) == ["plugins.toml"]


async def process(folder: Path, *arguments: str, typed: str | None = None) -> tuple[int, str]:
    """Run a command; with `typed` at a terminal, where that is typed when it is asked for."""
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "agent", *arguments,
        stdin=asyncio.subprocess.DEVNULL if typed is None else theirs,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        cwd=folder, env={**os.environ, "HOME": str(folder), "PYTHONPATH": str(ROOT)}, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    said = b""
    try:
        while typed is not None and b"not shown" not in said:
            said += await process.stdout.read(1000)
        if typed is not None:
            os.write(ours, f"{typed}\n".encode())
        said += await process.stdout.read()
        code = await process.wait()
        os.set_blocking(ours, False)
        with contextlib.suppress(BlockingIOError):
            said += os.read(ours, 10_000)  # what the terminal itself showed
    finally:
        os.close(theirs)
        os.close(ours)
    return code, said.decode()


@pytest.mark.timeout(60)
async def test_at_a_terminal_the_token_is_not_shown_and_the_doctor_is_content(
    discord: LoopbackDiscord, database_url: str, tmp_path: Path
) -> None:
    discord.guild("Garden")
    settings = f'[agent]\nembeddings = "off"\n[database]\nurl = "{database_url}"\n'
    (tmp_path / "plugins.toml").write_text(settings)
    places = ("--config", str(tmp_path / "plugins.toml"), "--data", str(tmp_path / "data"))
    given = ("--api-base", discord.api_base)
    code, said = await process(tmp_path, "setup", "discord", *places, *given, typed=discord.token)
    assert code == 0, said
    assert "Written: [bridges.discord]" in said
    assert discord.token not in said
    _, said = await process(tmp_path, "doctor", *places)
    assert f"ok   bridge discord: agent ({discord.application_id}), servers: 1" in said
    (tmp_path / "data" / "secrets" / "discord-token").write_text("wrong\n")
    code, said = await process(tmp_path, "doctor", *places)
    assert code == 1
    assert "Discord refuses the token" in said


@pytest.mark.timeout(60)
async def test_wrong_calls_say_what_would_be_right(tmp_path: Path) -> None:
    code, said = await process(tmp_path, "setup", "console")
    assert (code, said) == (
        2, "isthmus: bridge console needs no set-up: enable it with [bridges.console] in plugins.toml\n"
    )  # fmt: skip
    code, said = await process(tmp_path, "setup", "discrod")
    assert code == 2
    assert "discord" in said
    code, said = await process(tmp_path, "setup", "discord", "--api-base", "http://127.0.0.1:1")
    assert code == 1
    assert "there is nobody to answer" in said
