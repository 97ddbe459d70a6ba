"""An agent that dies while Discord takes what a persona says: there is no key, so that it is read back."""

from pathlib import Path

import pytest

from tests.bridges.discord.sending import EXECUTE
from tests.e2e.discord.process import DiscordProcess
from tests.servers.discord.loopback import LoopbackDiscord

SETTINGS = {"agent": {"embeddings": "off"}}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("is_taken", [True, False], ids=["taken", "not_taken"])
async def test_killed_while_a_persona_answers(
    discord: LoopbackDiscord, database_url: str, tmp_path: Path, is_taken: bool
) -> None:
    """What Discord took stands once; what it did not take is not said again, and what is asked next is answered."""
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    async with DiscordProcess(discord, tmp_path, {**SETTINGS, "database": {"url": database_url}}) as agent:
        await agent.start()
        await discord.until(lambda: discord.core.world.commands.get(None), what="commands")
        made = await discord.slash(
            guild.owner, general, ("persona", "create"), {"name": "Iris", "prompt": "You are {bot}."}
        )
        assert made.messages
        fault = discord.faults.slow(0.5, method="POST", path=EXECUTE)
        if not is_taken:
            fault.status = 502
        asked = discord.say(mara, general, "Iris, hello")
        await discord.called("POST", EXECUTE)
        await agent.kill()
        discord.faults.clear()
        await agent.start()
        again = discord.say(mara, general, "Iris, and now?")
        await discord.answer(general, after=again, timeout=20)
        await agent.stop()
    said = [one for one in discord.messages(general) if one.author.name == "Iris"]
    assert len([one for one in said if str(asked.id) in one.content]) == int(is_taken)
    assert len([one for one in said if str(again.id) in one.content]) == 1
    assert "message_not_sent" in agent.log.read_text() or is_taken
    assert all(hook.token not in agent.log.read_text() for hook in discord.core.world.webhooks.values())
