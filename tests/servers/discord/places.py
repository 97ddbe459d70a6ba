"""Making, changing and deleting channels and threads; the gateway hears of each."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tests.servers.discord import payloads, posting
from tests.servers.discord.core import Core
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import Channel, ChannelKind, Draft, Overwrite, OverwriteKind

STARTED = 18
"""The kind of message by which Discord says in a channel that a thread was begun in it."""


def overwrites(given: Iterable[Mapping[str, Any]]) -> tuple[Overwrite, ...]:
    return tuple(
        Overwrite(int(one["id"]), OverwriteKind(one["type"]), int(one.get("allow") or 0), int(one.get("deny") or 0))
        for one in given
    )


def made_channel(
    core: Core,
    guild_id: int,
    name: str,
    kind: ChannelKind = ChannelKind.TEXT,
    *,
    parent_id: int | None = None,
    rules: tuple[Overwrite, ...] = (),
    topic: str | None = None,
) -> Channel:
    world = core.world
    place = len(world.guild_channels(guild_id))
    made = Channel(world.ids.next(), kind, guild_id, name, parent_id, rules, topic, place)
    world.channels[made.id] = made
    core.emit_channel("CHANNEL_CREATE", made)
    return made


def made_thread(
    core: Core,
    parent: Channel,
    name: str,
    owner_id: int,
    *,
    private: bool = False,
    members: Iterable[int] = (),
    thread_id: int | None = None,
) -> Channel:
    """A thread or forum post; `thread_id` is the message that it grows from."""
    kind = ChannelKind.PRIVATE_THREAD if private else ChannelKind.PUBLIC_THREAD
    if parent.kind is ChannelKind.NEWS:
        kind = ChannelKind.NEWS_THREAD
    number = thread_id or core.world.ids.next()
    everybody = frozenset({owner_id, *members})
    made = Channel(
        number, kind, parent.guild_id, name, parent.id, nsfw=parent.nsfw, owner_id=owner_id, members=everybody
    )
    core.world.channels[number] = made
    core.emit_channel("THREAD_CREATE", made, newly_created=True)
    if thread_id is None and not private and parent.kind is not ChannelKind.FORUM:
        where = {"type": 0, "channel_id": str(made.id), "guild_id": str(made.guild_id)}
        draft = Draft(name, kind=STARTED, extra={"reference": where})
        posting.post(core, parent, core.world.user(owner_id), draft)
    return made


def changed(core: Core, channel: Channel) -> Channel:
    core.world.channels[channel.id] = channel
    core.emit_channel("THREAD_UPDATE" if channel.is_thread else "CHANNEL_UPDATE", channel)
    return channel


def deleted(core: Core, channel: Channel) -> None:
    world = core.world
    data = payloads.channel(world, channel)
    seen = Permission.VIEW_CHANNEL in world.permissions(world.bot.id, channel)
    world.channels.pop(channel.id, None)
    world.messages.pop(channel.id, None)
    for webhook in [one for one in world.webhooks.values() if one.channel_id == channel.id]:
        del world.webhooks[webhook.id]
    for thread in [one for one in world.channels.values() if one.parent_id == channel.id and one.is_thread]:
        world.channels.pop(thread.id, None)
        world.messages.pop(thread.id, None)
    if not channel.is_thread:
        core.gateway.emit("CHANNEL_DELETE", data, guild_id=channel.guild_id, channel_id=channel.id)
    elif seen:
        keys = ("id", "guild_id", "parent_id", "type")
        short = {key: data[key] for key in keys}
        core.gateway.emit("THREAD_DELETE", short, guild_id=channel.guild_id, channel_id=channel.id)


def followed(core: Core, thread: Channel, user_id: int, *, follows: bool) -> Channel:
    """Let somebody into a thread or out of it."""
    world = core.world
    before = Permission.VIEW_CHANNEL in world.permissions(world.bot.id, thread)
    members = thread.members | {user_id} if follows else thread.members - {user_id}
    made = replace(thread, members=members)
    world.channels[made.id] = made
    data: dict[str, Any] = {"id": str(made.id), "guild_id": str(made.guild_id), "member_count": len(members)}
    if follows and user_id == world.bot.id and not before:
        core.emit_channel("THREAD_CREATE", made)
    if follows:
        entry = payloads.thread_member(made, user_id)
        if (member := world.members.get((made.guild_id or 0, user_id))) is not None:
            entry["member"] = payloads.member(world, member)
        data["added_members"] = [entry]
    else:
        data["removed_member_ids"] = [str(user_id)]
    core.gateway.emit("THREAD_MEMBERS_UPDATE", data, guild_id=made.guild_id)
    return made


def ruled(core: Core, channel: Channel, overwrite: Overwrite | None, target_id: int) -> Channel:
    """Set what a role or member may in a channel; None takes it away."""
    others = tuple(one for one in channel.overwrites if one.id != target_id)
    return changed(core, replace(channel, overwrites=others if overwrite is None else (*others, overwrite)))


def kind_of(core: Core, target_id: int) -> OverwriteKind:
    return OverwriteKind.ROLE if target_id in core.world.roles else OverwriteKind.MEMBER
