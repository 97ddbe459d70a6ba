"""What the bridge knows of guilds and channels: from nextcord's cache, asked for when it is not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import nextcord
from cachetools import LRUCache, TTLCache

from agent import logs
from agent.places import ServerKind
from bridges.discord.described import Described, described
from bridges.discord.places import channel_of, direct_channel, direct_server, server_of
from bridges.discord.rights import may_manage
from bridges.discord.wording import in_words

if TYPE_CHECKING:
    from collections.abc import Collection

    from agent.events import Author
    from agent.places import ChannelRef, ServerRef
    from bridges.discord.client import DiscordClient
    from bridges.discord.places import Readable

log = logs.get_logger(__name__)

_FOUND: Final = 1_000
"""Channels that were asked for and are remembered."""
_FOUND_SECONDS: Final = 60.0
"""How long; nobody tells of the changes of an archived thread."""
_DIRECT: Final = 10_000
"""Direct conversations whose other side is remembered."""


class Guilds:
    """The guilds of one client (`bridges.discord.incoming.World`)."""

    def __init__(self, client: DiscordClient, allowed_bots: Collection[str]) -> None:
        self._client = client
        self._allowed = frozenset(allowed_bots)
        self._found: TTLCache[int, Readable | None] = TTLCache(_FOUND, _FOUND_SECONDS)
        self._others: LRUCache[int, str] = LRUCache(_DIRECT)
        self.own_webhooks: set[str] = set()
        """The ids of the webhooks through which personas speak."""

    @property
    def is_known(self) -> bool:
        """Tell whether the agent's account is known: it is from the login on."""
        return self._client.user is not None

    @property
    def agent_id(self) -> int:
        """The agent's own account."""
        user = self._client.user
        if user is None:
            raise RuntimeError("the agent's account is known from the login on")
        return user.id

    @property
    def application_id(self) -> int | None:
        """The agent's application, which makes the webhooks of the personas."""
        return self._client.application_id

    def is_own_webhook(self, webhook_id: str) -> bool:
        """Tell whether a webhook is one of the agent's own."""
        return webhook_id in self.own_webhooks

    def is_allowed_bot(self, bot_id: str) -> bool:
        """Tell whether a bot or webhook is answered like people."""
        return bot_id in self._allowed

    def permissions(self, channel_id: int) -> nextcord.Permissions | None:
        """Return what the agent may do in a channel of a guild; None where that is not known."""
        channel = self._client.get_channel(channel_id)
        if not isinstance(channel, (nextcord.abc.GuildChannel, nextcord.Thread)):
            return None
        if isinstance(channel, nextcord.Thread) and channel.parent is None:
            return None
        me = channel.guild.get_member(self.agent_id)
        return None if me is None else channel.permissions_for(me)

    def is_elsewhere(self, channel_id: int, server: ServerRef) -> bool:
        """Tell whether a channel is known to be none of a server's: another one's, or a direct conversation."""
        if server.kind is ServerKind.DIRECT:
            return server.external_id != f"direct:{channel_id}"
        channel = self._client.get_channel(channel_id)
        if isinstance(channel, (nextcord.abc.GuildChannel, nextcord.Thread)):
            return str(channel.guild.id) != server.external_id
        return channel is not None or channel_id in self._others

    def parent_of(self, channel_id: str) -> str | None:
        """Return the channel that a thread hangs below; None for what is no thread, or not known."""
        channel = self._client.get_channel(int(channel_id))
        return str(channel.parent_id) if isinstance(channel, nextcord.Thread) else None

    def mentions_agent(self, message: Mapping[str, Any]) -> bool:
        """Tell whether a message mentions the agent, by its account or by the role that it alone has."""
        if any(int(user["id"]) == self.agent_id for user in message.get("mentions") or ()):
            return True
        guild = self._guild(message)
        role = guild.self_role if guild is not None else None
        return role is not None and str(role.id) in (message.get("mention_roles") or ())

    def described(self, message: Mapping[str, Any]) -> Described:
        """Return what a message says and what came with it, with the names of channels and emojis."""
        said, guild = described(message), self._guild(message)
        extras = tuple(in_words(extra, guild) for extra in said.extras)
        return replace(said, text=in_words(said.text, guild), extras=extras)

    def can_manage(self, message: Mapping[str, Any]) -> bool:
        """Tell whether the author of a message manages its guild; in a direct message everybody does."""
        if message.get("webhook_id"):
            return False
        if not message.get("guild_id"):
            return True
        guild = self._guild(message)
        if guild is None:
            return False
        user_id = int(message["author"]["id"])
        roles = (message.get("member") or {}).get("roles")
        if roles is None:
            member = guild.get_member(user_id)
            roles = [role.id for role in member.roles] if member is not None else []
        return may_manage(guild, user_id, roles)

    def member(self, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return what is known of the author of a message as a member of its guild."""
        guild = self._guild(message)
        if guild is None or message.get("webhook_id"):
            return None
        member = guild.get_member(int(message["author"]["id"]))
        return {"nick": member.nick} if member is not None else None

    async def place(
        self, channel_id: int, guild_id: int | None, author: Author | None
    ) -> tuple[ServerRef, ChannelRef] | None:
        """Return where a channel is; None when it is not known and cannot be found out."""
        if guild_id is None:
            return self._direct(channel_id, author)
        guild = self._client.get_guild(guild_id)
        if guild is None:
            return None
        channel = guild.get_channel_or_thread(channel_id) or await self._ask_for(channel_id)
        if channel is None or channel.guild.id != guild_id:
            return None
        return server_of(guild), channel_of(channel)

    def _direct(self, channel_id: int, author: Author | None) -> tuple[ServerRef, ChannelRef]:
        if author is not None and author.external_id != str(self.agent_id):
            self._others[channel_id] = author.display_name
        name = self._others.get(channel_id, "direct message")
        return direct_server(channel_id, name), direct_channel(channel_id, name)

    async def _ask_for(self, channel_id: int) -> Readable | None:
        """Return what nextcord does not hold: a thread that was archived, or a channel that is told of too late."""
        if channel_id in self._found:
            return self._found[channel_id]
        try:
            channel = await self._client.fetch_channel(channel_id)
        except (nextcord.NotFound, nextcord.Forbidden, nextcord.InvalidData) as error:
            log.info("channel_not_found", channel=channel_id, reason=type(error).__name__)
            channel = None
        except (nextcord.HTTPException, aiohttp.ClientError, OSError) as error:
            log.warning("channel_not_asked_for", channel=channel_id, reason=type(error).__name__)
            return None
        found = channel if isinstance(channel, nextcord.abc.GuildChannel | nextcord.Thread) else None
        self._found[channel_id] = found
        return found

    def _guild(self, message: Mapping[str, Any]) -> nextcord.Guild | None:
        guild_id = message.get("guild_id")
        return self._client.get_guild(int(guild_id)) if guild_id else None
