"""What it costs those who use no service: nothing; and how long those who do are kept waiting."""

import time
from collections import Counter
from typing import Any

import asyncpg.connection
import pytest

from agent.holds import Holds
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.scripted_model import ScriptedModel
from plugins.message_proxy import MessageProxyPlugin
from tests.plugins.message_proxy.world import proxy_world, settings_for
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.pluralkit import PluralKitServer


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Every statement that is sent, and every wait for a release."""
    counts: Counter[str] = Counter()

    def watch(owner: Any, name: str, kind: str) -> None:
        original = getattr(owner, name)

        async def count(self: Any, *arguments: Any, **options: Any) -> Any:
            counts[kind] += 1
            return await original(self, *arguments, **options)

        monkeypatch.setattr(owner, name, count)

    for name in ("fetch", "fetchrow", "fetchval", "execute"):
        watch(asyncpg.connection.Connection, name, "statements")
    watch(Holds, "wait", "waits")
    return counts


async def cost(
    platform: FakePlatform, database_url: str, settings: dict[str, Any], counted: Counter[str]
) -> tuple[int, int]:
    async with running_agent(
        database_url, settings, bridge=FakeBridge(platform=platform), model=ScriptedModel(default="Well.")
    ) as agent:
        for _ in range(2):  # whatever happens once only happens now
            await platform.ask("ana", "hello")
            await platform.ask("ben", "hello")
            await agent.idle()
        counted.clear()
        for _ in range(5):
            await platform.ask("ana", "hello, what about Ben?")
            await agent.idle()
        return counted["statements"], counted["waits"]


async def test_who_uses_no_service_costs_no_statement_no_wait_and_no_lookup_more(
    database_url: str, pluralkit: PluralKitServer, counted: Counter[str]
) -> None:
    settings = settings_for(pluralkit.origin)
    platform = FakePlatform()
    with_plugin = await cost(platform, database_url, settings, counted)
    without = {"plugins": {name: settings["plugins"][name] for name in ("privacy", "memory")}}
    assert await cost(platform, database_url, without, counted) == with_plugin
    assert with_plugin[1] == 0
    assert pluralkit.requests == []


async def test_who_uses_one_and_is_not_reposted_waits_no_longer_than_set(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host"), guild.channel("general")
    wren = pluralkit.system("Lark", str(host.id)).member("Wren")
    async with proxy_world(discord, pluralkit, database_url, wait=0.5) as world:
        discord.say(host, general, "hello")
        await world.use(host)
        await world.ended(*world.bot.proxy(host, general, wren, "to be seen"))
        elsewhere = guild.channel("elsewhere")
        began = time.monotonic()
        asked = discord.say(host, elsewhere, f"here nobody is reposted {discord.bot.mention}")
        await discord.answer(elsewhere, after=asked)
        at_once = time.monotonic() - began
        began = time.monotonic()
        asked = discord.say(host, general, f"just me {discord.bot.mention}")
        await discord.answer(general, after=asked)
        waited = time.monotonic() - began
        assert at_once < 0.45
        assert 0.5 <= waited < 0.5 + at_once + 0.25
        assert isinstance(world.agent.plugins.get("message_proxy"), MessageProxyPlugin)
        assert len(pluralkit.requests) == 1
