"""Somebody at a plain Matrix client: bare requests, so that what is sent is exactly what a test says."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import aiohttp

_numbers = itertools.count(1)
PATIENCE = 20.0

type Json = dict[str, Any]


class Refused(Exception):
    """The homeserver refused a request."""


@dataclass
class Person:
    """An account, and what it can do."""

    url: str
    user_id: str
    password: str
    token: str
    display_name: str
    synced: str | None = field(default=None)

    async def call(self, method: str, path: str, body: Json | None = None, **query: str) -> Json:
        """Make a request of the client-server API; `path` begins behind `/_matrix/client/`."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with (
            aiohttp.ClientSession(headers=headers) as http,
            http.request(method, f"{self.url}/_matrix/client/{path}", json=body, params=query) as answer,
        ):
            content: Json = await answer.json()
            if answer.status >= 300:
                raise Refused(f"{method} {path}: {answer.status} {content}")
            return content

    async def create_room(self, name: str | None = None, **options: Any) -> str:
        """Create a room (private unless `preset` says otherwise) and return its id."""
        body = {"preset": "private_chat", **({"name": name} if name else {}), **options}
        return str((await self.call("POST", "v3/createRoom", body))["room_id"])

    async def create_space(self, name: str, **options: Any) -> str:
        """Create a space and return its id."""
        return await self.create_room(name, creation_content={"type": "m.space"}, **options)

    async def put_in_space(self, space: str, room: str) -> None:
        """Make both sides say that the room belongs to the space."""
        via = {"via": [self.user_id.partition(":")[2]]}
        await self.state(space, "m.space.child", via, room)
        await self.state(room, "m.space.parent", {**via, "canonical": True}, space)

    async def invite(self, room: str, user_id: str, reason: str = "") -> None:
        """Invite somebody."""
        await self.call("POST", f"v3/rooms/{quote(room)}/invite", {"user_id": user_id, "reason": reason})

    async def join(self, room: str) -> None:
        """Join a room."""
        await self.call("POST", f"v3/join/{quote(room)}", {})

    async def leave(self, room: str) -> None:
        """Leave a room."""
        await self.call("POST", f"v3/rooms/{quote(room)}/leave", {})

    async def send(self, room: str, content: Json, kind: str = "m.room.message") -> str:
        """Send an event and return its id."""
        path = f"v3/rooms/{quote(room)}/send/{kind}/t{next(_numbers)}"
        return str((await self.call("PUT", path, content))["event_id"])

    async def say(self, room: str, text: str, **content: Any) -> str:
        """Say something; further content stands beside it."""
        return await self.send(room, {"msgtype": "m.text", "body": text, "m.mentions": {}, **content})

    async def ask(self, room: str, user_id: str, text: str, **content: Any) -> str:
        """Say something that mentions somebody."""
        return await self.say(room, text, **{"m.mentions": {"user_ids": [user_id]}, **content})

    async def edit(self, room: str, event_id: str, text: str, **content: Any) -> str:
        """Give a message another text; `content` replaces parts of the edit."""
        new = {"msgtype": "m.text", "body": text, "m.mentions": {}}
        relation = {"rel_type": "m.replace", "event_id": event_id}
        return await self.send(
            room, {"msgtype": "m.text", "body": f"* {text}", "m.new_content": new, "m.relates_to": relation, **content}
        )

    async def redact(self, room: str, event_id: str) -> str:
        """Redact an event."""
        path = f"v3/rooms/{quote(room)}/redact/{quote(event_id)}/t{next(_numbers)}"
        return str((await self.call("PUT", path, {}))["event_id"])

    async def react(self, room: str, event_id: str, key: str) -> str:
        """React to an event."""
        relation = {"rel_type": "m.annotation", "event_id": event_id, "key": key}
        return await self.send(room, {"m.relates_to": relation}, "m.reaction")

    async def state(self, room: str, kind: str, content: Json, key: str = "") -> str:
        """Set state and return the event's id."""
        path = f"v3/rooms/{quote(room)}/state/{kind}/{quote(key)}"
        return str((await self.call("PUT", path, content))["event_id"])

    async def read_state(self, room: str, kind: str, key: str = "") -> Json:
        """Return the content of state."""
        return await self.call("GET", f"v3/rooms/{quote(room)}/state/{kind}/{quote(key)}")

    async def event(self, room: str, event_id: str) -> Json:
        """Return an event."""
        return await self.call("GET", f"v3/rooms/{quote(room)}/event/{quote(event_id)}")

    async def messages(self, room: str, limit: int = 50) -> list[Json]:
        """Return the last events of a room, oldest first."""
        found = await self.call("GET", f"v3/rooms/{quote(room)}/messages", dir="b", limit=str(limit))
        return list(reversed(found["chunk"]))

    async def said_by(self, room: str, user_id: str) -> list[Json]:
        """Return the messages of somebody that stand in a room, oldest first."""
        return [
            event
            for event in await self.messages(room)
            if event["sender"] == user_id and event["type"] == "m.room.message" and "body" in event["content"]
        ]

    async def answer(self, room: str, user_id: str, count: int = 1) -> list[Json]:
        """Return the messages of somebody in a room as soon as there are so many."""
        async with asyncio.timeout(PATIENCE):
            while len(found := await self.said_by(room, user_id)) < count:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.05)
        return found

    async def members(self, room: str) -> dict[str, str]:
        """Return the membership of everybody in a room."""
        found = await self.call("GET", f"v3/rooms/{quote(room)}/members")
        return {event["state_key"]: event["content"]["membership"] for event in found["chunk"]}

    async def joined(self, room: str, user_id: str, membership: str = "join") -> None:
        """Return as soon as somebody has that membership in a room."""
        async with asyncio.timeout(PATIENCE):
            while (await self.members(room)).get(user_id) != membership:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.05)

    async def rooms(self) -> list[str]:
        """Return the rooms that the account is in."""
        return list((await self.call("GET", "v3/joined_rooms"))["joined_rooms"])

    async def invited(self) -> list[str]:
        """Return the rooms that the account is invited to."""
        return list((await self.call("GET", "v3/sync", timeout="0")).get("rooms", {}).get("invite", {}))

    async def upload(self, content: bytes, name: str, content_type: str) -> str:
        """Upload a file and return its address."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content_type}
        address = f"{self.url}/_matrix/media/v3/upload"
        async with (
            aiohttp.ClientSession(headers=headers) as http,
            http.post(address, data=content, params={"filename": name}) as answer,
        ):
            return str((await answer.json())["content_uri"])

    async def download(self, address: str) -> bytes:
        """Return what an uploaded file holds."""
        server, _, media = address.removeprefix("mxc://").partition("/")
        headers = {"Authorization": f"Bearer {self.token}"}
        where = f"{self.url}/_matrix/client/v1/media/download/{server}/{media}"
        async with aiohttp.ClientSession(headers=headers) as http, http.get(where) as answer:
            answer.raise_for_status()
            return await answer.read()
