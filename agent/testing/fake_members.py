"""Who is in which server of the fake platform, and what agents are told of it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from agent.directory_changes import (
    ChannelChanged,
    ChannelRemoved,
    Member,
    MemberLeft,
    MembersSeen,
    ServerJoined,
    ServerLeft,
)
from agent.places import ChannelRef
from agent.testing.fake_values import channel_ref, server_ref

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.directory_changes import DirectoryChange
    from agent.events import Author
    from agent.identity.keys import ParticipantKey
    from agent.places import ServerRef
    from agent.testing.fake_delivery import Delivery


class Membership:
    """The members of each server. An agent that connects is told all of them, and then each change."""

    def __init__(self, platform: str, events: Delivery) -> None:
        self._platform = platform
        self._events = events
        self._servers: defaultdict[str, dict[ParticipantKey, Member]] = defaultdict(dict)
        events.standing = self.standing

    def standing(self) -> Sequence[DirectoryChange]:
        """Return what is so now: the members of each server that has any."""
        return [
            MembersSeen(self._server(server), tuple(members.values()), is_complete=True)
            for server, members in self._servers.items()
            if members
        ]

    async def join(self, *people: Author, server: str = "home", global_name: str | None = None) -> None:
        """Let people join a server, or be there under the names that they have now."""
        members = self._told(*people, global_name=global_name)
        self._servers[server].update({member.key: member for member in members})
        await self._events.observe(MembersSeen(self._server(server), members))

    async def leave(self, person: Author, *, server: str = "home") -> None:
        """Let somebody leave a server."""
        self._servers[server].pop(person.key, None)
        await self._events.observe(MemberLeft(self._server(server), person.key))

    async def rename_channel(self, channel: str, name: str, *, server: str = "home") -> None:
        """Give a channel another name; its id stays the old path."""
        known = channel_ref(server, channel)
        renamed = ChannelRef(known.external_id, name, known.visibility, known.parent_external_id, known.parent_name)
        await self._events.observe(ChannelChanged(self._server(server), renamed))

    async def remove_channel(self, channel: str, *, server: str = "home") -> None:
        """Remove a channel with its threads."""
        known = channel_ref(server, channel)
        await self._events.observe(ChannelRemoved(self._server(server), known.external_id))

    async def admit_agent(self, server: str) -> None:
        """Let the agent into a server."""
        await self._events.observe(ServerJoined(self._server(server)))

    async def expel_agent(self, server: str) -> None:
        """Put the agent out of a server."""
        self._servers.pop(server, None)
        await self._events.observe(ServerLeft(self._server(server)))

    def _told(self, *people: Author, global_name: str | None) -> tuple[Member, ...]:
        return tuple(
            Member(each.kind, each.external_id, each.display_name, global_name, each.username, is_bot=each.is_bot)
            for each in people
        )

    def _server(self, server: str) -> ServerRef:
        return server_ref(self._platform, server, "")
