"""The presence shows whether the agent can answer."""

import pytest

from agent.ailments import Ailment
from agent.testing.recording_host import RecordingHost
from bridges.discord.bridge import DiscordBridge
from tests.bridges.discord.worlds import settings_of
from tests.servers.discord.loopback import LoopbackDiscord


def shown(discord: LoopbackDiscord) -> tuple[str, list[str]]:
    session = list(discord.gateway.sessions.values())[-1]
    assert session.presence is not None
    return session.presence["status"], [each["state"] for each in session.presence.get("activities") or ()]


async def test_the_light_follows_what_the_agent_lacks(
    discord: LoopbackDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridges.discord.bridge.LOOK_EVERY", 0.02)
    discord.guild("Garden")
    host, bridge = RecordingHost(), DiscordBridge(settings_of(discord, status="listening"))
    await bridge.start(host)
    try:
        await discord.until(lambda: shown(discord) == ("online", ["listening"]), what="the first look")
        for ailment, status in ((Ailment.MODEL, "idle"), (Ailment.DATABASE, "dnd"), (None, "online")):
            host.ails = ailment
            await discord.until(lambda status=status: shown(discord) == (status, ["listening"]), what=status)  # type: ignore[misc]
        host.ails = Ailment.MODEL
        await discord.until(lambda: shown(discord)[0] == "idle", what="the light")
        before = set(discord.gateway.sessions)
        discord.gateway.invalidate(resumable=False)
        await discord.until(lambda: set(discord.gateway.sessions) - before, timeout=15, what="a new session")
        await discord.until(lambda: shown(discord) == ("idle", ["listening"]), what="the light of the new session")
    finally:
        await bridge.stop()
