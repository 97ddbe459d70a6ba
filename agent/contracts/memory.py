"""What a write of a memory is, whoever asks for it (memory.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from agent.places import Audience


class MemoryScope(StrEnum):
    """Whose memory it is."""

    SERVER = "server"
    PERSONAL = "personal"


class Origin(StrEnum):
    """How a memory came to be."""

    MODEL = "model"
    COMMAND = "command"
    IMPORT = "import"
    BIO = "bio"
    HISTORY = "history"


class WriteKind(StrEnum):
    """What happens to the memory."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class MemorySource:
    """Where a memory comes from; shown by `why`."""

    platform: str
    server_id: int | None
    channel_external_id: str | None
    message_id: str | None
    turn_id: str | None
    tool: str | None
    author_account_id: int | None
    occurred_at: datetime
    """When the source was said: nothing older than a person's `forgotten_before` is kept."""


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """A write that guards are asked about, and that `write_memory` carries out."""

    kind: WriteKind
    scope: MemoryScope
    server_id: int | None
    """The owner for server memories; for personal ones the server in which it is asked (its blacklist counts)."""
    user_id: int | None
    """The owner of a personal memory."""
    lineage_id: int
    content: str
    audience: Audience
    origin: Origin
    source: MemorySource
    subject_account_id: int | None = None
    subject_user_id: int | None = None
    channel_scope: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    manually_written: bool = False
    about_proxy_identity: bool = False
    """Whether owner or subject is a proxied identity: such a write needs a guard that covers it."""
    host_account_ids: tuple[int, ...] = ()
    """Accounts linked to that identity; locked with the subject."""


@dataclass(frozen=True, slots=True)
class MemoryRead:
    """A read of what is remembered about one person or one server, asked of `guard_memory_read`."""

    scope: MemoryScope
    server_id: int | None
    user_id: int | None
    lineage_id: int
    reader_account_id: int | None
    about_proxy_identity: bool = False
    reader_user_id: int | None = None
    """Who speaks, as a user: members of one system are told nothing about each other."""


@dataclass(frozen=True, slots=True)
class MemoryWritten:
    """What became of a write: a fixed status and the data that goes with it."""

    status: str
    memory_id: int | None = None
    content_forgotten: str | None = None
    text: str = ""
    """One sentence for whoever asked."""

    @property
    def saved(self) -> bool:
        """Tell whether the memory is now there."""
        return self.memory_id is not None
