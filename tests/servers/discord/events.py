"""Which session hears which event: intents, shards, and the text that an intent opens."""

from enum import IntFlag
from typing import NamedTuple

from tests.servers.discord import payloads
from tests.servers.discord.message_payloads import may_read
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import JSON
from tests.servers.discord.world import World


class Intent(IntFlag):
    GUILDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    GUILD_MODERATION = 1 << 2
    GUILD_EXPRESSIONS = 1 << 3
    GUILD_INTEGRATIONS = 1 << 4
    GUILD_WEBHOOKS = 1 << 5
    GUILD_INVITES = 1 << 6
    GUILD_VOICE_STATES = 1 << 7
    GUILD_PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    GUILD_MESSAGE_REACTIONS = 1 << 10
    GUILD_MESSAGE_TYPING = 1 << 11
    DIRECT_MESSAGES = 1 << 12
    DIRECT_MESSAGE_REACTIONS = 1 << 13
    DIRECT_MESSAGE_TYPING = 1 << 14
    MESSAGE_CONTENT = 1 << 15
    GUILD_SCHEDULED_EVENTS = 1 << 16
    AUTO_MODERATION_CONFIGURATION = 1 << 20
    AUTO_MODERATION_EXECUTION = 1 << 21
    GUILD_MESSAGE_POLLS = 1 << 24
    DIRECT_MESSAGE_POLLS = 1 << 25


PRIVILEGED = Intent.GUILD_MEMBERS | Intent.GUILD_PRESENCES | Intent.MESSAGE_CONTENT
KNOWN = Intent((1 << 26) - 1) & ~Intent(1 << 17 | 1 << 18 | 1 << 19 | 1 << 22 | 1 << 23)
NO_INTENT = Intent(0)
LARGE = 250
"""Beyond so many members a server is large."""

I = Intent  # noqa: E741 - a table is read by its columns
NEEDED: dict[str, tuple[Intent, Intent]] = {
    "MESSAGE": (I.GUILD_MESSAGES, I.DIRECT_MESSAGES),
    "MESSAGE_REACTION": (I.GUILD_MESSAGE_REACTIONS, I.DIRECT_MESSAGE_REACTIONS),
    "TYPING": (I.GUILD_MESSAGE_TYPING, I.DIRECT_MESSAGE_TYPING),
    "CHANNEL_PINS": (I.GUILDS, I.DIRECT_MESSAGES),
    "GUILD_MEMBER": (I.GUILD_MEMBERS, NO_INTENT),
    "GUILD_MEMBERS_CHUNK": (NO_INTENT, NO_INTENT),
    "THREAD_MEMBERS": (I.GUILDS, NO_INTENT),
    "GUILD_BAN": (I.GUILD_MODERATION, NO_INTENT),
    "GUILD": (I.GUILDS, NO_INTENT),
    "CHANNEL": (I.GUILDS, NO_INTENT),
    "THREAD": (I.GUILDS, NO_INTENT),
    "WEBHOOKS": (I.GUILD_WEBHOOKS, NO_INTENT),
    "PRESENCE": (I.GUILD_PRESENCES, NO_INTENT),
    "INTERACTION": (NO_INTENT, NO_INTENT),
    "USER": (NO_INTENT, NO_INTENT),
}
"""The beginning of an event's name → the intent that it needs in a server, and in direct conversations."""


class Event(NamedTuple):
    """Something that happened, for whoever may hear it."""

    name: str
    data: JSON
    guild_id: int | None = None
    channel_id: int | None = None


def needed(event: Event) -> Intent:
    """The intent that a session needs to hear of `event`."""
    best = max((key for key in NEEDED if event.name.startswith(key)), key=len, default=None)
    if best is None:
        return NO_INTENT
    in_guild, direct = NEEDED[best]
    return in_guild if event.guild_id is not None else direct


def shard_of(guild_id: int | None, shards: int) -> int:
    """Direct conversations go to shard 0."""
    return 0 if guild_id is None else (guild_id >> 22) % shards


def is_visible(world: World, event: Event) -> bool:
    """Whether the bot may see the channel where it happened."""
    if event.channel_id is None or event.name.startswith(("CHANNEL_", "THREAD_DELETE", "INTERACTION")):
        return True
    found = world.channels.get(event.channel_id)
    return found is None or Permission.VIEW_CHANNEL in world.permissions(world.bot.id, found)


def _everybody(world: World, event: Event) -> list[JSON]:
    """The members of a small server, which come at once to who sees presences; of a large one the bot only."""
    found = world.guild_members(event.guild_id or 0)
    return list(event.data["members"]) if len(found) > LARGE else [payloads.member(world, one) for one in found]


def told_to(world: World, event: Event, intents: Intent, shard: tuple[int, int]) -> JSON | None:
    """What a session hears of `event`; None: nothing."""
    number, count = shard
    about_itself = event.name == "GUILD_MEMBER_UPDATE" and event.data["user"]["id"] == str(world.bot.id)
    wanted = needed(event) in intents or about_itself
    if shard_of(event.guild_id, count) != number or not wanted:
        return None
    if event.name == "GUILD_CREATE" and Intent.GUILD_PRESENCES in intents:
        return event.data | {"members": _everybody(world, event)}
    if event.name in {"MESSAGE_CREATE", "MESSAGE_UPDATE"}:
        return may_read(world, event.data, intent=Intent.MESSAGE_CONTENT in intents)
    return event.data
