"""People from elsewhere speak through the channel's webhook (`agent.relaying.mouthpiece.Mouthpiece`)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import aiohttp
import nextcord
from nextcord.http import Route

from agent.bridge import OutgoingMessage, SendFailed, SentMessage
from agent.files import MEBIBYTE
from bridges.discord.bodies import MESSAGE_LIMIT, PERSONA_ROOM
from bridges.discord.places import PLATFORM
from bridges.discord.refusals import failure_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from agent.bridge import OutcomeUnknown
    from agent.places import ChannelRef, ServerRef
    from agent.relaying.mouthpiece import Voiced, Words
    from bridges.discord.client import DiscordClient
    from bridges.discord.finding import Finding
    from bridges.discord.guilds import Guilds
    from bridges.discord.posting import Posting

QUOTE_LIMIT: Final = 100
"""Characters of a quotation; with signs that are escaped it may take twice as many."""
_FORM: Final = re.compile(r"<(?:@[!&]?(?P<who>\d{1,20})|#(?P<where>\d{1,20})|a?:(?P<emoji>\w{1,64}):\d{1,20})>")


class Voices:
    """Lets people from elsewhere speak in Discord."""

    text_limit = MESSAGE_LIMIT - PERSONA_ROOM - 2 * QUOTE_LIMIT
    file_limit = 10 * MEBIBYTE

    def __init__(self, client: DiscordClient, guilds: Guilds, posting: Posting, finding: Finding) -> None:
        self._client = client
        self._guilds = guilds
        self._posting = posting
        self._finding = finding

    async def where(self, channel_id: str) -> tuple[ServerRef, ChannelRef] | None:
        """Return where a channel or thread of a guild is; None when it is not known."""
        if not channel_id.isdecimal():
            return None
        channel = self._client.get_channel(int(channel_id))
        if not isinstance(channel, (nextcord.abc.GuildChannel, nextcord.Thread)):
            return None
        return await self._guilds.place(channel.id, channel.guild.id, None)

    def names(self, server: ServerRef, text: str) -> dict[str, str]:
        """Return how people, roles, channels and emoji are called that a text holds, by the form in which it does."""
        guild = self._client.get_guild(int(server.external_id)) if server.external_id.isdecimal() else None
        found: dict[str, str] = {}
        for form in _FORM.finditer(text):
            if (name := _name(guild, form)) is not None:
                found[form[0]] = name
        return found

    async def speak(self, words: Words) -> Voiced | OutcomeUnknown:
        """Post through the channel's webhook, once.

        Raises:
            SendFailed: nothing was posted.
        """
        return await self._posting.speaking.voice(_message(words), words.quote[:QUOTE_LIMIT])

    async def find_words(self, words: Words, since: datetime, known: Collection[str]) -> Voiced | None:
        """Look for it in the history of its channel.

        Raises:
            Exception: the history does not tell.
        """
        message = replace(_message(words), made_at=since)
        return await self._finding.find_words(message, words.quote[:QUOTE_LIMIT], known)

    async def change(self, message_id: str, words: Words) -> None:
        """Give what was said another text.

        Raises:
            SendFailed: Discord refused, or no webhook of the agent's has said it.
        """
        if not await self._posting.speaking.edit(message_id, _message(words), words.quote[:QUOTE_LIMIT]):
            raise SendFailed("the message is gone, or its webhook is")

    async def retract(self, channel: ChannelRef, message_id: str) -> None:
        """Delete a message.

        Raises:
            SendFailed: Discord refused.
        """
        await self._posting.withdraw(SentMessage(PLATFORM, channel.external_id, message_id))

    async def react(self, channel: ChannelRef, message_id: str, emoji: str, *, on: bool) -> None:
        """Add or remove the agent's own reaction.

        Raises:
            SendFailed: Discord refused.
        """
        path = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me"
        route = Route(
            "PUT" if on else "DELETE", path, channel_id=channel.external_id, message_id=message_id, emoji=emoji
        )
        try:
            await self._client.http.request(route)
        except (nextcord.HTTPException, aiohttp.ClientError, OSError) as error:
            raise failure_of(error) from None


def _message(words: Words) -> OutgoingMessage:
    """Return the message as a persona's: webhooks know no other kind."""
    return OutgoingMessage(
        key="",
        platform=PLATFORM,
        channel=words.channel,
        server=words.server,
        text=words.text,
        reply_to=words.answers,
        mentions=words.mentions,
        persona_name=words.guise.name,
        persona_avatar=words.guise.avatar,
        file=words.file,
    )


def _name(guild: nextcord.Guild | None, form: re.Match[str]) -> str | None:
    if form["emoji"] is not None:
        return f":{form['emoji']}:"
    if guild is None:
        return None
    if form["where"] is not None:
        channel = guild.get_channel_or_thread(int(form["where"]))
        return None if channel is None else f"#{channel.name}"
    number = int(form["who"])
    if form[0].startswith("<@&"):
        role = guild.get_role(number)
        return None if role is None else f"@{role.name}"
    member = guild.get_member(number)
    return None if member is None else f"@{member.display_name}"
