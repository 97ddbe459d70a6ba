"""Records as Discord writes them in JSON."""

import hashlib

from tests.servers.discord.ids import instant
from tests.servers.discord.records import (
    JSON,
    Channel,
    ChannelKind,
    GuildRecord,
    Member,
    Role,
    User,
    Webhook,
)
from tests.servers.discord.world import World


def picture(source: str | None) -> str | None:
    """The hash by which Discord calls a picture that was given as an address or as data."""
    return source if source is None or ":" not in source else hashlib.md5(source.encode()).hexdigest()  # noqa: S324


def user(one: User) -> JSON:
    return {
        "id": str(one.id),
        "username": one.name,
        "global_name": one.global_name,
        "discriminator": "1234" if one.bot else "0",
        "avatar": picture(one.avatar),
        "bot": one.bot,
        "public_flags": 0,
        "flags": 0,
    }


def role(one: Role) -> JSON:
    return {
        "id": str(one.id),
        "name": one.name,
        "permissions": str(int(one.permissions)),
        "position": one.position,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "icon": None,
        "unicode_emoji": None,
        "managed": one.managed,
        "mentionable": False,
        "flags": 0,
        **({"tags": {"bot_id": str(one.bot_id)}} if one.bot_id is not None else {}),
    }


def bare_member(one: Member) -> JSON:
    """A member without its user, as it stands in messages."""
    return {
        "nick": one.nick,
        "roles": [str(role_id) for role_id in one.roles],
        "joined_at": one.joined_at,
        "premium_since": None,
        "avatar": None,
        "banner": None,
        "deaf": False,
        "mute": False,
        "pending": False,
        "flags": 0,
        "communication_disabled_until": "2999-01-01T00:00:00+00:00" if one.timed_out else None,
    }


def member(world: World, one: Member) -> JSON:
    return {**bare_member(one), "user": user(world.user(one.user_id))}


def channel(world: World, one: Channel) -> JSON:
    if one.kind is ChannelKind.DM:
        others = [user(world.user(each)) for each in one.recipients if each != world.bot.id]
        return {"id": str(one.id), "type": 1, "last_message_id": _last(world, one), "recipients": others, "flags": 0}
    base: JSON = {
        "id": str(one.id),
        "type": int(one.kind),
        "guild_id": str(one.guild_id),
        "name": one.name,
        "parent_id": str(one.parent_id) if one.parent_id else None,
        "last_message_id": _last(world, one),
        "rate_limit_per_user": 0,
        "flags": 0,
    }
    if one.is_thread:
        return base | _thread(world, one)
    return base | {
        "position": one.position,
        "topic": one.topic,
        "nsfw": one.nsfw,
        "permission_overwrites": [
            {"id": str(each.id), "type": int(each.kind), "allow": str(int(each.allow)), "deny": str(int(each.deny))}
            for each in one.overwrites
        ],
        **({"available_tags": [], "default_reaction_emoji": None, "default_sort_order": None} if _forum(one) else {}),
    }


def _forum(one: Channel) -> bool:
    return one.kind is ChannelKind.FORUM


def _last(world: World, one: Channel) -> str | None:
    held = world.messages.get(one.id)
    return str(max(held)) if held else None


def _thread(world: World, one: Channel) -> JSON:
    count = len(world.messages.get(one.id, ()))
    made: JSON = {
        "owner_id": str(one.owner_id),
        "message_count": count,
        "member_count": len(one.members),
        "total_message_sent": count,
        "applied_tags": [],
        "thread_metadata": {
            "archived": one.archived,
            "auto_archive_duration": 1440,
            "archive_timestamp": instant(one.id),
            "create_timestamp": instant(one.id),
            "locked": one.locked,
            **({"invitable": True} if one.is_private_thread else {}),
        },
    }
    if world.bot.id in one.members:
        made["member"] = thread_member(one, world.bot.id)
    return made


def thread_member(thread: Channel, user_id: int) -> JSON:
    return {"id": str(thread.id), "user_id": str(user_id), "join_timestamp": instant(thread.id), "flags": 0}


def guild(world: World, one: GuildRecord) -> JSON:
    """A server as REST gives it."""
    return {
        "id": str(one.id),
        "name": one.name,
        "owner_id": str(one.owner_id),
        "icon": None,
        "splash": None,
        "banner": None,
        "description": None,
        "discovery_splash": None,
        "region": "europe",
        "afk_channel_id": None,
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "nsfw": False,
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "premium_progress_bar_enabled": False,
        "preferred_locale": one.locale,
        "application_id": None,
        "system_channel_id": None,
        "system_channel_flags": 0,
        "rules_channel_id": None,
        "public_updates_channel_id": None,
        "safety_alerts_channel_id": None,
        "vanity_url_code": None,
        "widget_enabled": False,
        "widget_channel_id": None,
        "max_members": 500000,
        "max_presences": None,
        "max_video_channel_users": 25,
        "max_stage_video_channel_users": 50,
        "features": [],
        "roles": [role(each) for each in world.guild_roles(one.id)],
        "emojis": world.emojis.get(one.id, []),
        "stickers": [each for each in world.stickers.values() if each.get("guild_id") == str(one.id)],
    }


def guild_create(world: World, one: GuildRecord, *, unavailable: bool | None = None) -> JSON:
    """A server as the gateway gives it: its channels too, and of the members only the bot."""
    here = world.members[one.id, world.bot.id]
    seen = [each for each in world.threads(one.id) if world.permissions(world.bot.id, each)]
    return {
        **guild(world, one),
        **({} if unavailable is None else {"unavailable": unavailable}),
        "joined_at": here.joined_at,
        "large": len(world.guild_members(one.id)) > 250,
        "member_count": len(world.guild_members(one.id)),
        "members": [member(world, here)],
        "channels": [channel(world, each) for each in world.guild_channels(one.id)],
        "threads": [channel(world, each) for each in seen],
        "presences": [],
        "voice_states": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def webhook(world: World, one: Webhook) -> JSON:
    """A webhook; the token of another application's is left out."""
    made: JSON = {
        "id": str(one.id),
        "type": 1,
        "guild_id": str(one.guild_id),
        "channel_id": str(one.channel_id),
        "name": one.name,
        "avatar": picture(one.avatar),
        "application_id": str(one.application_id) if one.application_id else None,
    }
    if one.user_id in world.users:
        made["user"] = user(world.users[one.user_id])
    if one.application_id in {None, world.application_id}:
        made["token"] = one.token
    return made
