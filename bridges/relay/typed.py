"""Commands that people of a linked room type: answered there, or in private, and never carried over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from cachetools import LRUCache

from agent.arguments import ArgumentsRefused, find_command, read_arguments
from agent.commands import Command, CommandReply
from agent.events import Author
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.names import normalise
from agent.turn.split import MEASURES, split
from bridges.matrix.rules.outgoing import Typing, notice_of, relation
from bridges.matrix.rules.relations import SAID, relation_of
from bridges.matrix.rules.room import Room, shown_name, shown_names
from bridges.matrix.rules.values import Json, table, text
from bridges.relay.homeserver import HomeserverRefused
from bridges.relay.repository import MATRIX
from bridges.relay.ties import Later

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridges.relay.names import Names
    from bridges.relay.repository import Link
    from bridges.relay.ties import Ties

PREFIX: Final = "!"
_LIMIT: Final = 8_000
_MOST_PARTS: Final = 5
_DIRECT: Final = "direct:"
_RAN: Final = "ran:"
"""Before the event of a command that was run and is not answered yet."""
_MOST_REPLIES: Final = 100


@dataclass(frozen=True, slots=True)
class RoomWords:
    """What can be named in a linked room (`agent.arguments.Words`)."""

    names: Names
    people: Mapping[str, str]
    """The names of those in the room, by their ids."""

    def person(self, word: str) -> ParticipantKey:
        """Return who is meant: by a link, an id of either side, or a name that only one in the room bears."""
        target = unquote(word.strip("<>").removeprefix("https://matrix.to/#/"))
        if (person := self.names.person_of(target)) is not None:
            return ParticipantKey(ParticipantKind.DISCORD_USER, person)
        if target.startswith("@") and ":" in target:
            return ParticipantKey(ParticipantKind.MATRIX_USER, target)
        if target.removeprefix("@").isdecimal():
            return ParticipantKey(ParticipantKind.DISCORD_USER, target.removeprefix("@"))
        wanted = normalise(target)
        meant = [user for user, name in self.people.items() if wanted and normalise(name) == wanted]
        if len(meant) != 1:
            raise ValueError(f"“{word[:40]}” is {'nobody' if not meant else 'more than one person'} here: write the id")
        return self.person(meant[0])

    def channel(self, word: str) -> str:
        """Return the id of the channel that is meant."""
        target = word.strip("<#>")
        if not target.isdecimal():
            raise ValueError(f"“{word[:40]}” is no channel's id")
        return target

    def file(self, word: str) -> None:
        """Refuse: files are sent, not named."""
        raise ValueError(f"“{word[:40]}”: a command with a file is given on the other side")


class TypedCommands:
    """Runs what is typed in linked rooms, as the channel's commands."""

    def __init__(self, ties: Ties) -> None:
        self._ties = ties
        self._replies: LRUCache[str, CommandReply] = LRUCache(_MOST_REPLIES)
        """What was answered to commands whose answer may still have to be said."""
        self._typing = Typing(PREFIX, frozenset(command.path[0] for command in ties.host.commands))

    async def take(self, event: Json, room: Room, link: Link) -> bool:
        """Run a command and answer it; False when what is said is none."""
        content = table(event.get("content"))
        said = text(content.get("body")).strip()
        if event.get("type") not in SAID or not said.startswith(PREFIX) or relation_of(event).replaces:
            return False
        found = find_command(said.removeprefix(PREFIX), self._ties.host.commands)
        if found is None:
            return False
        command, rest = found
        place = await self._ties.mouth.where(link.channel)
        if place is None:
            raise Later("the channel is not known")
        sender = text(event["sender"])
        # Who manages the room does not manage the server that it is linked with.
        author = Author(ParticipantKind.MATRIX_USER, sender, shown_name(room, sender), sender, platform=MATRIX)
        try:
            words = RoomWords(self._ties.names, shown_names(room))
            options = read_arguments(command, rest, words, prefix=PREFIX)
        except ArgumentsRefused as refused:
            reply = CommandReply(str(refused), ok=False)
        else:
            if (once := await self._once(text(event["event_id"]), command, options, *place, author)) is None:
                return True
            reply = once
        await self._answer(event, sender, room, reply)
        await self._ties.state.remove(_RAN + text(event["event_id"]))
        return True

    async def _once(self, event_id: str, command: Command, options: dict[str, Any], *where: Any) -> CommandReply | None:
        """Run a command once, however often its answer has to be said; None where that process has died meanwhile."""
        if (reply := self._replies.get(event_id)) is not None:
            return reply
        key = _RAN + event_id
        if await self._ties.state.get(key) is not None:
            return None
        await self._ties.state.put({key: " ".join(command.path)})
        reply = await self._ties.host.run_command(command.path, options, *where)
        self._replies[event_id] = reply
        return reply

    async def _answer(self, event: Json, sender: str, room: Room, reply: CommandReply) -> None:
        """Say the answer as notices that ping nobody; what is for the asker alone in a direct room."""
        home, user = self._ties.home, self._ties.names.agent
        where, relates = room.room_id, relation("", text(event["event_id"]))
        if reply.private:
            where, relates = await self._direct(sender), None
        for number, part in enumerate(split(self._typing.of(reply.text), _LIMIT, MEASURES["bytes"])[:_MOST_PARTS]):
            content = notice_of(part)
            if relates is not None:
                content["m.relates_to"] = relates
            await home.send(where, content, f"reply-{event['event_id']}-{number}", user)
        if reply.file is not None:
            address = await home.upload(reply.file.name, reply.file.content, reply.file.content_type, user)
            info = {"mimetype": reply.file.content_type, "size": len(reply.file.content)}
            content = {"msgtype": "m.file", "body": reply.file.name, "url": address, "info": info, "m.mentions": {}}
            await home.send(where, content, f"file-{event['event_id']}", user)

    async def _direct(self, sender: str) -> str:
        """Return the room of the agent and one person, which is made when there is none."""
        key = _DIRECT + sender
        if (room := await self._ties.state.get(key)) is not None:
            try:
                await self._ties.home.invite(room, sender)
            except HomeserverRefused as refused:
                if refused.status == 403 and "already" in str(refused):  # noqa: PLR2004 - HTTP's own number
                    return room
            else:
                return room
        room = await self._ties.home.direct_room(sender)
        await self._ties.state.put({key: room})
        return room
