"""What the memory tools work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agent.catalog import N_
from agent.preferences import Preference, resolve
from agent.preferences_repository import read_rows

if TYPE_CHECKING:
    from agent.identity.resolver import Resolver
    from plugins.memory.saving import Writing
    from plugins.memory.seen import SeenVersions

SELF_TEACHING: Final = Preference(
    "memory.self_teaching", default=True, description=N_("Whether the agent saves memories by itself.")
)
CHANNEL_MEMORY: Final = Preference(
    "memory.channel_memory", default=True, description=N_("Whether memories can be kept to some channels.")
)
MEMBER_EDITS: Final = Preference(
    "memory.member_edits",
    default=False,
    description=N_("Whether everybody in this server may add, change and remove its memories."),
)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The services that both tools use."""

    writing: Writing
    resolver: Resolver
    seen: SeenVersions
    locale: str = "en"
    """The language of the cards."""

    async def teaches_itself(self, server_id: int) -> bool:
        """Tell whether this server lets the model save and change memories."""
        async with self.writing.store.connection() as conn:
            rows = await read_rows(conn, server_id, None)
        return resolve(SELF_TEACHING, rows.server, {}).value
