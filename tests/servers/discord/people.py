"""Who joins, leaves, is renamed, is given a role, is banned; the gateway hears of each."""

from dataclasses import replace

from tests.servers.discord import payloads
from tests.servers.discord.core import Core
from tests.servers.discord.ids import now
from tests.servers.discord.records import JSON, Member, User


def joined(core: Core, guild_id: int, user: User, roles: tuple[int, ...] = (), nick: str | None = None) -> Member:
    world = core.world
    world.users.setdefault(user.id, user)
    member = Member(guild_id, user.id, now(), roles, nick)
    world.members[guild_id, user.id] = member
    if user.id == world.bot.id:
        guild = world.guilds[guild_id]
        core.gateway.emit("GUILD_CREATE", payloads.guild_create(world, guild), guild_id=guild_id)
    elif (guild_id, world.bot.id) in world.members:
        core.emit_member("GUILD_MEMBER_ADD", member)
    return member


def left(core: Core, guild_id: int, user_id: int) -> None:
    world = core.world
    world.members.pop((guild_id, user_id), None)
    if user_id == world.bot.id:
        core.gateway.emit("GUILD_DELETE", {"id": str(guild_id)}, guild_id=guild_id)
        return
    data = {"guild_id": str(guild_id), "user": payloads.user(world.user(user_id))}
    core.gateway.emit("GUILD_MEMBER_REMOVE", data, guild_id=guild_id)


def changed(core: Core, member: Member) -> Member:
    """Put a member's new state in place of the old one."""
    core.world.members[member.guild_id, member.user_id] = member
    core.emit_member("GUILD_MEMBER_UPDATE", member)
    return member


def renamed(core: Core, user: User) -> None:
    """A person's new name, heard of in every server that they share with the bot."""
    world = core.world
    world.users[user.id] = user
    for guild_id, user_id in list(world.members):
        if user_id == user.id and (guild_id, world.bot.id) in world.members:
            core.emit_member("GUILD_MEMBER_UPDATE", world.members[guild_id, user_id])


def banned(core: Core, guild_id: int, user_id: int, reason: str | None = None) -> None:
    world = core.world
    world.bans[guild_id, user_id] = reason
    core.gateway.emit("GUILD_BAN_ADD", _ban(core, guild_id, user_id), guild_id=guild_id)
    if (guild_id, user_id) in world.members:
        left(core, guild_id, user_id)


def unbanned(core: Core, guild_id: int, user_id: int) -> None:
    core.world.bans.pop((guild_id, user_id), None)
    core.gateway.emit("GUILD_BAN_REMOVE", _ban(core, guild_id, user_id), guild_id=guild_id)


def _ban(core: Core, guild_id: int, user_id: int) -> JSON:
    return {"guild_id": str(guild_id), "user": payloads.user(core.world.user(user_id))}


def given(core: Core, guild_id: int, user_id: int, roles: tuple[int, ...]) -> Member:
    """Let a member have exactly these roles."""
    return changed(core, replace(core.world.member(guild_id, user_id), roles=roles))
