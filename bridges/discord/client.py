"""The real nextcord client, in which the gateway's payloads of messages stay whole and in order."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import nextcord
from nextcord.state import AutoShardedConnectionState

from agent import logs
from bridges.discord.quieting import quieten

if TYPE_CHECKING:
    from bridges.discord.watching import Watching

log = logs.get_logger(__name__)

type Parse = Callable[[Any], None]
type Sink = Callable[[str, Mapping[str, Any]], None]
"""Takes the kind of a gateway event and its payload; must return at once."""


class PayloadState(AutoShardedConnectionState):
    """Hands over the payloads of messages as they come.

    nextcord's own events run in tasks of their own, so that their order is not promised, and its values leave out what
    tells who posted through a webhook (`application_id`).
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # A session that cannot begin must end, so that a new one is tried; no other event may cost the connection.
        self.parsers.update({name: guarded(name, each) for name, each in self.parsers.items() if name != "READY"})

    sink: Sink | None = None
    on_begin: Callable[[int], None] | None = None
    """Is called with the shard whose session begins, before anything is heard in it."""

    def parse_ready(self, data: Any) -> None:
        """Tell that a session begins that is not the one before; nextcord keeps guilds that are no more."""
        shard_id = int(data["__shard_id__"])
        if self.on_begin is not None:
            self.on_begin(shard_id)
        present = {int(guild["id"]) for guild in data["guilds"]}
        for guild in list(self.guilds):
            if guild.shard_id == shard_id and guild.id not in present:
                self._remove_guild(guild)
                self.dispatch("guild_remove", guild)
        super().parse_ready(data)

    asked: Callable[[Mapping[str, Any]], None] | None = None
    """Takes what people ask with commands, menus, buttons and forms."""

    def _hand(self, kind: str, data: Mapping[str, Any]) -> None:
        if self.sink is not None:
            self.sink(kind, data)

    def parse_message_create(self, data: Any) -> None:
        """Hand over a new message."""
        self._hand("MESSAGE_CREATE", data)

    def parse_message_update(self, data: Any) -> None:
        """Hand over an edit."""
        self._hand("MESSAGE_UPDATE", data)

    def parse_message_delete(self, data: Any) -> None:
        """Hand over a deletion."""
        self._hand("MESSAGE_DELETE", data)

    def parse_message_delete_bulk(self, data: Any) -> None:
        """Hand over deletions at once."""
        self._hand("MESSAGE_DELETE_BULK", data)

    def parse_message_reaction_add(self, data: Any) -> None:
        """Hand over a reaction."""
        self._hand("MESSAGE_REACTION_ADD", data)

    def parse_interaction_create(self, data: Any) -> None:
        """Hand over what somebody asks with a command, a menu, a button or a form."""
        if self.asked is not None:
            self.asked(data)


