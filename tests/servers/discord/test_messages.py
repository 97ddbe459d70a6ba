import io
from typing import Any

import nextcord
import pytest

from tests.servers.discord.clients import Client, running
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Upload


def channel_of(client: Client, channel_id: int) -> Any:
    found = client.get_channel(channel_id)
    assert found is not None
    return found


async def test_a_message_is_sent_edited_and_deleted(discord: LoopbackDiscord) -> None:
    general = discord.guild().channel("general")
    async with running(discord) as client:
        sent = await channel_of(client, general.id).send("Hello")
        assert [one.content for one in discord.messages(general)] == ["Hello"]
        assert (await client.hears("message")).content == "Hello"
        await sent.edit(content="Hello again")
        assert discord.messages(general)[0].content == "Hello again"
        assert discord.messages(general)[0].edited_at is not None
        await sent.delete()
        assert discord.messages(general) == []
        assert (await client.hears("raw_message_delete")).message_id == sent.id


async def test_what_people_say_is_heard(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara", nick="Mara"), guild.channel("general")
    async with running(discord) as client:
        first = discord.say(mara, general, f"Hello {discord.bot.mention}")
        heard = await client.hears("message")
        assert (heard.id, heard.author.display_name, heard.mentions) == (first.id, "Mara", [heard.guild.me])
        answer = discord.say(mara, general, "and this", reply_to=first)
        heard = await client.hears("message", 2)
        assert heard.type is nextcord.MessageType.reply
        assert heard.reference.resolved.content == first.content
        discord.edit(answer, "and that")
        assert (await client.hears("raw_message_edit")).data["content"] == "and that"
        discord.bulk_delete(general, [first, answer])
        assert (await client.hears("raw_bulk_message_delete")).message_ids == {first.id, answer.id}


async def test_files_are_uploaded_and_served(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with running(discord) as client:
        file = nextcord.File(io.BytesIO(b"bytes"), "a.txt", description="A file")
        sent = await channel_of(client, general.id).send("see", file=file)
        (kept,) = discord.messages(general)[0].attachments
        assert (kept.filename, kept.size, kept.description) == ("a.txt", 5, "A file")
        assert await sent.attachments[0].read() == b"bytes"
        discord.say(mara, general, "a picture", attachments=[Upload("b.png", b"png", "image/png")])
        heard = await client.hears("message", 2)
        assert await heard.attachments[0].read() == b"png"
        assert heard.attachments[0].content_type == "image/png"


async def test_history_reactions_and_typing(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    said = [discord.say(mara, general, str(number)) for number in range(120)]
    async with running(discord) as client:
        place = channel_of(client, general.id)
        # Without `before` nextcord 3.2 asks for the first page again and again.
        every = place.history(limit=None, before=nextcord.Object(said[-1].id + 1))
        assert [one.content async for one in every] == [str(one) for one in range(119, -1, -1)]
        after = place.history(limit=3, after=nextcord.Object(said[10].id))
        assert [one.content async for one in after] == ["11", "12", "13"]
        around = place.history(limit=5, around=nextcord.Object(said[50].id))
        assert {one.content async for one in around} == {"48", "49", "50", "51", "52"}
        fetched = await place.fetch_message(said[0].id)
        await fetched.add_reaction("👍")
        discord.react(mara, said[0], "👍")
        (reaction,) = discord.now(said[0]).reactions
        assert reaction.users == (discord.bot.id, mara.id)
        await client.hears("raw_reaction_add", 2)
        await fetched.clear_reactions()
        assert discord.now(said[0]).reactions == ()
        await place.trigger_typing()
        assert discord.calls("POST", "/channels/{channel_id}/typing")


async def test_texts_that_are_too_long_or_empty_are_refused(discord: LoopbackDiscord) -> None:
    general = discord.guild().channel("general")
    async with running(discord) as client:
        place = channel_of(client, general.id)
        with pytest.raises(nextcord.HTTPException) as empty:
            await place.send(" ")
        assert empty.value.code == 50006
        with pytest.raises(nextcord.HTTPException) as long:
            await place.send("x" * 2001)
        assert long.value.code == 50035
    (wrong,) = await discord.violations()
    assert "2001 characters" in wrong
    discord.core.requests.clear()


async def test_a_nonce_is_enforced(discord: LoopbackDiscord) -> None:
    general = discord.guild().channel("general")
    async with running(discord) as client:
        http: Any = client.http
        route = nextcord.http.Route("POST", "/channels/{channel_id}/messages", channel_id=general.id)
        body = {"content": "once", "nonce": "n1", "enforce_nonce": True}
        first = await http.request(route, json=body)
        again = await http.request(route, json=body)
        assert first["id"] == again["id"]
        assert first["nonce"] == "n1"
        assert len(discord.messages(general)) == 1
        discord.forget_nonces()
        assert (await http.request(route, json=body))["id"] != first["id"]


async def test_webhooks_speak_in_channels_and_threads(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    thread = guild.thread(general, "A thread", mara)
    async with running(discord) as client:
        webhook = await channel_of(client, general.id).create_webhook(name="Personas")
        sent = await webhook.send("I am Ada", username="Ada", avatar_url="https://x.test/a.png", wait=True)
        kept = discord.messages(general)[-1]
        assert (kept.author.name, kept.webhook_id, kept.application_id) == ("Ada", webhook.id, discord.application_id)
        heard = await client.hears("message")
        assert heard.webhook_id == webhook.id
        assert heard.author.name == "Ada"
        assert await heard.author.display_avatar.read()
        await sent.edit(content="I am Ada L.")
        assert discord.messages(general)[-1].content == "I am Ada L."
        await sent.delete()
        assert [one.kind for one in discord.messages(general)] == [18]
        await webhook.send("in the thread", thread=nextcord.Object(thread.id))
        assert [one.content for one in discord.messages(thread)] == ["in the thread"]
        with pytest.raises(nextcord.HTTPException):
            await webhook.send("no", username="Clyde")
        assert [one.name for one in await channel_of(client, general.id).webhooks()] == ["Personas"]
        (kept_webhook,) = discord.webhooks(general)
        discord.remove_webhook(kept_webhook)
        with pytest.raises(nextcord.NotFound) as gone:
            await webhook.send("gone")
        assert gone.value.code == 10015
    (wrong,) = await discord.violations()
    assert "'Clyde'" in wrong
    discord.core.requests.clear()
