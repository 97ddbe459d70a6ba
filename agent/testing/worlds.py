"""What the contract of bridges asks of a platform: to act on it like its people, and to look at what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection

    from agent.bridge import Bridge
    from agent.events import Author
    from agent.places import ChannelRef, ServerRef


class BridgeWorld(Protocol):
    """A platform with one server, one channel and one person in it, and a bridge that has not been started."""

    bridge: Bridge
    server: ServerRef
    channel: ChannelRef
    person: Author

    async def say(self, text: str) -> str:
        """Let the person say something in the channel, to nobody; return the message's id."""
        ...

    def mention(self, person: Author) -> str:
        """Return how a mention of somebody is written on this platform."""
        ...

    async def pinged(self, message_id: str) -> Collection[str]:
        """Return whom a message of the agent pinged: the ids of people, and `everyone`."""
        ...


class RepeatingWorld(BridgeWorld, Protocol):
    """A platform that can bring an event again."""

    async def again(self) -> None:
        """Bring the last event once more."""
        ...


class EditWorld(BridgeWorld, Protocol):
    """A platform with edits and deletions."""

    async def edit(self, message_id: str, text: str) -> None:
        """Let the person give their message another text."""
        ...

    async def delete(self, message_id: str) -> None:
        """Delete a message."""
        ...


class ReactionWorld(BridgeWorld, Protocol):
    """A platform with reactions."""

    async def react(self, message_id: str, emoji: str) -> None:
        """Let the person react to a message."""
        ...


class ThreadWorld(BridgeWorld, Protocol):
    """A platform with threads."""

    async def say_in_thread(self, text: str) -> str:
        """Let the person say something in a thread of the channel; return the message's id."""
        ...


class BotWorld(BridgeWorld, Protocol):
    """A platform with other bots."""

    async def say_as_bot(self, text: str) -> str:
        """Let another bot say something in the channel; return the message's id."""
        ...


class DirectWorld(BridgeWorld, Protocol):
    """A platform where the agent can be addressed."""

    async def say_directly(self, text: str) -> str:
        """Let the person say something in their direct conversation with the agent; return the message's id."""
        ...

    async def say_to_agent(self, text: str) -> str:
        """Let the person say something in the channel that mentions the agent; return the message's id."""
        ...

    async def reply_to(self, message_id: str, text: str) -> str:
        """Let the person answer a message of the agent; return the id of the answer."""
        ...


class MemberWorld(BridgeWorld, Protocol):
    """A platform whose servers have members that it tells of."""

    async def join(self, person: Author) -> None:
        """Let somebody join the server; one who is there already may get other names by it."""
        ...

    async def leave(self, person: Author) -> None:
        """Let somebody leave the server."""
        ...


class FullWorld(RepeatingWorld, EditWorld, ReactionWorld, ThreadWorld, BotWorld, DirectWorld, MemberWorld, Protocol):
    """A chat platform that can do all of it."""
