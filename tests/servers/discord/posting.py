"""Making, editing and deleting messages, whoever does it; the gateway hears of each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.servers.discord import drafts
from tests.servers.discord.core import Core
from tests.servers.discord.errors import DiscordError, bad_form, unknown
from tests.servers.discord.forwarding import snapshot
from tests.servers.discord.ids import now
from tests.servers.discord.mentions import mentioned
from tests.servers.discord.permissions import Permission
from tests.servers.discord.polls import opened
from tests.servers.discord.records import JSON, Attachment, Channel, ChannelKind, Draft, Message, Upload, User

REPLY = 19
FORWARD_FLAG = 1 << 14


def post(core: Core, channel: Channel, author: User, draft: Draft, *, message_id: int | None = None) -> Message:
    """Put a message into a channel and tell it."""
    if channel.kind in {ChannelKind.FORUM, ChannelKind.CATEGORY}:
        raise DiscordError(400, 50008, "Cannot send messages in a non-text channel")
    if channel.archived:
        if channel.locked and Permission.MANAGE_THREADS not in core.world.permissions(author.id, channel):
            raise DiscordError(400, 50083, "Thread is archived")
        channel = replace(channel, archived=False)
        core.world.channels[channel.id] = channel
        core.emit_channel("THREAD_UPDATE", channel)
    message = build(core, channel, author, draft, message_id=message_id)
    if message.ephemeral_for is not None:
        core.world.ephemeral[message.id] = message
    else:
        core.world.messages.setdefault(channel.id, {})[message.id] = message
    core.emit_message("MESSAGE_CREATE", message)
    return message


def build(core: Core, channel: Channel, author: User, draft: Draft, *, message_id: int | None = None) -> Message:
    """The message that a draft becomes in a channel."""
    number = message_id or core.world.ids.next()
    reference, answered = _reference(core, channel, draft)
    held = core.world.permissions(author.id, channel)
    everyone = Permission.MENTION_EVERYONE in held or "webhook_id" in draft.extra
    called = mentioned(
        draft.content, draft.allowed_mentions, everyone=everyone, answered=answered.author.id if answered else None
    )
    forwarded = reference is not None and reference.get("type") == 1
    parts: dict[str, Any] = {"reference": reference, **draft.extra}
    return Message(
        id=number,
        channel_id=channel.id,
        guild_id=channel.guild_id,
        author=author,
        content=draft.content,
        kind=draft.kind or (REPLY if answered is not None else 0),
        flags=draft.flags | (FORWARD_FLAG if forwarded else 0),
        attachments=attach(core, channel.id, draft.uploads),
        embeds=draft.embeds,
        components=draft.components,
        mentions=tuple(one for one in called.users if one in core.world.users),
        mention_roles=called.roles,
        mention_everyone=called.everyone,
        snapshots=(snapshot(core, reference),) if reference is not None and forwarded else (),
        poll=opened(draft.poll) if draft.poll else None,
        stickers=tuple(_sticker(core, one) for one in draft.sticker_ids),
        nonce=draft.nonce,
        **parts,
    )


def _reference(core: Core, channel: Channel, draft: Draft) -> tuple[JSON | None, Message | None]:
    """What the message refers to, and the message that it answers."""
    if draft.reference is None:
        return None, None
    asked = draft.reference
    message_id = int(asked["message_id"])
    place = int(asked.get("channel_id") or channel.id)
    kind = int(asked.get("type") or 0)
    found = core.world.messages.get(place, {}).get(message_id)
    if found is None or (kind == 0 and place != channel.id):
        if asked.get("fail_if_not_exists", True):
            raise bad_form("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
        return None, None
    made: JSON = {"type": kind, "message_id": str(message_id), "channel_id": str(place)}
    if found.guild_id is not None:
        made["guild_id"] = str(found.guild_id)
    return made, found if kind == 0 else None


def _sticker(core: Core, sticker_id: int) -> JSON:
    if sticker_id not in core.world.stickers:
        raise unknown("sticker")
    found = core.world.stickers[sticker_id]
    return {key: found[key] for key in ("id", "name", "format_type")}


def attach(core: Core, channel_id: int, uploads: Sequence[Upload]) -> tuple[Attachment, ...]:
    """Put files where the CDN serves them."""
    made = []
    for one in uploads:
        number = core.world.ids.next()
        path = f"attachments/{channel_id}/{number}/{one.filename}"
        core.world.files[path] = (one.data, one.content_type)
        made.append(Attachment(number, one.filename, len(one.data), one.content_type, path, one.description))
    return tuple(made)


def edit(core: Core, message: Message, body: Mapping[str, Any], uploads: Mapping[int, Upload]) -> Message:
    """Change what `body` names, and nothing else."""
    changed = edited(core, message, body, uploads)
    store(core, changed)
    core.emit_message("MESSAGE_UPDATE", changed)
    return changed


def edited(core: Core, message: Message, body: Mapping[str, Any], uploads: Mapping[int, Upload]) -> Message:
    fields: dict[str, Any] = {"edited_at": now()}
    if "content" in body:
        fields["content"] = str(body["content"] or "").strip()
    if "embeds" in body:
        fields["embeds"] = tuple(drafts.rich(one) for one in body["embeds"] or ())
    if "components" in body:
        fields["components"] = tuple(drafts.numbered(body["components"] or ()))
    if "flags" in body:
        fields["flags"] = message.flags & ~drafts.SETTABLE | int(body["flags"] or 0) & drafts.SETTABLE
    new = drafts.described(body, uploads)
    kept = message.attachments
    if body.get("attachments") is not None:
        wanted = {str(one.get("id")) for one in body["attachments"]}
        kept = tuple(one for one in kept if str(one.id) in wanted)
    fields["attachments"] = kept + attach(core, message.channel_id, new)
    changed = replace(message, **fields)
    _check_edit(changed, new)
    if "content" in body or "allowed_mentions" in body:
        called = mentioned(changed.content, body.get("allowed_mentions"), everyone=False)
        changed = replace(
            changed, mentions=tuple(one for one in called.users if one in core.world.users), mention_roles=called.roles
        )
    return changed


def _check_edit(changed: Message, new: tuple[Upload, ...]) -> None:
    whole = Draft(changed.content, changed.embeds, changed.components, new, flags=changed.flags)
    drafts.check(whole, empty_is_fine=bool(changed.attachments or changed.poll or changed.stickers))


def store(core: Core, message: Message) -> None:
    if message.ephemeral_for is not None:
        core.world.ephemeral[message.id] = message
    else:
        core.world.messages.setdefault(message.channel_id, {})[message.id] = message


def delete(core: Core, message: Message) -> None:
    if message.ephemeral_for is not None:
        core.world.ephemeral.pop(message.id, None)
        core.changes.notify()
        return
    core.world.messages.get(message.channel_id, {}).pop(message.id, None)
    data = {"id": str(message.id), "channel_id": str(message.channel_id), **_guild(message.guild_id)}
    core.gateway.emit("MESSAGE_DELETE", data, guild_id=message.guild_id, channel_id=message.channel_id)


def bulk_delete(core: Core, channel: Channel, ids: Sequence[int]) -> None:
    held = core.world.messages.get(channel.id, {})
    gone = [one for one in ids if held.pop(one, None) is not None]
    data = {"ids": [str(one) for one in gone], "channel_id": str(channel.id), **_guild(channel.guild_id)}
    core.gateway.emit("MESSAGE_DELETE_BULK", data, guild_id=channel.guild_id, channel_id=channel.id)


def _guild(guild_id: int | None) -> JSON:
    return {} if guild_id is None else {"guild_id": str(guild_id)}