class DiscordClient(nextcord.AutoShardedClient):
    """A client without commands of its own: what it hears goes to the bridge."""

    def __init__(self, *, intents: nextcord.Intents, ready_seconds: float) -> None:
        quieten()
        super().__init__(
            intents=intents,
            max_messages=None,
            guild_ready_timeout=ready_seconds,
            allowed_mentions=nextcord.AllowedMentions.none(),
            status=nextcord.Status.online,
            rollout_associate_known=False,
            rollout_delete_unknown=False,
            rollout_register_new=False,
            rollout_update_known=False,
        )
        self.watching: Watching | None = None
        """Is told what nextcord's cache learns."""
        self.on_session: Callable[[int], Awaitable[None]] | None = None
        """Is called with the shard when the guilds of a session are known that is not the one before."""

    def _get_state(self, **options: Any) -> PayloadState:  # type: ignore[override]  # nextcord passes them by name
        return PayloadState(
            dispatch=self.dispatch,
            handlers=self._handlers,
            hooks=self._hooks,
            http=self.http,
            loop=self.loop,
            **options,
        )

    async def reopen(self) -> None:
        """Let requests, and a new connection, be made after nextcord has given up; what it knows of guilds stays."""
        self._closed = False
        self._ready.clear()
        self._AutoShardedClient__queue = asyncio.PriorityQueue[Any]()  # in it stands that the client was closed
        await self.http.recreate()

    @property
    def payloads(self) -> PayloadState:
        """Return where payloads are handed over."""
        state = self._connection
        if not isinstance(state, PayloadState):
            raise TypeError("nextcord did not take the state that it was given")
        return state

    # What nextcord's cache learns; each name and form is nextcord's. ------------------------------------------------

    async def on_guild_available(self, guild: nextcord.Guild) -> None:
        """Tell of a guild whose members and channels are known by now."""
        self._watch(lambda watching: watching.guild_known(guild))

    async def on_guild_join(self, guild: nextcord.Guild) -> None:
        """Tell of a guild that the agent was let into."""
        self._watch(lambda watching: watching.guild_known(guild))

    async def on_guild_remove(self, guild: nextcord.Guild) -> None:
        """Tell of a guild that the agent has left."""
        self._watch(lambda watching: watching.guild_left(guild))

    async def on_guild_update(self, before: nextcord.Guild, after: nextcord.Guild) -> None:
        """Tell of a guild's new name."""
        if before.name != after.name:
            self._watch(lambda watching: watching.server(after))

    async def on_guild_channel_create(self, channel: nextcord.abc.GuildChannel) -> None:
        """Tell of a channel."""
        self._watch(lambda watching: watching.channel_made(channel.guild, channel))

    async def on_guild_channel_update(self, _: nextcord.abc.GuildChannel, channel: nextcord.abc.GuildChannel) -> None:
        """Tell of a channel and of the threads below it, whose readers are the channel's."""
        threads = [thread for thread in channel.guild.threads if thread.parent_id == channel.id]
        self._watch(lambda watching: watching.channels(channel.guild, [channel, *threads]))

    async def on_guild_channel_delete(self, channel: nextcord.abc.GuildChannel) -> None:
        """Tell that a channel is gone."""
        self._watch(lambda watching: watching.channel_removed(channel.guild, channel.id))

    async def on_thread_join(self, thread: nextcord.Thread) -> None:
        """Tell of a thread that came to be, or into view."""
        self._watch(lambda watching: watching.channels(thread.guild, [thread]))

    async def on_thread_update(self, _: nextcord.Thread, thread: nextcord.Thread) -> None:
        """Tell of a thread's new name."""
        self._watch(lambda watching: watching.channels(thread.guild, [thread]))

    async def on_thread_delete(self, thread: nextcord.Thread) -> None:
        """Tell that a thread is gone."""
        self._watch(lambda watching: watching.channel_removed(thread.guild, thread.id))

    async def on_guild_role_update(self, before: nextcord.Role, after: nextcord.Role) -> None:
        """Tell who reads the channels, when what everybody may has changed."""
        if after.is_default() and before.permissions != after.permissions:
            guild = after.guild
            self._watch(lambda watching: watching.channels(guild, [*guild.channels, *guild.threads]))

    async def on_guild_role_delete(self, role: nextcord.Role) -> None:
        """Tell who reads the channels that had a rule for a role."""
        rules = [channel for channel in role.guild.channels if any(rule.id == role.id for rule in channel._overwrites)]  # noqa: SLF001  # nextcord's `overwrites` leave out a role that is gone
        threads = [thread for thread in role.guild.threads if thread.parent in rules]
        self._watch(lambda watching: watching.channels(role.guild, [*rules, *threads]))

    async def on_member_join(self, member: nextcord.Member) -> None:
        """Tell of a member."""
        self._watch(lambda watching: watching.seen(member))

    async def on_member_update(self, before: nextcord.Member, after: nextcord.Member) -> None:
        """Tell of a member's new name."""
        if before.display_name != after.display_name:
            self._watch(lambda watching: watching.seen(after))

    async def on_user_update(self, _: nextcord.User, user: nextcord.User) -> None:
        """Tell of somebody's new name wherever it shows."""
        for guild in self.guilds:
            if (member := guild.get_member(user.id)) is not None:
                self._watch(lambda watching, member=member: watching.seen(member))  # type: ignore[misc]

    async def on_raw_member_remove(self, payload: nextcord.RawMemberRemoveEvent) -> None:
        """Tell that somebody has left."""
        if (guild := self.get_guild(payload.guild_id)) is not None:
            self._watch(lambda watching: watching.left(guild, payload.user.id))

    async def on_shard_ready(self, shard_id: int) -> None:
        """Fetch what was missed: a new session has begun, and what was said before is not sent again."""
        if self.on_session is not None:
            await self.on_session(shard_id)

    async def on_ready(self) -> None:
        """Do so for shards too that have no guild: nextcord says nothing about them."""
        if self.on_session is not None:
            for shard_id in self.shards:
                await self.on_session(shard_id)

    def _watch(self, tell: Callable[[Watching], None]) -> None:
        if self.watching is not None:
            tell(self.watching)

    async def on_error(self, event_method: str, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002  # nextcord's form
        """Log what an event's handler raised."""
        log.error("discord_event_failed", event_name=event_method, exc_info=sys.exception())


def guarded(name: str, parse: Parse) -> Parse:
    """Return a parser that logs what it cannot take, the first time in full: nextcord would end the connection."""
    told: set[type[Exception]] = set()

    def take(data: Any) -> None:
        try:
            parse(data)
        except Exception as error:
            is_new = type(error) not in told
            told.add(type(error))
            reason = type(error).__name__
            log.error("gateway_event_not_taken", kind=name, reason=reason, exc_info=is_new)  # noqa: TRY400  # in full once

    return take


def intents_for(*, message_content: bool, members: bool) -> nextcord.Intents:
    """Return the intents that are asked for, and no others."""
    intents = nextcord.Intents.none()
    intents.guilds = True
    intents.guild_messages = True
    intents.dm_messages = True
    intents.guild_reactions = True
    intents.dm_reactions = True
    intents.message_content = message_content
    intents.members = members
    return intents


def use_bases(api_base: str, cdn_base: str) -> None:
    """Point nextcord, its webhooks and its interactions included, at an API; they have one address a process."""
    nextcord.http.Route.BASE = api_base
    nextcord.asset.Asset.BASE = cdn_base
