"""What of a message can be seen, taken from the loopback Discord as the message stands there now."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.servers.discord.ids import instant
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.pending import Modal
from tests.servers.discord.records import Message


@dataclass(frozen=True, slots=True)
class Who:
    """A person, the agent, or one of its personas."""

    name: str
    number: int = 0
    """Chooses the colour of the picture."""
    is_app: bool = False


@dataclass(frozen=True, slots=True)
class File:
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A message as somebody sees it."""

    who: Who
    time: str
    text: str = ""
    embeds: tuple[Mapping[str, Any], ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ()
    """Rows of buttons, as Discord writes them."""
    files: tuple[File, ...] = ()
    is_private: bool = False
    is_edited: bool = False
    answers: tuple[Who, str] | None = None
    """Who said what is answered, and what it said."""
    asked: tuple[Who, str] | None = None
    """Who ran the command that is answered, and how it is written."""


class Viewer:
    """Sees the loopback Discord as people in one of its servers do."""

    def __init__(self, discord: LoopbackDiscord) -> None:
        self._discord = discord
        self._world = discord.core.world

    def message(self, message: Message, asked: str = "") -> Shown:
        """Return a message as it stands now; `asked`: the command that it answers, as it was typed or chosen."""
        now = self._world.ephemeral.get(message.id) or self._discord.now(message)
        answered = None if now.reply_to is None else self._world.messages[now.channel_id].get(now.reply_to)
        asker = None if now.interaction is None else self.person(int(now.interaction["user"]["id"]))
        return Shown(
            who=self._author(now),
            time=instant(now.id)[11:16],
            text=now.content,
            embeds=now.embeds,
            rows=now.components,
            files=tuple(File(one.filename, one.size) for one in now.attachments),
            is_private=now.ephemeral_for is not None,
            is_edited=now.edited_at is not None,
            answers=None if answered is None else (self._author(answered), answered.content),
            asked=(asker, asked) if asker is not None and asked else None,
        )

    def person(self, user_id: int) -> Who:
        """Return somebody as they are called in the server."""
        user = self._world.users[user_id]
        nicks = (member.nick for (_, member_id), member in self._world.members.items() if member_id == user_id)
        name = next(filter(None, nicks), None) or user.global_name or user.name
        everybody = sorted(one.id for one in self._world.users.values() if not one.bot)
        return Who(name, 0 if user.bot else everybody.index(user_id), user.bot)

    def naming(self, sign: str, number: str) -> str:
        """Return the words that stand for a mention or for the link to a message."""
        if sign == "@":
            return f"@{self.person(int(number)).name}"
        if sign == "@&":
            return f"@{self._world.roles[int(number)].name}"
        channel = f"#{self._world.channels[int(number)].name}"
        return f"{channel} › message" if sign == "message" else channel

    def _author(self, message: Message) -> Who:
        if message.author.id in self._world.users:
            return self.person(message.author.id)
        return Who(message.author.name, len(message.author.name), is_app=True)


@dataclass(frozen=True, slots=True)
class Field:
    label: str
    description: str
    text: str


@dataclass(frozen=True, slots=True)
class Dialog:
    """A form that somebody is shown."""

    title: str
    fields: tuple[Field, ...]


def dialog(modal: Modal) -> Dialog:
    """Return a form with its fields; those of the kind in which each field stands in a label."""
    fields = tuple(
        Field(part["label"], part.get("description") or "", part["component"].get("value") or "")
        for part in modal.components
    )
    return Dialog(modal.title, fields)
