"""People of other bridges, whose webhooks an administrator names; and what the doctor and the database tell."""

from __future__ import annotations

from typing import Any

import pytest

from agent.testing.scripted_model import ScriptedCall, ScriptedModel
from bridges.relay import RelayBridge, RelaySettings
from tests.bridges.relay.worlds import Service, relay_world
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import EVERYONE, Permission

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts
SETTINGS: dict[str, Any] = {"plugins": {"memory": {}, "privacy": {}}}


async def test_people_of_another_bridge_are_answered_and_own_nothing(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    arguments = {"memory_content": "{user} likes tea", "memory_scope": "target_user", "target_user": "me"}
    model = ScriptedModel(ScriptedCall("create_long_term_memory", arguments), "Noted.", default="Well.")
    async with relay_world(service, discord, database_url, SETTINGS, model=model) as world:
        boss = world.guild.member("boss", roles=[world.guild.role("Chief", EVERYONE | Permission.MANAGE_GUILD)])
        hook = discord.webhook(world.general, "bridge")
        discord.post(hook, f"{discord.bot.mention} hello", username="Zoe")
        await world.settled()
        assert model.requests == []
        assert (
            "counts as a person"
            in (await discord.slash(boss, world.general, "matrix trust", {"webhook": str(hook.id)})).text
        )
        assert "already" in (await discord.slash(boss, world.general, "matrix trust", {"webhook": str(hook.id)})).text
        assert str(hook.id) in (await discord.slash(boss, world.general, "matrix list")).text
        discord.post(hook, f"{discord.bot.mention} remember that I like tea", username="Zoe")
        await world.in_channel("Noted.")
        await world.settled()
        async with world.agent.core.store.connection() as conn:
            [memory] = await conn.fetch(
                "SELECT m.content, a.kind, a.external_id, a.user_id FROM server_memories m"
                " JOIN accounts a ON a.account_id = m.subject_account_id"
            )
            assert await conn.fetchval("SELECT count(*) FROM personal_memories") == 0
        assert (memory["content"], memory["kind"], memory["user_id"]) == ("Zoe likes tea", "webhook", None)
        assert memory["external_id"].startswith(f"{hook.id}/")
        assert not [each for each in await world.bodies() if "remember that I like tea" in each]
        await discord.slash(boss, world.general, "matrix distrust", {"webhook": str(hook.id)})
        number = len(model.requests)
        discord.post(hook, f"{discord.bot.mention} and now?", username="Zoe")
        await world.settled()
        assert len(model.requests) == number


async def test_no_name_of_anybody_stays_with_the_relay(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url) as world:
        discord.say(world.mara, world.general, "a quiet thing")
        await world.in_room("a quiet thing")
        await world.cyn.say(world.room, "another quiet thing")
        await world.in_channel("another quiet thing")
        await world.settled()
        async with world.agent.core.store.connection() as conn:
            kept = [str(dict(row)) for row in await conn.fetch("SELECT * FROM bridge_state WHERE bridge = 'relay'")]
            kept += [str(dict(row)) for row in await conn.fetch("SELECT * FROM relay_events")]
            kept += [str(dict(row)) for row in await conn.fetch("SELECT * FROM relay_messages")]
        assert not [row for row in kept if "mara" in row or "quiet" in row or "Cyn" in row]


async def test_the_doctor_asks_the_homeserver(service: Service) -> None:
    well = RelayBridge(RelaySettings(homeserver=service.synapse.url, server_name="home.test"))
    ill = RelayBridge(RelaySettings(homeserver="http://127.0.0.1:1", server_name="home.test"))
    assert [each.state for each in (*await well.health(), *await ill.health())] == ["ok", "fail"]


async def test_people_of_a_room_are_known_before_they_speak(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url) as world:
        dan = await service.synapse.person("dan", "Daniel")
        await world.cyn.invite(world.room, dan.user_id)
        await dan.join(world.room)
        await world.settled()
        place = await world.relay._started.ties.mouth.where(str(world.general.id))
        assert place is not None
        async with world.agent.core.store.connection() as conn:
            server = await conn.fetchval("SELECT server_id FROM servers WHERE external_id = $1", str(world.guild.id))
        known = [
            {each.account.key.id for each in (await world.agent.core.people.bearers(server, name)).entries}
            for name in ("cyn", "daniel")
        ]
        assert known == [{world.cyn.user_id}, {dan.user_id}]


async def test_pictures_that_somebody_could_choose_are_not_fetched(
    service: Service, discord: LoopbackDiscord, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bridges.relay.users import Looks

    async with relay_world(service, discord, database_url) as world:
        parts = world.relay._started
        bridge = world.agent.relaying.bridge("discord")
        assert bridge is not None

        async def fetch(*_: object) -> bytes:
            raise AssertionError("it was fetched")

        monkeypatch.setattr(bridge, "fetch", fetch)
        user = world.relay.names.persona(7)
        await parts.users.present(world.room, Looks(user, "Iris", "http://127.0.0.1:1/inside"))
        profile = await world.cyn.call("GET", f"v3/profile/{user}")
        assert profile["displayname"] == "Iris"
        assert not profile.get("avatar_url")
