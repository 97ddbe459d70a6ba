"""Threads and forum posts, and who follows them."""

from tests.servers.discord import payloads, places, posting
from tests.servers.discord.core import Core
from tests.servers.discord.drafts import draft
from tests.servers.discord.errors import DiscordError, bad_form, unknown
from tests.servers.discord.journal import Request
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import JSON, Channel, ChannelKind
from tests.servers.discord.rest.channels import readable
from tests.servers.discord.routing import route

NAME = 100


def _name(call: Request) -> str:
    name = str(call.json.get("name") or "")
    if not 1 <= len(name) <= NAME:
        raise bad_form("name", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {NAME} in length.")
    return name


@route("POST", "/channels/{channel_id}/threads", status=201)
def start(core: Core, call: Request) -> JSON:
    parent, bot = core.world.channel(call.id("channel_id")), core.world.bot
    if parent.kind is ChannelKind.FORUM:
        return _forum_post(core, call, parent)
    private = call.json.get("type", 12) == ChannelKind.PRIVATE_THREAD
    needed = Permission.CREATE_PRIVATE_THREADS if private else Permission.CREATE_PUBLIC_THREADS
    core.world.require(parent, needed)
    return payloads.channel(core.world, places.made_thread(core, parent, _name(call), bot.id, private=private))


def _forum_post(core: Core, call: Request, parent: Channel) -> JSON:
    core.world.require(parent, Permission.SEND_MESSAGES)
    first = draft(call.json.get("message") or {}, call.uploads)
    thread = places.made_thread(core, parent, _name(call), core.world.bot.id)
    sent = posting.post(core, thread, core.world.bot, first, message_id=thread.id)
    return payloads.channel(core.world, thread) | {"message": core.shown(sent)}


@route("POST", "/channels/{channel_id}/messages/{message_id}/threads", status=201)
def start_from(core: Core, call: Request) -> JSON:
    parent = readable(core, call, Permission.CREATE_PUBLIC_THREADS)
    grown = core.world.message(parent.id, call.id("message_id"))
    if grown.id in core.world.channels:
        raise DiscordError(400, 160004, "A thread has already been created for this message")
    made = places.made_thread(core, parent, _name(call), core.world.bot.id, thread_id=grown.id)
    return payloads.channel(core.world, made)


def _thread(core: Core, call: Request) -> Channel:
    found = readable(core, call)
    if not found.is_thread:
        raise DiscordError(400, 50024, "Cannot execute action on this channel type")
    return found


@route("PUT", "/channels/{channel_id}/thread-members/@me")
def join(core: Core, call: Request) -> None:
    places.followed(core, _thread(core, call), core.world.bot.id, follows=True)


@route("DELETE", "/channels/{channel_id}/thread-members/@me")
def leave(core: Core, call: Request) -> None:
    places.followed(core, _thread(core, call), core.world.bot.id, follows=False)


@route("PUT", "/channels/{channel_id}/thread-members/{user_id}")
def add(core: Core, call: Request) -> None:
    places.followed(core, _thread(core, call), core.world.user(call.id("user_id")).id, follows=True)


@route("DELETE", "/channels/{channel_id}/thread-members/{user_id}")
def remove(core: Core, call: Request) -> None:
    found = _thread(core, call)
    if found.owner_id != core.world.bot.id:
        core.world.require(found, Permission.MANAGE_THREADS)
    places.followed(core, found, call.id("user_id"), follows=False)


@route("GET", "/channels/{channel_id}/thread-members")
def members(core: Core, call: Request) -> list[JSON]:
    found = _thread(core, call)
    return [payloads.thread_member(found, one) for one in sorted(found.members)]


@route("GET", "/channels/{channel_id}/thread-members/{user_id}")
def member(core: Core, call: Request) -> JSON:
    found = _thread(core, call)
    if call.id("user_id") not in found.members:
        raise unknown("member")
    return payloads.thread_member(found, call.id("user_id"))


@route("GET", "/channels/{channel_id}/threads/archived/public")
def archived(core: Core, call: Request) -> JSON:
    return _archived(core, call, private=False)


@route("GET", "/channels/{channel_id}/threads/archived/private")
def archived_private(core: Core, call: Request) -> JSON:
    readable(core, call, Permission.MANAGE_THREADS)
    return _archived(core, call, private=True)


def _archived(core: Core, call: Request, *, private: bool) -> JSON:
    parent = readable(core, call, Permission.READ_MESSAGE_HISTORY)
    found = [
        one
        for one in core.world.channels.values()
        if one.parent_id == parent.id and one.is_thread and one.archived and one.is_private_thread is private
    ]
    return {"threads": [payloads.channel(core.world, one) for one in found], "members": [], "has_more": False}
