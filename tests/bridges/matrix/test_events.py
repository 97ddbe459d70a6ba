"""What comes of what people do in rooms: edits that count and that do not, deletions, replies, files, upgrades."""

import base64
import contextlib
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer

from agent.bridge import SentMessage
from agent.events import Attachment, MessageCreated, MessageDeleted, MessageEdited, ReactionAdded
from agent.files import FileRefused, ReplyFile
from agent.testing.contract_steps import heard, outgoing, post, started
from agent.testing.recording_host import RecordingHost
from bridges.matrix.client import Client
from bridges.matrix.media import Media
from tests.bridges.matrix.worlds import MatrixWorld, thread
from tests.servers.synapse import Synapse
from tests.servers.synapse.people import Refused


@pytest_asyncio.fixture
async def world(synapse: Synapse) -> MatrixWorld:
    world = MatrixWorld(synapse)
    await world.prepare()
    return world


async def nothing(world: MatrixWorld, host: RecordingHost) -> None:
    """Hold that nothing came before what is said now."""
    await world.say("done")
    assert (await host.next(MessageCreated)).text == "done"


async def test_forged_edits_count_for_nothing(world: MatrixWorld) -> None:
    async with started(world) as host:
        message = await heard(world, host, "the truth")
        await world.owner.edit(world.room, message.message_id, "a lie")
        await world.ana.edit(world.room, message.message_id, "none", **{"m.new_content": "text"})
        first = await world.ana.edit(world.room, message.message_id, "first")
        assert (await host.next(MessageEdited)).text == "first"
        await world.ana.edit(world.room, first, "an edit of an edit")
        await nothing(world, host)
        history = await world.bridge.history(world.server, world.channel, 2)
    assert [each.text for each in history] == ["first", "done"]


async def test_an_edit_that_comes_late_does_not_undo_a_later_one(world: MatrixWorld) -> None:
    async with started(world) as host:
        message = await heard(world, host, "old")
        late = await world.ana.edit(world.room, message.message_id, "between")
        await host.next(MessageEdited)
        await world.ana.edit(world.room, message.message_id, "newest")
        await host.next(MessageEdited)
        assert world.matrix._parts is not None
        await world.matrix._parts.syncing._one(world.room, await world.ana.event(world.room, late))
        await nothing(world, host)


async def test_an_edit_after_a_restart_is_checked_against_the_original(world: MatrixWorld) -> None:
    said = await world.say("before")
    async with started(world) as host:
        await world.owner.edit(world.room, said, "a lie")
        await world.ana.edit(world.room, said, "after")
        edited = await host.next(MessageEdited)
    assert (edited.message_id, edited.text, edited.author.key) == (said, "after", world.person.key)


async def test_a_redacted_edit_brings_back_what_stood_before(world: MatrixWorld) -> None:
    async with started(world) as host:
        message = await heard(world, host, "first")
        edit = await world.ana.edit(world.room, message.message_id, "second")
        await host.next(MessageEdited)
        await world.ana.redact(world.room, edit)
        back = await host.next(MessageEdited)
    assert (back.message_id, back.text) == (message.message_id, "first")


@pytest.mark.parametrize("version", ["10", "11", "12"])
async def test_what_others_delete_is_deleted_in_every_room_version(world: MatrixWorld, version: str) -> None:
    room = await world.owner.create_room("Old", room_version=version, preset="public_chat")
    await world.ana.join(room)
    await world.account.join(room)
    async with started(world) as host:
        said = await world.ana.say(room, "soon gone")
        await host.next(MessageCreated)
        reaction = await world.ana.react(room, said, "👍")
        await host.next(ReactionAdded)
        await world.ana.redact(room, reaction)
        await world.owner.redact(room, said)
        assert (await host.next(MessageDeleted)).message_id == said


