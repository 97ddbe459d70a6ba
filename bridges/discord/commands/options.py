"""What Discord gives for an option, as the command takes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import nextcord

from agent.catalog import N_
from agent.commands import GivenMessage, OptionKind
from agent.events import Attachment
from bridges.discord.described import described
from bridges.discord.early import moment_of
from bridges.discord.people import key_of
from bridges.discord.places import PLATFORM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.bridge import BridgeHost
    from agent.commands import Command, Option
    from bridges.discord.client import DiscordClient
    from bridges.discord.commands.asked import Asked
    from bridges.discord.incoming import Incoming
    from bridges.discord.reading import Reading

type Payload = Mapping[str, Any]

_MESSAGE: Final = re.compile(r"(?:https?://[\w.:-]+/channels/(?:\d+|@me)/(\d+)/)?(\d{15,20})/?", re.ASCII)


class OptionRefused(Exception):
    """An option is nothing that the command takes; the sentence says so to whoever asked."""

    def __init__(self, msgid: str, **values: object) -> None:
        super().__init__(msgid)
        self.msgid = msgid
        self.values = values


OLD: Final = N_("Discord shows an older form of this command. Reload Discord and try again.")


@dataclass(frozen=True, slots=True)
class DiscordFile:
    """A file that somebody gave to a command."""

    attachment: Attachment
    reading: Reading

    @property
    def name(self) -> str:
        """Its name: untrusted text."""
        return self.attachment.name

    async def read(self, limit: int) -> bytes:
        """Return what is in it.

        Raises:
            FileRefused: it cannot be read, or holds more than `limit` bytes.
        """
        return await self.reading.fetch(self.attachment, limit)


class Options:
    """Reads options."""

    def __init__(self, client: DiscordClient, incoming: Incoming, reading: Reading, host: BridgeHost) -> None:
        self._client = client
        self._incoming = incoming
        self._reading = reading
        self._host = host

    async def read(self, asked: Asked, command: Command) -> dict[str, Any]:
        """Return the options that were given, by name.

        Raises:
            OptionRefused: one is unknown to the command, or names a message that is not there.
        """
        if "target_id" in asked.data:
            return await self._target(asked, command)
        known = {option.name: option for option in command.options if not option.hidden}
        values: dict[str, Any] = {}
        for given in asked.given:
            option = known.get(str(given["name"]))
            if option is None:
                raise OptionRefused(OLD)
            values[option.name] = await self._value(asked, option, given["value"])
        return values

    def simple(self, asked: Asked, command: Command) -> dict[str, Any]:
        """Return the options that were given and need no asking, for suggestions: what is half typed is left out."""
        kinds = {option.name: option.kind for option in command.options}
        plain = {OptionKind.TEXT: str, OptionKind.INTEGER: int, OptionKind.BOOLEAN: bool}
        return {
            given["name"]: given["value"]
            for given in asked.given
            if not given.get("focused")
            and (kind := kinds.get(given["name"])) in plain
            and isinstance(given.get("value"), plain[kind])
        }

    async def _target(self, asked: Asked, command: Command) -> dict[str, Any]:
        """Return the person or message whose menu was opened, as the one option that takes it."""
        target = str(asked.data["target_id"])
        for option in command.options:
            if option.kind in {OptionKind.PERSON, OptionKind.MESSAGE}:
                return {option.name: await self._value(asked, option, target)}
        raise OptionRefused(OLD)

    async def _value(self, asked: Asked, option: Option, value: Any) -> Any:
        match option.kind:
            case OptionKind.PERSON:
                return key_of(_resolved(asked, "users", value))
            case OptionKind.CHANNEL:
                return str(value)
            case OptionKind.FILE:
                return self._file(_resolved(asked, "attachments", value))
            case OptionKind.MESSAGE:
                return await self._message(asked, str(value))
            case kind if isinstance(value, _TYPES[kind]) and (
                kind is OptionKind.BOOLEAN or not isinstance(value, bool)
            ):
                return value
        raise OptionRefused(OLD)

    def _file(self, file: Payload) -> DiscordFile:
        content_type = str(file.get("content_type") or "application/octet-stream").partition(";")[0]
        attachment = Attachment(
            str(file.get("filename") or "file"), content_type, int(file.get("size") or 0), str(file["url"])
        )
        return DiscordFile(attachment, self._reading)

    async def _message(self, asked: Asked, value: str) -> GivenMessage:
        """Return the message of a menu, or the one of this channel that an id or a link names.

        Only of this channel: nobody shall have the agent read what they cannot see.
        """
        message = ((asked.data.get("resolved") or {}).get("messages") or {}).get(value)
        if message is None:
            found = _MESSAGE.fullmatch(value.strip())
            if found is None:
                raise OptionRefused(N_("Name a message by its link or its id, or use its menu."))
            if found[1] is not None and int(found[1]) != asked.channel_id:
                raise OptionRefused(N_("Only a message of this channel can be named here."))
            message = await self._fetched(asked.channel_id, int(found[2]))
        message = self._placed(asked, message)
        message_id = str(message["id"])
        own = await self._host.own_messages(PLATFORM, [message_id])
        return GivenMessage(
            message_id,
            self._incoming.author(message),
            described(message).text,
            moment_of(int(message_id)),
            from_agent=message_id in own or self._incoming.is_own(message),
        )

    def _placed(self, asked: Asked, message: Payload) -> Payload:
        """Return a message with its guild and its author's nickname there, which Discord leaves out here."""
        if asked.guild_id is None:
            return message
        placed = {**message, "guild_id": str(asked.guild_id)}
        guild = self._client.get_guild(asked.guild_id)
        member = guild.get_member(int(message["author"]["id"])) if guild is not None else None
        if member is not None and "member" not in message:
            placed["member"] = {"nick": member.nick, "roles": [str(role.id) for role in member.roles]}
        return placed

    async def _fetched(self, channel_id: int, message_id: int) -> Payload:
        try:
            found: Payload = await self._client.http.get_message(channel_id, message_id)
        except nextcord.HTTPException:
            raise OptionRefused(N_("There is no such message in this channel.")) from None
        except (aiohttp.ClientError, OSError):
            raise OptionRefused(N_("Discord does not answer just now. Please try again.")) from None
        return found


_TYPES: Final[Mapping[OptionKind, type]] = {
    OptionKind.TEXT: str,
    OptionKind.INTEGER: int,
    OptionKind.BOOLEAN: bool,
}


def _resolved(asked: Asked, kind: str, value: Any) -> Payload:
    found = ((asked.data.get("resolved") or {}).get(kind) or {}).get(str(value))
    if found is None:
        raise OptionRefused(OLD)
    return dict(found)
