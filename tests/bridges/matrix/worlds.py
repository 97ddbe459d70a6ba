"""Rooms of a real Synapse with people and the agent's bridge in them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from agent.app import Agent
from agent.bridge import Bridge
from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.places import ChannelRef, ServerKind, ServerRef
from agent.settings.secrets import Secret
from agent.testing.app import running_agent
from agent.testing.scripted_model import ScriptedModel
from bridges.matrix import MatrixBridge, MatrixSettings
from bridges.matrix.settings import Invitations
from tests.servers.synapse import Person, Synapse


def settings_of(synapse: Synapse, account: Person, **options: Any) -> MatrixSettings:
    """The settings of a bridge to a Synapse; it accepts every invitation unless told otherwise."""
    return MatrixSettings(
        homeserver=synapse.url,
        user=account.user_id,
        password=Secret.parse(account.password),
        **{"invitations": Invitations(everybody=True), **options},
    )


class MatrixWorld:
    """A room with its owner, ana, and the agent in it (`agent.testing.worlds.FullWorld`)."""

    bridge: Bridge
    server: ServerRef
    channel: ChannelRef
    person: Author

    def __init__(self, synapse: Synapse) -> None:
        self.synapse = synapse

    async def prepare(self, name: str = "Kitchen", **options: Any) -> None:
        """Register everybody and let them join a room."""
        self.account = await self.synapse.person("isthmus")
        self.owner = await self.synapse.person("owner")
        self.ana = await self.synapse.person("ana")
        self.bridge = self.matrix = MatrixBridge(settings_of(self.synapse, self.account, **options))
        self.room = await self.owner.create_room(name)
        for each in (self.ana, self.account):
            await self.owner.invite(self.room, each.user_id)
            await each.join(self.room)
        self.root = await self.ana.send(self.room, {"body": "root"}, "test.root")
        self.server = ServerRef("matrix", self.room, name, ServerKind.ROOM)
        self.channel = ChannelRef(self.room, name)
        self.person = Author(ParticipantKind.MATRIX_USER, self.ana.user_id, "Ana")

    async def say(self, text: str) -> str:
        return await self.ana.say(self.room, text)

    def mention(self, person: Author) -> str:
        return person.external_id

    async def pinged(self, message_id: str) -> Collection[str]:
        event = await self.ana.event(self.room, message_id)
        edit = event.get("unsigned", {}).get("m.relations", {}).get("m.replace", {}).get("content", {})
        mentions = [each["m.mentions"] for each in (event["content"], edit, edit.get("m.new_content")) if each]
        return {
            *(user for each in mentions for user in each.get("user_ids", ())),
            *("everyone" for each in mentions if each.get("room")),
        }

    async def again(self) -> None:
        last = (await self.ana.messages(self.room))[-1]
        assert self.matrix._parts is not None
        await self.matrix._parts.syncing._one(self.room, last)

    async def edit(self, message_id: str, text: str) -> None:
        await self.ana.edit(self.room, message_id, text)

    async def delete(self, message_id: str) -> None:
        await self.ana.redact(self.room, message_id)

    async def react(self, message_id: str, emoji: str) -> None:
        await self.ana.react(self.room, message_id, emoji)

    async def say_in_thread(self, text: str) -> str:
        return await self.ana.say(self.room, text, **{"m.relates_to": thread(self.root)})

    async def say_as_bot(self, text: str) -> str:
        return await self.owner.say(self.room, text, msgtype="m.notice")

    async def say_directly(self, text: str) -> str:
        room = await self.ana.create_room(is_direct=True, invite=[self.account.user_id], preset="trusted_private_chat")
        return await self.ana.say(room, text)

    async def say_to_agent(self, text: str) -> str:
        return await self.ana.ask(self.room, self.account.user_id, text)

    async def reply_to(self, message_id: str, text: str) -> str:
        return await self.ana.say(self.room, text, **{"m.relates_to": {"m.in_reply_to": {"event_id": message_id}}})

    async def join(self, person: Author) -> None:
        if (await self.owner.members(self.room)).get(self.ana.user_id) != "join":
            await self.owner.invite(self.room, self.ana.user_id)
            await self.ana.join(self.room)
        await self.ana.call("PUT", f"v3/profile/{self.ana.user_id}/displayname", {"displayname": person.display_name})

    async def leave(self, person: Author) -> None:
        await self.ana.leave(self.room)


def thread(root: str, last: str | None = None) -> dict[str, Any]:
    """What a message in a thread relates to, as clients write it."""
    fallback = {"event_id": last or root}
    return {"rel_type": "m.thread", "event_id": root, "is_falling_back": True, "m.in_reply_to": fallback}


@dataclass
class Trial:
    """A whole agent at a Synapse."""

    synapse: Synapse
    account: Person
    agent: Agent
    bridge: MatrixBridge
    model: ScriptedModel

    async def room(self, *people: Person, name: str = "Kitchen", **options: Any) -> str:
        """Create a room of the first of some people, with the others and the agent in it."""
        owner, *others = people
        room = await owner.create_room(name, **options)
        for each in others:
            await owner.invite(room, each.user_id)
            await each.join(room)
        await owner.invite(room, self.account.user_id)
        await owner.joined(room, self.account.user_id)
        return room

    async def direct(self, person: Person) -> str:
        """Create the direct conversation of somebody with the agent."""
        room = await person.create_room(is_direct=True, invite=[self.account.user_id], preset="trusted_private_chat")
        await person.joined(room, self.account.user_id)
        return room


@contextlib.asynccontextmanager
async def matrix_agent(
    synapse: Synapse,
    database_url: str,
    settings: Mapping[str, Any] | None = None,
    *,
    model: ScriptedModel | None = None,
    account: Person | None = None,
    **options: Any,
) -> AsyncIterator[Trial]:
    """Run an agent at a Synapse; it accepts every invitation unless told otherwise."""
    account = account or await synapse.person("isthmus")
    bridge, model = MatrixBridge(settings_of(synapse, account, **options)), model or ScriptedModel(default="Well.")
    async with running_agent(database_url, settings, bridge=bridge, model=model) as agent:
        yield Trial(synapse, account, agent, bridge, model)
