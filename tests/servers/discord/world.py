"""Everything that exists on the loopback Discord, and how it is found."""

from collections.abc import Iterator

from tests.servers.discord import permissions
from tests.servers.discord.errors import no_access, no_permission, unknown
from tests.servers.discord.ids import Snowflakes
from tests.servers.discord.permissions import DIRECT, NONE, Permission
from tests.servers.discord.records import (
    JSON,
    Channel,
    ChannelKind,
    GuildRecord,
    Member,
    Message,
    Role,
    User,
    Webhook,
)


class World:
    """The records by their ids. Looking up what is not there is Discord's own error."""

    def __init__(self, bot: User, application_id: int, ids: Snowflakes) -> None:
        self.ids = ids
        self.bot = bot
        self.application_id = application_id
        self.users: dict[int, User] = {bot.id: bot}
        self.guilds: dict[int, GuildRecord] = {}
        self.roles: dict[int, Role] = {}
        self.members: dict[tuple[int, int], Member] = {}
        self.bans: dict[tuple[int, int], str | None] = {}
        self.channels: dict[int, Channel] = {}
        self.messages: dict[int, dict[int, Message]] = {}
        """By channel, then by id; the answers that only one person sees stand in `ephemeral`."""
        self.ephemeral: dict[int, Message] = {}
        self.webhooks: dict[int, Webhook] = {}
        self.commands: dict[int | None, dict[int, JSON]] = {None: {}}
        """The application's commands: by server (None: everywhere), then by id."""
        self.stickers: dict[int, JSON] = {}
        self.emojis: dict[int, list[JSON]] = {}
        self.files: dict[str, tuple[bytes, str]] = {}
        """What the CDN serves: path → bytes and content type."""
        self.nonces: dict[str, tuple[int, int]] = {}
        """The bot's nonces: channel and id of the message; Discord forgets them after a few minutes."""

    def user(self, user_id: int) -> User:
        if user_id not in self.users:
            raise unknown("user")
        return self.users[user_id]

    def guild(self, guild_id: int) -> GuildRecord:
        """A server that the bot is in."""
        if guild_id not in self.guilds:
            raise unknown("guild")
        if (guild_id, self.bot.id) not in self.members:
            raise no_access()
        return self.guilds[guild_id]

    def member(self, guild_id: int, user_id: int) -> Member:
        self.user(user_id)
        if (guild_id, user_id) not in self.members:
            raise unknown("member")
        return self.members[guild_id, user_id]

    def channel(self, channel_id: int) -> Channel:
        if channel_id not in self.channels:
            raise unknown("channel")
        return self.channels[channel_id]

    def message(self, channel_id: int, message_id: int) -> Message:
        found = self.messages.get(channel_id, {}).get(message_id)
        if found is None:
            raise unknown("message")
        return found

    def webhook(self, webhook_id: int, token: str | None = None) -> Webhook:
        if webhook_id not in self.webhooks:
            raise unknown("webhook")
        found = self.webhooks[webhook_id]
        if token is not None and token != found.token:
            raise unknown("webhook")
        return found

    def guild_roles(self, guild_id: int) -> list[Role]:
        return [role for role in self.roles.values() if role.guild_id == guild_id]

    def guild_members(self, guild_id: int) -> list[Member]:
        return [member for (guild, _), member in self.members.items() if guild == guild_id]

    def guild_channels(self, guild_id: int) -> list[Channel]:
        return [one for one in self.channels.values() if one.guild_id == guild_id and not one.is_thread]

    def threads(self, guild_id: int) -> Iterator[Channel]:
        """The threads of a server that are not archived."""
        for one in self.channels.values():
            if one.guild_id == guild_id and one.is_thread and not one.archived:
                yield one

    def dm(self, user_id: int) -> Channel:
        """The direct conversation between the bot and somebody, made when there is none."""
        for one in self.channels.values():
            if one.kind is ChannelKind.DM and user_id in one.recipients:
                return one
        made = Channel(self.ids.next(), ChannelKind.DM, recipients=(user_id, self.bot.id))
        self.channels[made.id] = made
        return made

    def guild_permissions(self, user_id: int, guild_id: int) -> Permission:
        member = self.members.get((guild_id, user_id))
        if member is None:
            return NONE
        return permissions.in_guild(member, self.guild_roles(guild_id), self.guilds[guild_id].owner_id)

    def permissions(self, user_id: int, channel: Channel) -> Permission:
        """What somebody may in a channel; nothing for who is not there."""
        if channel.guild_id is None:
            return DIRECT if user_id in channel.recipients else NONE
        member = self.members.get((channel.guild_id, user_id))
        if member is None:
            return NONE
        channel = self.channels.get(channel.id, channel)
        parent = self.channels.get(channel.parent_id or 0) if channel.is_thread else None
        base = self.guild_permissions(user_id, member.guild_id)
        return permissions.in_channel(base, member, channel, parent)

    def require(self, channel: Channel, *needed: Permission) -> None:
        """Refuse what the bot may not do in a channel.

        Raises:
            DiscordError: 50001 when it cannot see the channel, 50013 when it lacks one of `needed`.
        """
        held = self.permissions(self.bot.id, channel)
        if Permission.VIEW_CHANNEL not in held:
            raise no_access()
        if any(one not in held for one in needed):
            raise no_permission()

    def require_in_guild(self, guild_id: int, *needed: Permission) -> None:
        self.guild(guild_id)
        held = self.guild_permissions(self.bot.id, guild_id)
        if any(one not in held for one in needed):
            raise no_permission()
