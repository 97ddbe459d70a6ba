from typing import Any

import nextcord
import pytest

from tests.servers.discord.clients import running
from tests.servers.discord.errors import DiscordError
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Upload

COMPONENTS_V2 = 1 << 15


async def test_forwarded_messages(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general, other = guild.member("mara"), guild.channel("general"), guild.channel("other")
    said = discord.say(mara, general, "news", attachments=[Upload("a.txt", b"x")])
    async with running(discord) as client:
        discord.say(mara, other, forward=said)
        heard = await client.hears("message")
        assert heard.content == ""
        (copy,) = heard.snapshots
        assert copy.content == "news"
        assert [one.filename for one in copy.attachments] == ["a.txt"]
        place: Any = client.get_channel(general.id)
        fetched = await place.fetch_message(said.id)
        await fetched.forward(client.get_channel(other.id))
        assert discord.messages(other)[1].snapshots[0]["message"]["content"] == "news"


async def test_polls_and_stickers(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    sticker = guild.sticker("wave")
    poll = {"question": {"text": "Tea?"}, "answers": [{"poll_media": {"text": "yes"}}], "duration": 1}
    asked = discord.say(mara, general, poll=poll, stickers=[sticker])
    async with running(discord) as client:
        http: Any = client.http
        raw = await http.get_message(general.id, asked.id)
        assert raw["poll"]["answers"] == [{"answer_id": 1, "poll_media": {"text": "yes"}}]
        assert raw["sticker_items"] == [{"id": sticker["id"], "name": "wave", "format_type": 1}]
        place: Any = client.get_channel(general.id)
        assert [one.name for one in (await place.fetch_message(asked.id)).stickers] == ["wave"]
        route = nextcord.http.Route("POST", "/channels/{channel_id}/messages", channel_id=general.id)
        await http.request(route, json={"poll": poll})
        assert discord.messages(general)[1].poll is not None


async def test_components_v2_are_posted_by_a_foreign_webhook_and_sent(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    general = guild.channel("general")
    proxy = discord.webhook(general, "Proxy", application_id=466378653216014359)
    container = {"type": 17, "components": [{"type": 10, "content": "inner"}]}
    async with running(discord) as client:
        texts: list[dict[str, Any]] = [{"type": 10, "content": "-# Replying"}, container]
        discord.post(proxy, username="Ada", components=texts, flags=COMPONENTS_V2)
        heard = await client.hears("message")
        assert heard.content == ""
        assert heard.components[0].content == "-# Replying"
        http: Any = client.http
        raw = await http.get_message(general.id, heard.id)
        assert raw["application_id"] == "466378653216014359"
        assert (raw["author"]["id"], raw["author"]["username"]) == (str(proxy.id), "Ada")
        route = nextcord.http.Route("POST", "/channels/{channel_id}/messages", channel_id=general.id)
        sent = await http.request(route, json={"components": texts, "flags": COMPONENTS_V2})
        assert sent["components"][1]["components"][0]["content"] == "inner"
        with pytest.raises(nextcord.HTTPException):
            await http.request(route, json={"components": texts, "flags": COMPONENTS_V2, "content": "both"})


async def test_a_foreign_webhooks_token_is_not_shown(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    general = guild.channel("general")
    discord.webhook(general, "Proxy", application_id=1)
    async with running(discord) as client:
        place: Any = client.get_channel(general.id)
        (seen,) = await place.webhooks()
        assert (seen.name, seen.token) == ("Proxy", None)


async def test_a_preview_updates_without_an_edit(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with running(discord) as client:
        said = discord.say(mara, general, "https://x.test")
        discord.preview(said, {"type": "link", "title": "X", "url": "https://x.test"})
        raw = (await client.hears("raw_message_edit")).data
        assert (raw["edited_timestamp"], raw["embeds"][0]["title"]) == (None, "X")


async def test_mentions_are_those_that_are_allowed(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    role, mara, general = guild.role("R"), guild.member("mara"), guild.channel("general")
    text = f"{mara.mention} {role.mention} @everyone"
    async with running(discord) as client:
        place: Any = client.get_channel(general.id)
        await place.send(text, allowed_mentions=nextcord.AllowedMentions.none())
        await place.send(
            text,
            allowed_mentions=nextcord.AllowedMentions(users=[nextcord.Object(mara.id)], roles=False, everyone=False),
        )
        await place.send(text)
    none, one, every = discord.messages(general)
    assert (none.mentions, none.mention_roles, none.mention_everyone) == ((), (), False)
    assert (one.mentions, one.mention_roles, one.mention_everyone) == ((mara.id,), (), False)
    assert (every.mentions, every.mention_roles, every.mention_everyone) == ((mara.id,), (role.id,), True)


async def test_embeds_keep_their_limits(discord: LoopbackDiscord) -> None:
    general = discord.guild().channel("general")
    async with running(discord) as client:
        place: Any = client.get_channel(general.id)
        await place.send(embed=nextcord.Embed(title="T", description="x" * 4096))
        with pytest.raises(nextcord.HTTPException) as refused:
            await place.send(embed=nextcord.Embed(description="x" * 4097))
        assert "embeds" in str(refused.value)
    assert any("embeds.0" in one for one in await discord.violations())
    discord.core.requests.clear()


@pytest.mark.parametrize("name", ["", "x" * 81, "My Clyde", "discord", "everyone", " here "])
def test_names_that_webhooks_cannot_have(name: str) -> None:
    from tests.servers.discord.hooks import check_name

    with pytest.raises(DiscordError):
        check_name(name)


async def test_a_reply_to_what_is_gone(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    said = discord.say(mara, general, "soon gone")
    discord.delete(said)
    async with running(discord) as client:
        place: Any = client.get_channel(general.id)
        reference = nextcord.MessageReference(message_id=said.id, channel_id=general.id)
        with pytest.raises(nextcord.HTTPException):
            await place.send("no", reference=reference)
        reference.fail_if_not_exists = False
        await place.send("yes", reference=reference)
    (kept,) = discord.messages(general)
    assert (kept.content, kept.reference) == ("yes", None)


async def test_pinning_is_said_in_the_channel(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    said = discord.say(mara, general, "keep this")
    async with running(discord) as client:
        place: Any = client.get_channel(general.id)
        message = await place.fetch_message(said.id)
        await message.pin()
        assert (await client.hears("message")).type is nextcord.MessageType.pins_add
        assert [one.id for one in await place.pins()] == [said.id]
        await message.unpin()
        await client.hears("guild_channel_pins_update", 2)
        assert [one.kind for one in discord.messages(general)] == [0, 6]
