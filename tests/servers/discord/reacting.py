"""Reactions, whoever gives them; the gateway hears of each."""

from dataclasses import replace

from tests.servers.discord import message_payloads, payloads, posting
from tests.servers.discord.core import Core
from tests.servers.discord.records import JSON, Message, Reaction


def react(core: Core, message: Message, sign: str, user_id: int) -> Message:
    given = {one.emoji: one.users for one in message.reactions}
    if user_id in given.get(sign, ()):
        return message
    given[sign] = (*given.get(sign, ()), user_id)
    changed = _stored(core, message, given)
    _told(core, "MESSAGE_REACTION_ADD", changed, sign, user_id)
    return changed


def unreact(core: Core, message: Message, sign: str, user_id: int) -> Message:
    given = {one.emoji: one.users for one in message.reactions}
    if user_id not in given.get(sign, ()):
        return message
    given[sign] = tuple(one for one in given[sign] if one != user_id)
    changed = _stored(core, message, given)
    _told(core, "MESSAGE_REACTION_REMOVE", changed, sign, user_id)
    return changed


def clear(core: Core, message: Message, sign: str | None = None) -> Message:
    """Take all reactions away, or all with one sign."""
    given = {one.emoji: one.users for one in message.reactions if sign is not None and one.emoji != sign}
    changed = _stored(core, message, given)
    name = "MESSAGE_REACTION_REMOVE_ALL" if sign is None else "MESSAGE_REACTION_REMOVE_EMOJI"
    _told(core, name, changed, sign)
    return changed


def _stored(core: Core, message: Message, given: dict[str, tuple[int, ...]]) -> Message:
    reactions = tuple(Reaction(sign, users) for sign, users in given.items() if users)
    changed = replace(message, reactions=reactions)
    posting.store(core, changed)
    return changed


def _told(core: Core, name: str, message: Message, sign: str | None, user_id: int | None = None) -> None:
    data: JSON = {"channel_id": str(message.channel_id), "message_id": str(message.id)}
    if message.guild_id is not None:
        data["guild_id"] = str(message.guild_id)
    if sign is not None:
        data |= {"emoji": message_payloads.emoji(sign), "burst": False, "type": 0}
    if user_id is not None:
        data |= {"user_id": str(user_id), "message_author_id": str(message.author.id)}
        member = core.world.members.get((message.guild_id or 0, user_id))
        if member is not None and name == "MESSAGE_REACTION_ADD":
            data["member"] = payloads.member(core.world, member)
    core.gateway.emit(name, data, guild_id=message.guild_id, channel_id=message.channel_id)