async def test_replies_and_threads(world: MatrixWorld) -> None:
    async with started(world) as host:
        own = await post(world, outgoing(world, "ask me"))
        first = await heard(world, host, "what **I** said")
        quoted = f"> <{world.ana.user_id}> what **I** said\n\nmy answer"
        await world.owner.say(world.room, quoted, **{"m.relates_to": {"m.in_reply_to": {"event_id": first.message_id}}})
        reply = await host.next(MessageCreated)
        assert reply.text == "my answer"
        assert reply.reply is not None
        assert (reply.reply.text, reply.reply.to_agent) == ("what **I** said", False)
        assert reply.reply.author is not None
        assert reply.reply.author.key == world.person.key
        in_thread = await world.ana.say(world.room, "in a thread", **{"m.relates_to": thread(first.message_id)})
        plain = await host.next(MessageCreated)
        assert plain.reply is None
        assert plain.channel.external_id == f"{world.room}/{first.message_id}"
        assert plain.channel.name == "what **I** said"
        relation = {**thread(first.message_id), "is_falling_back": False, "m.in_reply_to": {"event_id": own}}
        await world.ana.say(world.room, "to you", **{"m.relates_to": relation})
        answered = await host.next(MessageCreated)
        assert answered.reply is not None
        assert answered.reply.to_agent
        await world.ana.edit(world.room, in_thread, "edited")
        assert (await host.next(MessageEdited)).channel.external_id == plain.channel.external_id
        await world.ana.redact(world.room, in_thread)
        assert (await host.next(MessageDeleted)).channel.external_id == plain.channel.external_id


async def test_files_are_read_no_further_than_allowed(world: MatrixWorld) -> None:
    url = await world.ana.upload(b"a picture", "cat.png", "image/png")
    content = {"msgtype": "m.image", "filename": "cat.png", "url": url, "info": {"mimetype": "image/png", "size": 9}}
    async with started(world) as host:
        await world.ana.say(world.room, "look", **content)
        event = await host.next(MessageCreated)
        (attachment,) = event.attachments
        assert (event.text, attachment.name, attachment.size) == ("look", "cat.png", 9)
        assert await world.bridge.fetch(attachment, 9) == b"a picture"
        with pytest.raises(FileRefused, match="larger than 8 bytes"):
            await world.bridge.fetch(attachment, 8)
        await world.ana.say(world.room, "lying", **{**content, "info": {"size": 1}})
        (lying,) = (await host.next(MessageCreated)).attachments
        with pytest.raises(FileRefused, match="larger than 8 bytes"):
            await world.bridge.fetch(lying, 8)
        for wrong in ("https://evil.org/x", "mxc://home.test/../../x", "mxc://home.test/none", ""):
            await world.ana.say(world.room, "wrong", **{**content, "url": wrong})
            (attachment,) = (await host.next(MessageCreated)).attachments
            with pytest.raises(FileRefused):
                await world.bridge.fetch(attachment, 8)


async def test_encrypted_files_are_opened_and_checked(world: MatrixWorld) -> None:
    client = Client(world.synapse.url, world.ana.user_id)
    client.use(world.ana.token, "")
    try:
        content = await Media(client).upload(ReplyFile("secret.txt", b"a secret", "text/plain"), encrypt=True)
    finally:
        await client.close()
    forged = {**content["file"], "hashes": {"sha256": base64.b64encode(b"x" * 32).decode()}}
    async with started(world) as host:
        await world.ana.send(world.room, content)
        (attachment,) = (await host.next(MessageCreated)).attachments
        assert await world.bridge.fetch(attachment, 100) == b"a secret"
        await world.ana.send(world.room, {**content, "file": forged})
        (attachment,) = (await host.next(MessageCreated)).attachments
        with pytest.raises(FileRefused, match="not what was sent"):
            await world.bridge.fetch(attachment, 100)


async def test_notices_emotes_polls_and_profiles(world: MatrixWorld) -> None:
    async with started(world) as host:
        await world.ana.say(world.room, "waves", msgtype="m.emote")
        assert (await host.next(MessageCreated)).text == "* Ana waves"
        poll = {"m.poll": {"question": {"m.text": [{"body": "Tea?"}]}, "answers": [{"m.text": [{"body": "yes"}]}]}}
        await world.ana.send(world.room, poll, "m.poll.start")
        assert (await host.next(MessageCreated)).extras == ("poll: Tea?\n- yes",)
        profile = {"com.beeper.per_message_profile": {"id": "x", "displayname": "Owner", "has_fallback": True}}
        await world.ana.say(world.room, "Owner: I am somebody else", **profile)
        event = await host.next(MessageCreated)
        assert event.author.key == world.person.key
        assert event.author.display_name == f"Owner (via {world.ana.user_id})"
        assert event.text == "I am somebody else"


