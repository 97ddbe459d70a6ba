"""A server as tests and demonstrations make it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tests.servers.discord import people, places, posting
from tests.servers.discord.core import Core
from tests.servers.discord.permissions import EVERYONE, Permission
from tests.servers.discord.records import JSON, Channel, ChannelKind, Draft, Member, Message, Overwrite, Role, User

P = Permission
BOT = EVERYONE | P.MANAGE_WEBHOOKS | P.MANAGE_MESSAGES | P.MANAGE_THREADS
"""What the bot may in a new server."""

type Rules = Mapping[Role | User, tuple[Permission, Permission]]
"""Who is allowed and denied what in a channel."""


class Guild:
    """A live handle: it shows the server as it stands now."""

    def __init__(self, core: Core, guild_id: int) -> None:
        self._core = core
        self.id = guild_id

    @property
    def name(self) -> str:
        return self._core.world.guilds[self.id].name

    @property
    def owner(self) -> User:
        return self._core.world.users[self._core.world.guilds[self.id].owner_id]

    @property
    def everyone(self) -> Role:
        return self._core.world.roles[self.id]

    @property
    def channels(self) -> list[Channel]:
        return self._core.world.guild_channels(self.id)

    @property
    def members(self) -> list[Member]:
        return self._core.world.guild_members(self.id)

    def rename(self, name: str) -> None:
        from tests.servers.discord import payloads

        world = self._core.world
        world.guilds[self.id] = replace(world.guilds[self.id], name=name)
        self._core.gateway.emit("GUILD_UPDATE", payloads.guild(world, world.guilds[self.id]), guild_id=self.id)

    # Roles and members

    def role(self, name: str, permissions: Permission = EVERYONE) -> Role:
        from tests.servers.discord import payloads

        world = self._core.world
        made = Role(world.ids.next(), self.id, name, permissions, position=len(world.guild_roles(self.id)))
        world.roles[made.id] = made
        told = {"guild_id": str(self.id), "role": payloads.role(made)}
        self._core.gateway.emit("GUILD_ROLE_CREATE", told, guild_id=self.id)
        return made

    def allow(self, role: Role, permissions: Permission) -> Role:
        """Let a role have exactly these permissions."""
        from tests.servers.discord import payloads

        made = replace(self._core.world.roles[role.id], permissions=permissions)
        self._core.world.roles[made.id] = made
        told = {"guild_id": str(self.id), "role": payloads.role(made)}
        self._core.gateway.emit("GUILD_ROLE_UPDATE", told, guild_id=self.id)
        return made

    def member(self, user: User | str, *, roles: Iterable[Role] = (), nick: str | None = None) -> User:
        """Let somebody join, and give them back; a name makes a new person."""
        if isinstance(user, str):
            user = self._core.person(user)
        people.joined(self._core, self.id, user, tuple(one.id for one in roles), nick)
        return user

    def give(self, user: User, *roles: Role) -> None:
        """Let a member have exactly these roles."""
        people.given(self._core, self.id, user.id, tuple(one.id for one in roles))

    def nick(self, user: User, nick: str | None) -> None:
        people.changed(self._core, replace(self._core.world.member(self.id, user.id), nick=nick))

    def time_out(self, user: User, *, timed_out: bool = True) -> None:
        people.changed(self._core, replace(self._core.world.member(self.id, user.id), timed_out=timed_out))

    def leave(self, user: User) -> None:
        """Let somebody leave; also the bot."""
        people.left(self._core, self.id, user.id)

    def ban(self, user: User) -> None:
        people.banned(self._core, self.id, user.id)

    def unban(self, user: User) -> None:
        people.unbanned(self._core, self.id, user.id)

    # Channels and threads

    def channel(
        self,
        name: str,
        kind: ChannelKind = ChannelKind.TEXT,
        *,
        parent: Channel | None = None,
        rules: Rules | None = None,
        topic: str | None = None,
    ) -> Channel:
        """A channel; `rules` say who is allowed and denied what in it."""
        made = tuple(
            Overwrite(who.id, places.kind_of(self._core, who.id), allow, deny)
            for who, (allow, deny) in (rules or {}).items()
        )
        parent_id = None if parent is None else parent.id
        return places.made_channel(self._core, self.id, name, kind, parent_id=parent_id, rules=made, topic=topic)

    def forum(self, name: str, *, rules: Rules | None = None) -> Channel:
        return self.channel(name, ChannelKind.FORUM, rules=rules)

    def thread(
        self,
        parent: Channel | Message,
        name: str,
        owner: User,
        *,
        private: bool = False,
        members: Iterable[User] = (),
    ) -> Channel:
        """A thread in a channel, or from a message."""
        world = self._core.world
        ids = [one.id for one in members]
        if isinstance(parent, Message):
            place = world.channel(parent.channel_id)
            return places.made_thread(self._core, place, name, owner.id, members=ids, thread_id=parent.id)
        return places.made_thread(self._core, parent, name, owner.id, private=private, members=ids)

    def post(self, forum: Channel, title: str, author: User, text: str) -> tuple[Channel, Message]:
        """A forum post: its thread and its first message."""
        thread = places.made_thread(self._core, forum, title, author.id)
        return thread, posting.post(self._core, thread, author, Draft(text), message_id=thread.id)

    def sticker(self, name: str) -> JSON:
        number = self._core.world.ids.next()
        made: JSON = {
            "id": str(number),
            "name": name,
            "description": name,
            "tags": name,
            "type": 2,
            "format_type": 1,
            "available": True,
            "guild_id": str(self.id),
        }
        self._core.world.stickers[number] = made
        return made
