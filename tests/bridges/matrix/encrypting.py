"""Somebody at a client that encrypts: plain nio, without anything of the bridge's."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import nio

from bridges.matrix.key_store import KeyStore
from tests.servers.synapse import Person

ENCRYPTED = {"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}
PATIENCE = 30


@contextlib.asynccontextmanager
async def encrypting(person: Person, folder: Path) -> AsyncIterator[EncryptingClient]:
    """Log somebody in at a client that encrypts."""
    config = nio.AsyncClientConfig(store=KeyStore, encryption_enabled=True, max_timeouts=2, max_limit_exceeded=2)
    client = nio.AsyncClient(person.url, person.user_id, store_path=str(folder), config=config)
    await client.login(person.password)
    found = EncryptingClient(client, person)
    await found.sync()
    try:
        yield found
    finally:
        await client.close()
        client.store.database.close()


class EncryptingClient:
    """A client that encrypts."""

    def __init__(self, client: Any, person: Person) -> None:
        self.client = client
        self.person = person
        self.read: list[dict[str, Any]] = []
        """What was said in encrypted rooms, as it was read."""

    async def sync(self, wait: int = 0) -> None:
        """Take what has happened, and do what keys need."""
        found = await self.client.sync(timeout=wait, full_state=not self.client.next_batch)
        for room in found.rooms.join.values():
            self.read += [each.source for each in room.timeline.events if getattr(each, "decrypted", False)]
        if self.client.should_upload_keys:
            await self.client.keys_upload()
        if self.client.should_query_keys:
            await self.client.keys_query()
        if self.client.should_claim_keys:
            await self.client.keys_claim(self.client.get_users_for_key_claiming())
        await self.client.send_to_device_messages()

    async def say(self, room: str, text: str, **content: Any) -> str:
        """Say something, encrypted."""
        body = {"msgtype": "m.text", "body": text, "m.mentions": {}, **content}
        sent = await self.client.room_send(room, "m.room.message", body, ignore_unverified_devices=True)
        assert isinstance(sent, nio.RoomSendResponse), sent
        return str(sent.event_id)

    async def heard(self, sender: str, count: int = 1) -> list[dict[str, Any]]:
        """Return what somebody has said encrypted, as soon as it is so much."""
        said: list[dict[str, Any]] = []
        for _ in range(PATIENCE):
            said = [each for each in self.read if each["sender"] == sender]
            if len(said) >= count:
                return said
            await self.sync(1000)
        raise AssertionError(f"{sender} has said {said}")

    async def hold_keys(self, room: str) -> dict[str, Any]:
        """Begin to encrypt with a key that nobody has got yet, and return the messages that would bring it."""
        client = self.client
        await client.joined_members(room)
        if client.should_query_keys:
            await client.keys_query()
        await client.keys_claim(client.get_missing_sessions(room))
        users = list(client.rooms[room].users)
        ((shared, messages),) = client.olm.share_group_session_parallel(room, users, ignore_unverified_devices=True)
        session = client.olm.outbound_group_sessions[room]
        session.users_shared_with.update(shared)
        session.mark_as_shared()
        return dict(messages)

    async def release_keys(self, messages: dict[str, Any]) -> None:
        """Send the messages that were held back."""
        await self.person.call("PUT", "v3/sendToDevice/m.room.encrypted/held", messages)