async def test_names_that_two_bear_are_told_apart(world: MatrixWorld) -> None:
    twin = await world.synapse.person("twin", "Ana")
    async with started(world) as host:
        await world.owner.invite(world.room, twin.user_id)
        await twin.join(world.room)
        await twin.say(world.room, "I am Ana")
        assert (await host.next(MessageCreated)).author.display_name == f"Ana ({twin.user_id})"
        await twin.leave(world.room)
        assert (await heard(world, host, "alone again")).author.display_name == "Ana"


async def test_a_room_that_is_upgraded_stays_the_same_place(world: MatrixWorld) -> None:
    async with started(world) as host:
        await heard(world, host, "old")
        answer = await world.owner.call("POST", f"v3/rooms/{world.room}/upgrade", {"new_version": "11"})
        new = answer["replacement_room"]
        await world.owner.invite(new, world.account.user_id)
        await world.owner.joined(new, world.account.user_id)
        await world.owner.say(new, "here we are")
        event = await host.next(MessageCreated)
        assert (event.server.external_id, event.channel.external_id) == (world.room, world.room)
        await post(world, outgoing(world, "in the new room", "key-2"))
        assert [each["content"]["body"] for each in await world.owner.said_by(new, world.account.user_id)] == [
            "in the new room"
        ]
        history = await world.bridge.history(event.server, event.channel, 10)
        assert [each.text for each in history] == ["here we are", "in the new room"]
        await world.bridge.withdraw(SentMessage("matrix", world.room, history[1].message_id))
        assert await world.owner.said_by(new, world.account.user_id) == []


async def test_a_file_that_is_kept_elsewhere_is_followed_without_the_token(world: MatrixWorld) -> None:
    seen: list[tuple[str, str | None]] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        seen.append((request.path, request.headers.get("Authorization")))
        if request.path == "/elsewhere":
            return web.Response(body=b"from elsewhere")
        raise web.HTTPTemporaryRedirect(f"http://127.0.0.1:{server.port}/elsewhere")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        client = Client(f"http://127.0.0.1:{server.port}", "@isthmus:home.test")
        client.use("secret-token", "")
        try:
            attachment = Attachment("x", "text/plain", 0, "mxc://home.test/abc")
            assert await Media(client).fetch(attachment, 100) == b"from elsewhere"
        finally:
            await client.close()
    assert seen == [
        ("/_matrix/client/v1/media/download/home.test/abc", "Bearer secret-token"),
        ("/elsewhere", None),
    ]


POISON: tuple[tuple[str, dict[str, Any]], ...] = (
    ("m.room.encrypted", {"algorithm": 7, "ciphertext": []}),
    ("m.room.encrypted", {"algorithm": "m.megolm.v1.aes-sha2", "session_id": "x", "sender_key": [], "ciphertext": "?"}),
    ("m.reaction", {"m.relates_to": {"rel_type": "m.annotation", "key": 7}}),
    ("m.poll.start", {"m.poll": {"question": [], "answers": {"a": 1}}}),
    ("m.sticker", {"body": [], "url": {}}),
)


async def test_poisonous_events_keep_nothing_away(world: MatrixWorld) -> None:
    poison: list[dict[str, Any]] = [
        {"msgtype": "m.none", "body": "x", "m.mentions": [], "m.relates_to": "x"},
        {"msgtype": "m.text", "body": "x" * 30_000, "formatted_body": "<a " * 5_000},
        {"msgtype": "m.image", "body": "\u0000\u202e", "info": 3, "file": "x", "url": 7},
        {"msgtype": "m.text", "body": "m", "m.mentions": {"user_ids": "everybody", "room": "yes"}},
        {"algorithm": "m.megolm.v1.aes-sha2"},
    ]
    async with started(world) as host:
        sent = 0
        for kind, content in (*(("m.room.message", each) for each in poison), *POISON):
            with contextlib.suppress(Refused):  # some of it Synapse itself does not take
                await world.ana.send(world.room, content, kind)
                sent += 1
        assert sent > len(poison)
        for kind, content in (("m.room.name", {"name": {"a": 1}}), ("m.space.parent", {"via": 7, "canonical": "yes"})):
            with contextlib.suppress(Refused):
                await world.owner.state(world.room, kind, content, "" if kind == "m.room.name" else "x")
        await world.say("still here")
        while (event := await host.next(MessageCreated)).text != "still here":
            assert len(event.text) <= 30_000
        history = await world.bridge.history(world.server, world.channel, 1)
    assert history[0].text == "still here"
