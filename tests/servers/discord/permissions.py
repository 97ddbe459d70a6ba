"""What a member may do in a channel: roles, overwrites, threads and private threads. Pure functions."""

from collections.abc import Iterable, Sequence
from enum import IntFlag

from tests.servers.discord.records import Channel, Member, Overwrite, OverwriteKind, Role


class Permission(IntFlag):
    """Discord's permission bits, as far as anything here asks for them."""

    KICK_MEMBERS = 1 << 1
    BAN_MEMBERS = 1 << 2
    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    SEND_TTS_MESSAGES = 1 << 12
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    USE_EXTERNAL_EMOJIS = 1 << 18
    CHANGE_NICKNAME = 1 << 26
    MANAGE_NICKNAMES = 1 << 27
    MANAGE_ROLES = 1 << 28
    MANAGE_WEBHOOKS = 1 << 29
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    USE_EXTERNAL_STICKERS = 1 << 37
    SEND_MESSAGES_IN_THREADS = 1 << 38
    MODERATE_MEMBERS = 1 << 40
    SEND_POLLS = 1 << 49
    PIN_MESSAGES = 1 << 51


P = Permission
ALL = Permission((1 << 53) - 1)
NONE = Permission(0)
EVERYONE = (
    P.ADD_REACTIONS
    | P.VIEW_CHANNEL
    | P.SEND_MESSAGES
    | P.EMBED_LINKS
    | P.ATTACH_FILES
    | P.READ_MESSAGE_HISTORY
    | P.MENTION_EVERYONE
    | P.USE_EXTERNAL_EMOJIS
    | P.CHANGE_NICKNAME
    | P.USE_APPLICATION_COMMANDS
    | P.CREATE_PUBLIC_THREADS
    | P.CREATE_PRIVATE_THREADS
    | P.USE_EXTERNAL_STICKERS
    | P.SEND_MESSAGES_IN_THREADS
    | P.SEND_POLLS
)
"""What everybody may in a server as Discord makes it."""
DIRECT = EVERYONE | P.PIN_MESSAGES
"""What both may in a direct conversation."""
TIMED_OUT = P.VIEW_CHANNEL | P.READ_MESSAGE_HISTORY
NEED_SENDING = P.MENTION_EVERYONE | P.SEND_TTS_MESSAGES | P.ATTACH_FILES | P.EMBED_LINKS


def in_guild(member: Member, roles: Iterable[Role], owner_id: int) -> Permission:
    """What `member` may before any channel says otherwise; `roles` are all roles of the server."""
    if member.user_id == owner_id:
        return ALL
    held = {*member.roles, member.guild_id}
    total = NONE
    for role in roles:
        if role.id in held:
            total |= Permission(role.permissions)
    if Permission.ADMINISTRATOR in total:
        return ALL
    return total & TIMED_OUT if member.timed_out else total


def in_channel(base: Permission, member: Member, channel: Channel, parent: Channel | None = None) -> Permission:
    """What `member` may in `channel`; a thread takes the overwrites of its `parent`."""
    if base == ALL:
        return ALL
    place = parent if parent is not None else channel
    total = _overwritten(base, member, place.overwrites)
    if member.timed_out:
        total &= TIMED_OUT
    if Permission.VIEW_CHANNEL not in total:
        return NONE
    if channel.is_private_thread and not _sees_private(total, member, channel):
        return NONE
    sends = Permission.SEND_MESSAGES_IN_THREADS if channel.is_thread else Permission.SEND_MESSAGES
    return total if sends in total else _changed(total, 0, NEED_SENDING)


def _sees_private(total: Permission, member: Member, thread: Channel) -> bool:
    return Permission.MANAGE_THREADS in total or member.user_id in thread.members


def _overwritten(base: Permission, member: Member, overwrites: Sequence[Overwrite]) -> Permission:
    total = base
    for overwrite in overwrites:
        if overwrite.id == member.guild_id:
            total = _changed(total, overwrite.allow, overwrite.deny)
    allow = deny = 0
    for overwrite in overwrites:
        if overwrite.kind is OverwriteKind.ROLE and overwrite.id in member.roles:
            allow |= overwrite.allow
            deny |= overwrite.deny
    total = _changed(total, allow, deny)
    for overwrite in overwrites:
        if overwrite.kind is OverwriteKind.MEMBER and overwrite.id == member.user_id:
            total = _changed(total, overwrite.allow, overwrite.deny)
    return total


def _changed(held: Permission, allow: int, deny: int) -> Permission:
    """In whole numbers, since the complement of a flag forgets the bits that have no name here."""
    return Permission(int(held) & ~int(deny) | int(allow))
