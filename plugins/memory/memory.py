"""One memory, as it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import asyncpg

from agent.contracts.memory import MemoryScope
from agent.identity.mentions import has_mentions, people_in
from agent.places import Audience
from agent.text import clean, one_line

_KINDS: Final = {scope: f"{scope}_memory" for scope in MemoryScope}
_AUDIENCES: Final = {str(audience): audience for audience in Audience}


@dataclass(slots=True, unsafe_hash=True)
class Memory:
    """A row of `server_memories` or `personal_memories`.

    A thousand are made for a prompt, and a frozen dataclass takes eight times as long to make: so only the type checker
    sees to it that none is changed.
    """

    memory_id: Final[int]
    scope: Final[MemoryScope]
    owner_id: Final[int]
    """The server or the user, by scope."""
    lineage_id: Final[int]
    content: Final[str]
    """Untrusted text; one line once it is shown."""
    audience: Final[Audience]
    channel_ids: Final[tuple[str, ...]]
    """Platform ids of the channels it applies in; empty: in all of them."""
    scope_pending: Final[bool]
    """A channel scope by name that is not yet resolved: it counts as empty."""
    subject_account_id: Final[int | None]
    subject_user_id: Final[int | None]
    source_platform: Final[str]
    source_server_id: Final[int | None]
    source_channel_id: Final[str | None]
    manually_written: Final[bool]
    last_reinforced_at: Final[datetime | None]
    created_at: Final[datetime]
    version: Final[int]
    has_names: Final[bool]
    """Whether the content holds a placeholder or a mention, which is resolved for each prompt."""
    mentioned: Final[tuple[str, ...]] = ()
    """Platform ids of the people whom the content mentions."""

    @property
    def identity(self) -> str:
        """Return the identity of its entry in a prompt."""
        return f"{_KINDS[self.scope]}:{self.memory_id}"

    @property
    def recency(self) -> datetime:
        """Return when it was last reinforced, or made."""
        return self.last_reinforced_at or self.created_at


def memory_from_row(row: asyncpg.Record) -> Memory:
    """Return the memory of a row that one of the `read_…` queries gave, whose columns stand in this order."""
    (
        memory_id,
        is_server,
        owner_id,
        lineage_id,
        content,
        audience,
        channel_ids,
        scope_pending,
        subject_account_id,
        subject_user_id,
        source_platform,
        source_server_id,
        source_channel_id,
        manually_written,
        last_reinforced_at,
        created_at,
        version,
    ) = row
    if not content.isprintable():  # a fast no for what needs no cleaning
        content = one_line(clean(content))
    return Memory(
        memory_id,
        MemoryScope.SERVER if is_server else MemoryScope.PERSONAL,
        owner_id,
        lineage_id,
        content,
        _AUDIENCES[audience],
        tuple(channel_ids or ()),
        scope_pending,
        subject_account_id,
        subject_user_id,
        source_platform,
        source_server_id,
        source_channel_id,
        manually_written,
        last_reinforced_at,
        created_at,
        version,
        ("{" in content or "@" in content or "<#" in content) and has_mentions(content),
        people_in(content) if "@" in content else (),
    )
