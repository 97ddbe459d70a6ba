"""Messages as Discord writes them in JSON, and what of them an application may read."""

from typing import Any

from tests.servers.discord import payloads
from tests.servers.discord.ids import instant
from tests.servers.discord.records import JSON, Attachment, Message
from tests.servers.discord.world import World


def attachment(one: Attachment, cdn: str) -> JSON:
    return {
        "id": str(one.id),
        "filename": one.filename,
        "size": one.size,
        "url": f"{cdn}/{one.path}",
        "proxy_url": f"{cdn}/{one.path}",
        "content_type": one.content_type,
        **({"description": one.description} if one.description else {}),
    }


def emoji(sign: str) -> JSON:
    name, _, number = sign.partition(":")
    return {"id": number or None, "name": name, **({"animated": False} if number else {})}


def message(world: World, one: Message, cdn: str, *, depth: int = 1) -> JSON:
    """A message whole, with the one that it answers."""
    mentioned = [payloads.user(world.users[each]) for each in one.mentions if each in world.users]
    made: JSON = {
        "id": str(one.id),
        "channel_id": str(one.channel_id),
        "type": one.kind,
        "author": _author(world, one),
        "content": one.content,
        "timestamp": instant(one.id),
        "edited_timestamp": one.edited_at,
        "tts": False,
        "mention_everyone": one.mention_everyone,
        "mentions": mentioned,
        "mention_roles": [str(each) for each in one.mention_roles],
        "attachments": [attachment(each, cdn) for each in one.attachments],
        "embeds": [dict(each) for each in one.embeds],
        "components": [dict(each) for each in one.components],
        "pinned": one.pinned,
        "flags": one.flags,
    }
    made |= _optional(world, one)
    if one.reactions:
        made["reactions"] = [_reaction(world, each.emoji, each.users) for each in one.reactions]
    if one.reply_to is not None and depth:
        answered = world.messages.get(int((one.reference or {})["channel_id"]), {}).get(one.reply_to)
        made["referenced_message"] = answered and message(world, answered, cdn, depth=depth - 1)
    return made


def _author(world: World, one: Message) -> JSON:
    """Webhooks have no account: their discriminator says so."""
    made = payloads.user(one.author)
    return made if one.author.id in world.users else made | {"discriminator": "0000"}


def _optional(world: World, one: Message) -> JSON:
    made: dict[str, Any] = {
        "nonce": one.nonce,
        "webhook_id": one.webhook_id and str(one.webhook_id),
        "application_id": one.application_id and str(one.application_id),
        "message_reference": one.reference and dict(one.reference),
        "message_snapshots": list(one.snapshots) or None,
        "poll": one.poll and dict(one.poll),
        "sticker_items": list(one.stickers) or None,
        "interaction_metadata": one.interaction and dict(one.interaction),
    }
    if one.id in world.channels:
        made["thread"] = payloads.channel(world, world.channels[one.id])
    return {key: value for key, value in made.items() if value is not None}


def _reaction(world: World, sign: str, users: tuple[int, ...]) -> JSON:
    return {
        "emoji": emoji(sign),
        "count": len(users),
        "count_details": {"burst": 0, "normal": len(users)},
        "me": world.bot.id in users,
        "me_burst": False,
        "burst_colors": [],
    }


def message_event(world: World, one: Message, cdn: str) -> JSON:
    """A message as the gateway gives it: with server and member."""
    made = message(world, one, cdn)
    if one.guild_id is None:
        return made | {"channel_type": 1}
    made["guild_id"] = str(one.guild_id)
    made["channel_type"] = int(world.channel(one.channel_id).kind)
    if one.webhook_id is None and (one.guild_id, one.author.id) in world.members:
        made["member"] = payloads.bare_member(world.members[one.guild_id, one.author.id])
    for each in made["mentions"]:
        if (one.guild_id, int(each["id"])) in world.members:
            each["member"] = payloads.bare_member(world.members[one.guild_id, int(each["id"])])
    return made


def may_read(world: World, shown: JSON, *, intent: bool) -> JSON:
    """What an application sees of a message: without the intent, text only where it is addressed or speaks itself."""
    if "message_snapshots" in shown and not intent and not _addressed(world, shown):
        shown = shown | {"message_snapshots": []}
    if not intent and not _addressed(world, shown):
        shown = shown | {"content": "", "embeds": [], "attachments": [], "components": []}
        shown.pop("poll", None)
    if shown.get("referenced_message"):
        shown = shown | {"referenced_message": may_read(world, shown["referenced_message"], intent=intent)}
    return shown


def _addressed(world: World, shown: JSON) -> bool:
    channel_of = world.channels.get(int(shown["channel_id"]))
    own = shown["author"]["id"] == str(world.bot.id) or shown.get("application_id") == str(world.application_id)
    direct = channel_of is not None and channel_of.guild_id is None
    return own or direct or any(each["id"] == str(world.bot.id) for each in shown["mentions"])
