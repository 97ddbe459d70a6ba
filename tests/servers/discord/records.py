"""What the loopback Discord knows. Every record is frozen: a change puts another record in its place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

JSON = dict[str, Any]


class ChannelKind(IntEnum):
    TEXT = 0
    DM = 1
    VOICE = 2
    CATEGORY = 4
    NEWS = 5
    NEWS_THREAD = 10
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12
    FORUM = 15


THREADS = (ChannelKind.NEWS_THREAD, ChannelKind.PUBLIC_THREAD, ChannelKind.PRIVATE_THREAD)


class OverwriteKind(IntEnum):
    ROLE = 0
    MEMBER = 1


@dataclass(frozen=True, slots=True)
class User:
    id: int
    name: str
    global_name: str | None = None
    bot: bool = False
    avatar: str | None = None

    @property
    def mention(self) -> str:
        return f"<@{self.id}>"


@dataclass(frozen=True, slots=True)
class Role:
    id: int
    guild_id: int
    name: str
    permissions: int
    position: int = 0
    managed: bool = False
    bot_id: int | None = None
    """The bot whose own role it is."""

    @property
    def mention(self) -> str:
        return f"<@&{self.id}>"


@dataclass(frozen=True, slots=True)
class Overwrite:
    id: int
    kind: OverwriteKind
    allow: int = 0
    deny: int = 0


@dataclass(frozen=True, slots=True)
class Member:
    guild_id: int
    user_id: int
    joined_at: str
    roles: tuple[int, ...] = ()
    nick: str | None = None
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class GuildRecord:
    id: int
    name: str
    owner_id: int
    locale: str = "en-US"


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel, a thread, a forum, a category or a direct conversation (`guild_id` is None)."""

    id: int
    kind: ChannelKind
    guild_id: int | None = None
    name: str = ""
    parent_id: int | None = None
    overwrites: tuple[Overwrite, ...] = ()
    topic: str | None = None
    position: int = 0
    nsfw: bool = False
    recipients: tuple[int, ...] = ()
    """The user ids of a direct conversation."""
    owner_id: int | None = None
    members: frozenset[int] = frozenset()
    """The user ids that follow a thread; they alone see a private one."""
    archived: bool = False
    locked: bool = False

    @property
    def is_thread(self) -> bool:
        return self.kind in THREADS

    @property
    def is_private_thread(self) -> bool:
        return self.kind is ChannelKind.PRIVATE_THREAD

    @property
    def mention(self) -> str:
        return f"<#{self.id}>"


@dataclass(frozen=True, slots=True)
class Attachment:
    id: int
    filename: str
    size: int
    content_type: str
    path: str
    """Where the CDN serves it."""
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that somebody attaches."""

    filename: str
    data: bytes
    content_type: str = "application/octet-stream"
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Reaction:
    emoji: str
    """The sign itself, or `name:id` of a server's own."""
    users: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Webhook:
    id: int
    channel_id: int
    guild_id: int
    name: str
    token: str
    user_id: int
    application_id: int | None = None
    avatar: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it stands now. JSON parts are kept as Discord writes them."""

    id: int
    channel_id: int
    author: User
    """Of a webhook message: the name and picture that it was given, and the webhook's id."""
    guild_id: int | None = None
    content: str = ""
    kind: int = 0
    flags: int = 0
    edited_at: str | None = None
    attachments: tuple[Attachment, ...] = ()
    embeds: tuple[JSON, ...] = ()
    components: tuple[JSON, ...] = ()
    mentions: tuple[int, ...] = ()
    mention_roles: tuple[int, ...] = ()
    mention_everyone: bool = False
    reactions: tuple[Reaction, ...] = ()
    reference: Mapping[str, Any] | None = None
    snapshots: tuple[JSON, ...] = ()
    poll: Mapping[str, Any] | None = None
    stickers: tuple[JSON, ...] = ()
    webhook_id: int | None = None
    application_id: int | None = None
    nonce: str | None = None
    interaction: Mapping[str, Any] | None = None
    pinned: bool = False
    ephemeral_for: int | None = None
    """The one person who sees it, of an answer to an interaction."""

    @property
    def reply_to(self) -> int | None:
        """The id of the message that it answers."""
        if self.reference is None or self.reference.get("type", 0) != 0 or "message_id" not in self.reference:
            return None
        return int(self.reference["message_id"])


@dataclass(frozen=True, slots=True)
class Draft:
    """A message to be made, whoever sends it."""

    content: str = ""
    embeds: tuple[JSON, ...] = ()
    components: tuple[JSON, ...] = ()
    uploads: tuple[Upload, ...] = ()
    allowed_mentions: Mapping[str, Any] | None = None
    reference: Mapping[str, Any] | None = None
    poll: Mapping[str, Any] | None = None
    sticker_ids: tuple[int, ...] = ()
    flags: int = 0
    nonce: str | None = None
    kind: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `Message` that are set as they are: webhook_id, application_id, interaction, ephemeral_for."""
