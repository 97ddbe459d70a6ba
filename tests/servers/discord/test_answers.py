"""What an application may and may not do with an interaction, request by request."""

import io
from typing import Any

import nextcord
import pytest

from tests.servers.discord.asking import InteractionFailed
from tests.servers.discord.choices import NotOffered
from tests.servers.discord.clients import Client, running, usual
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.pending import Callback
from tests.servers.discord.records import Upload

COMMAND = {"name": "ask", "description": "Ask", "options": []}


class Raw(Client):
    """Answers interactions by hand."""

    def __init__(self) -> None:
        super().__init__(intents=usual(), rollout_all_guilds=False)
        self.asked: list[nextcord.Interaction[Any]] = []

    async def on_interaction(self, interaction: nextcord.Interaction[Any]) -> None:
        self.asked.append(interaction)
        await self.answer(interaction)

    async def answer(self, interaction: nextcord.Interaction[Any]) -> None:
        await interaction.response.send_message("first")


async def put(client: Client, discord: LoopbackDiscord, *commands: dict[str, Any]) -> list[dict[str, Any]]:
    http: Any = client.http
    found: list[dict[str, Any]] = await http.bulk_upsert_global_commands(discord.application_id, list(commands))
    return found


async def test_commands_are_put_changed_and_deleted(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    async with running(discord) as client:
        http: Any = client.http
        (made,) = await put(client, discord, COMMAND)
        (again,) = await put(client, discord, COMMAND | {"description": "Ask me"})
        assert again["id"] == made["id"]
        assert again["version"] != made["version"]
        changed = await http.edit_global_command(discord.application_id, made["id"], {"description": "Ask us"})
        assert changed["description"] == "Ask us"
        local = await http.upsert_guild_command(discord.application_id, guild.id, COMMAND)
        assert local["guild_id"] == str(guild.id)
        assert len(await http.get_global_commands(discord.application_id)) == 1
        await http.delete_global_command(discord.application_id, made["id"])
        assert await http.get_global_commands(discord.application_id) == []
        assert [one["id"] for one in await http.get_guild_commands(discord.application_id, guild.id)] == [local["id"]]
        with pytest.raises(nextcord.HTTPException):
            await put(client, discord, COMMAND | {"name": "No Spaces"})
    assert all("name" in one for one in await discord.violations())
    discord.core.requests.clear()


async def test_answers_come_once_and_in_time(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    client = Raw()
    async with running(discord, client):
        await put(client, discord, COMMAND)
        shown = await discord.slash(mara, general, "ask")
        (asked,) = client.asked
        kinds = shown.message.kind, shown.message.webhook_id, shown.message.author
        assert kinds == (20, discord.application_id, discord.bot)
        adapter: Any = nextcord.webhook.async_.async_context.get()
        with pytest.raises(nextcord.HTTPException) as twice:
            await adapter.create_interaction_response(asked.id, asked.token, session=asked._session, type=4)
        assert twice.value.code == 40060
        await asked.edit_original_message(content="changed")
        assert shown.text == "changed"
        further = await asked.followup.send("further", ephemeral=True, wait=True)
        await further.edit(content="further on")
        assert [(one.content, one.ephemeral_for) for one in shown.messages] == [
            ("changed", None),
            ("further on", mara.id),
        ]
        await further.delete()
        await asked.delete_original_message()
        assert shown.messages == []
        shown.expire()
        with pytest.raises(nextcord.HTTPException) as expired:
            await asked.followup.send("too late", wait=True)
        assert expired.value.code == 50027


async def test_a_late_answer_finds_no_interaction(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    discord.core.deadline = 0.05

    class Late(Raw):
        async def answer(self, interaction: nextcord.Interaction[Any]) -> None:
            pass

    client = Late()
    async with running(discord, client):
        await put(client, discord, COMMAND)
        with pytest.raises(InteractionFailed, match=r"within 0\.05 s"):
            await discord.slash(mara, general, "ask")
        with pytest.raises(nextcord.NotFound) as late:
            await client.asked[0].response.send_message("late")
        assert late.value.code == 10062


async def test_a_private_deferral_stays_private_with_a_file(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")

    class Deferring(Raw):
        async def answer(self, interaction: nextcord.Interaction[Any]) -> None:
            await interaction.response.defer(ephemeral=True)
            await interaction.edit_original_message(content="here", file=nextcord.File(io.BytesIO(b"x"), "notice.txt"))

    async with running(discord, client := Deferring()):
        await put(client, discord, COMMAND)
        shown = await discord.slash(mara, general, "ask")
        assert (shown.callback, shown.text, shown.ephemeral) == (Callback.DEFERRED_MESSAGE, "here", True)
        assert [one.filename for one in shown.message.attachments] == ["notice.txt"]
        assert discord.messages(general) == []
        assert client.those("message") == []


async def test_options_of_all_kinds_arrive(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    role, mara, general = guild.role("R"), guild.member("mara"), guild.channel("general")
    kinds = {"s": 3, "i": 4, "b": 5, "u": 6, "c": 7, "r": 8, "m": 9, "n": 10, "f": 11}
    options = [{"name": name, "description": name, "type": kind} for name, kind in kinds.items()]
    async with running(discord, client := Raw()):
        await put(client, discord, COMMAND | {"options": options})
        given = {"s": "x", "i": 1, "b": True, "u": mara, "c": general, "r": role, "m": role, "n": 1.5}
        await discord.slash(mara, general, "ask", {**given, "f": Upload("a.txt", b"a")})
        data: Any = client.asked[0].data
        found = {one["name"]: one["value"] for one in data["options"]}
        (file,) = data["resolved"]["attachments"].values()
        assert file["filename"] == "a.txt"
        ids = {"u": str(mara.id), "c": str(general.id), "r": str(role.id), "m": str(role.id), "f": file["id"]}
        assert found == {"s": "x", "i": 1, "b": True, "n": 1.5, **ids}
        assert set(data["resolved"]) == {"users", "members", "channels", "roles", "attachments"}
        for wrong in ({"i": "1"}, {"b": 1}, {"u": "mara"}, {"x": 1}):
            with pytest.raises(NotOffered):
                await discord.slash(mara, general, "ask", wrong)


async def test_commands_in_direct_conversations(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara = guild.member("mara")
    async with running(discord, client := Raw()):
        await put(client, discord, COMMAND, COMMAND | {"name": "manage", "contexts": [0]})
        direct = discord.dm(mara)
        assert (await discord.slash(mara, direct, "ask")).text == "first"
        assert client.asked[0].guild_id is None
        assert client.asked[0].user is not None
        assert client.asked[0].user.id == mara.id
        with pytest.raises(NotOffered, match="not offered in direct"):
            await discord.slash(mara, direct, "manage")


async def test_components_v2_and_selects_of_people(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, ben, general = guild.member("mara"), guild.member("ben"), guild.channel("general")

    class Updating(Raw):
        async def answer(self, interaction: nextcord.Interaction[Any]) -> None:
            if interaction.type is nextcord.InteractionType.component:
                await interaction.response.defer(with_message=True, ephemeral=True)
                await interaction.followup.send("seen")

    parts: list[dict[str, Any]] = [
        {
            "type": 9,
            "components": [{"type": 10, "content": "text"}],
            "accessory": {"type": 2, "style": 1, "label": "Go", "custom_id": "go"},
        },
        {"type": 1, "components": [{"type": 5, "custom_id": "who"}]},
        {"type": 1, "components": [{"type": 2, "style": 1, "label": "No", "custom_id": "no", "disabled": True}]},
    ]
    async with running(discord, client := Updating()):
        http: Any = client.http
        route = nextcord.http.Route("POST", "/channels/{channel_id}/messages", channel_id=general.id)
        sent = await http.request(route, json={"components": parts, "flags": 1 << 15})
        message = discord.core.world.message(general.id, int(sent["id"]))
        pressed = await discord.press(mara, message, "go")
        assert (pressed.text, pressed.ephemeral) == ("seen", True)
        await discord.select(mara, message, "who", [ben])
        data: Any = client.asked[1].data
        assert data["values"] == [str(ben.id)]
        assert data["resolved"]["users"][str(ben.id)]["username"] == "ben"
        with pytest.raises(NotOffered, match="disabled"):
            await discord.press(mara, message, "no")
        with pytest.raises(NotOffered, match="1 to 1 values"):
            await discord.select(mara, message, "who", [ben, mara])
        with pytest.raises(NotOffered, match="does not see the message"):
            await discord.press(ben, pressed.message, "go")
