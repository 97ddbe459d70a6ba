"""Links come and go: joining the room, the gate for encrypted ones, notices on both sides."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, Final

from agent import logs
from agent.bridge import OutgoingMessage
from agent.catalog import N_, translate
from agent.contracts.cards import Card, CardKind
from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.relaying.hearing import OWN
from agent.store.errors import StoreError
from bridges.matrix.rules.relations import ENCRYPTED
from bridges.matrix.rules.room import Room, room_name, shown_name
from bridges.matrix.rules.spaces import follows
from bridges.matrix.rules.values import Json, table, text
from bridges.relay.homeserver import HomeserverRefused, Unreachable
from bridges.relay.intake import AGREE, ENCRYPTION, MEMBER, TOMBSTONE, is_agreement, is_invitation
from bridges.relay.repository import MATRIX
from bridges.relay.ties import Later

if TYPE_CHECKING:
    from agent.places import ChannelRef, ServerRef
    from bridges.relay.repository import Link
    from bridges.relay.ties import Ties

log = logs.get_logger(__name__)

LOOK_EVERY: Final = 3.0
"""Seconds after which it is looked what was asked for on the command line, and what waits."""
_SUCCESSOR: Final = "successor:"
"""Before a room that takes another one's place and could not be joined yet."""
_MOST_MET: Final = 200
"""People of a room who are known from the beginning; others once they speak, or are called otherwise."""
_ASKED: Final = "asked"
_LINKED: Final = "linked"
_ENDING: Final = "ending"
REASONS: Final = {
    "encrypted": N_("the room is encrypted, and what is said there must not leave it"),
    "asked": N_("somebody who manages one of the two asked for it"),
    "removed": N_("I was removed from the room"),
    "gone": N_("the room has been replaced"),
    "not_invited": N_("somebody who manages the room has still to invite me there"),
    "not_accepted": N_("somebody who manages the room has still to agree there"),
    "unknown_channel": N_("I do not know the channel"),
    "unknown_encryption": N_("I cannot find out whether the room is encrypted"),
}
"""Why a link waits or ends, in the words of people."""


class Linking:
    """Makes links what they are asked to be."""

    def __init__(self, ties: Ties) -> None:
        self._ties = ties
        self._look = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Take the links into force that were before."""
        for link in await self._ties.rows.links():
            if link.state == _LINKED:
                self._ties.links.put(link)
        self._claim()
        self._task = asyncio.create_task(self._run(), name="relay links")

    async def stop(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def wake(self) -> None:
        """Look at once."""
        self._look.set()

    async def room(self, room_id: str) -> Room:
        """Return the state of a linked room.

        Raises:
            HomeserverRefused, Unreachable: it cannot be read.
        """
        if (room := self._ties.rooms.get(room_id)) is None:
            room = Room(room_id)
            for event in await self._ties.home.state(room_id):
                room.take(event)
            self._ties.rooms[room_id] = room
        return room

    async def _run(self) -> None:
        while True:
            self._look.clear()
            try:
                for link in await self._ties.rows.links():
                    await self._attend(link)
            except StoreError as error:
                log.warning("links_not_read", reason=str(error))
            except Exception:
                log.exception("links_failed")
            try:
                async with asyncio.timeout(LOOK_EVERY):
                    await self._look.wait()
            except TimeoutError:
                continue

    async def _attend(self, link: Link) -> None:
        """Bring one link nearer to what it is asked to be."""
        try:
            if link.state == _ASKED:
                await self._begin(link)
            elif link.state == _ENDING:
                await self._end(link)
            elif link.room_id not in self._ties.links.by_room:
                self._ties.links.put(link)
                self._claim()
        except (Later, Unreachable, HomeserverRefused) as later:
            log.info("link_waits", room=link.room_id, reason=str(later))

    async def _begin(self, link: Link) -> None:
        """Join, look whether the room may be linked, and link it."""
        ties = self._ties
        place = await ties.mouth.where(link.channel)
        if place is None:
            await ties.rows.change_link(link, _ASKED, "unknown_channel")
            return
        try:
            await ties.home.join(link.room_id)
        except HomeserverRefused:
            await ties.rows.change_link(link, _ASKED, "not_invited", server=place[0].external_id)
            return
        if not link.is_agreed:
            await self._ask(link, *place)
            return
        try:
            is_encrypted = await ties.home.is_encrypted(link.room_id)
        except (HomeserverRefused, Unreachable):
            await ties.rows.change_link(link, _ASKED, "unknown_encryption")
            return
        if is_encrypted:
            await ties.rows.end_link(link, "encrypted")
            self.wake()
            return
        room = await self.room(link.room_id)
        await ties.rows.change_link(link, _LINKED, server=place[0].external_id)
        ties.links.put(link)
        self._claim()
        log.info("linked", room=link.room_id, channel=link.channel)
        await self._tell_both(link, room, *place, begins=True)
        for user in room.members("join")[:_MOST_MET]:
            await self._meet(link, room, user)

    async def _meet(self, link: Link, room: Room, user: str) -> None:
        """Let the server know somebody who is in the room, so that others can speak of that person by name."""
        place = await self._ties.mouth.where(link.channel)
        if place is None or self._ties.names.is_own(user) or user in self._ties.others:
            return
        author = Author(ParticipantKind.MATRIX_USER, user, shown_name(room, user), user, platform=MATRIX)
        try:
            await self._ties.relaying.account_of(*place, author)
        except ValueError as error:  # an id that no row may hold
            log.info("member_left_out", room=room.room_id, reason=str(error))

    async def _ask(self, link: Link, server: ServerRef, channel: ChannelRef) -> None:
        """Ask the room whether it agrees: an invitation tells nothing of what it shall be joined with."""
        if link.room_id in self._ties.links.asked:
            return
        self._ties.links.asked.add(link.room_id)
        await self._ties.rows.change_link(link, _ASKED, "not_accepted", server=server.external_id)
        asked = translate(
            self._ties.relaying.locale,
            "#{channel} of {server} is to be joined with this room: what is said in one would be read in the other. "
            "Whoever manages this room agrees with: {agree}",
            channel=channel.name,
            server=server.name,
            agree=AGREE,
        )
        await self._tell_room(link.room_id, asked, f"ask:{link.link_id}")

    async def answered(self, event: Json) -> None:
        """Take the answer of somebody who manages a room that is asked."""
        room_id = text(event["room_id"])
        links = await self._ties.rows.links()
        link = next((each for each in links if each.room_id == room_id and each.state == _ASKED), None)
        if link is None or not is_agreement(event):
            return
        self._ties.rooms.pop(room_id, None)  # who manages it may have changed since
        if (await self.room(room_id)).manages(text(event["sender"])):
            self._ties.links.asked.discard(room_id)
            await self._ties.rows.agree(link)
            self.wake()

    async def _end(self, link: Link) -> None:
        ties = self._ties
        was_linked = link.room_id in ties.links.by_room
        ties.links.asked.discard(link.room_id)
        ties.links.drop(link)
        self._claim()
        await ties.rows.drop_room(link.room_id)
        place = await ties.mouth.where(link.channel)
        room = ties.rooms.pop(link.room_id, None) or Room(link.room_id)
        if place is not None:
            await self._tell_both(link, room, *place, begins=False)
        if link.reason != "removed":
            try:
                await ties.home.leave(link.room_id)
            except HomeserverRefused as refused:
                log.info("room_not_left", room=link.room_id, reason=str(refused))
        await ties.rows.drop_link(link)
        log.info("unlinked", room=link.room_id, channel=link.channel, reason=link.reason, was_linked=was_linked)

    def _claim(self) -> None:
        """Take the rooms from the agent's own account in Matrix, and forget what is said of others."""
        self._ties.relaying.claim(frozenset(("matrix", room) for room in self._ties.links.by_room))

    # What is heard of a room ----------------------------------------------------------------------------------

    async def heard(self, event: Json) -> None:
        """Take what happens to a room itself: members, encryption, another room in its place."""
        room_id, kind = text(event["room_id"]), text(event["type"])
        if is_invitation(event, self._ties.names):
            await self._invited(room_id, text(event["sender"]))
            return
        link = self._ties.links.by_room.get(room_id)
        if link is None:
            return
        if (room := self._ties.rooms.get(room_id)) is not None:
            room.take(event)
        if kind in {ENCRYPTION, ENCRYPTED}:
            await self._finish(link, "encrypted")
        elif kind == TOMBSTONE:
            await self._replaced(link, text(table(event.get("content")).get("replacement_room")))
        elif kind == MEMBER and self._removes_agent(event):
            await self._finish(link, "removed")
        elif kind == MEMBER and table(event.get("content")).get("membership") == "join":
            await self._meet(link, await self.room(room_id), text(event["state_key"]))

    def _removes_agent(self, event: Json) -> bool:
        membership = table(event.get("content")).get("membership")
        return event.get("state_key") == self._ties.names.agent and membership in {"leave", "ban"}

    async def _finish(self, link: Link, reason: str) -> None:
        self._ties.links.drop(link)  # from now on nothing goes over
        await self._ties.rows.end_link(link, reason)
        self.wake()

    async def _invited(self, room_id: str, inviter: str) -> None:
        """Accept an invitation by somebody who manages the room, or into a room that an operator has linked."""
        home, old_room = self._ties.home, await self._ties.state.get(_SUCCESSOR + room_id)
        if old_room is not None and (old := self._ties.links.by_room.get(old_room)) is not None:
            await self._replaced(old, room_id)
            return
        try:
            await home.join(room_id)
            self._ties.rooms.pop(room_id, None)
            room = await self.room(room_id)
        except HomeserverRefused as refused:
            log.info("invitation_not_accepted", room=room_id, reason=str(refused))
            return
        links = await self._ties.rows.links()
        is_wanted = any(link.room_id == room_id and link.is_agreed for link in links)
        if not room.manages(inviter) and not is_wanted:
            self._ties.rooms.pop(room_id, None)
            await home.leave(room_id)
            return
        self.wake()

    async def _replaced(self, link: Link, replacement: str) -> None:
        """Follow a room to the one that has taken its place, when both say so, as soon as it may be joined."""
        old = await self.room(link.room_id)
        try:
            await self._ties.home.join(replacement)
            self._ties.rooms.pop(replacement, None)
            new = await self.room(replacement)
        except HomeserverRefused as refused:
            log.info("successor_not_joined", room=replacement, reason=str(refused))
            await self._ties.state.put({_SUCCESSOR + replacement: link.room_id})
            return
        self._ties.rooms.pop(link.room_id, None)
        if not follows(new, old) or new.is_encrypted:
            await self._finish(link, "encrypted" if new.is_encrypted else "gone")
            return
        self._ties.links.drop(link)
        await self._ties.rows.move_link(link, replacement)
        self.wake()

    # What people are told -------------------------------------------------------------------------------------

    async def _tell_both(self, link: Link, room: Room, server: ServerRef, channel: ChannelRef, *, begins: bool) -> None:
        """Say on both sides that they are linked, or are no longer."""
        ties, locale = self._ties, self._ties.relaying.locale
        names = {"room": room_name(room, ties.names.agent), "channel": channel.name, "server": server.name}
        if begins:
            here = translate(
                locale,
                "This channel is now joined with the Matrix room {room}: what is said in one is read in the other.",
                **names,
            )
            there = translate(
                locale,
                "This room is now joined with #{channel} of {server}: what is said in one is read in the other. I "
                "remember what I am told; !privacy shows and removes it.",
                **names,
            )
        else:
            reason = translate(locale, REASONS.get(link.reason or "asked", REASONS["asked"]))
            here = translate(
                locale, "This channel is not joined with the Matrix room {room}: {reason}.", reason=reason, **names
            )
            there = translate(
                locale, "This room is not joined with #{channel} of {server}: {reason}.", reason=reason, **names
            )
        key = f"{OWN}link:{link.link_id}:{'begin' if begins else 'end'}"
        card = Card(CardKind.INFO, here)
        await ties.relaying.post(OutgoingMessage(key, server.platform, channel, server, here, card=card))
        await self._tell_room(link.room_id, there, key)

    async def _tell_room(self, room_id: str, said: str, key: str) -> None:
        content = {"msgtype": "m.notice", "body": said, "m.mentions": {}}
        digest = hashlib.sha256(key.encode()).hexdigest()[:24]
        try:
            await self._ties.home.send(room_id, content, f"note-{digest}", self._ties.names.agent)
        except HomeserverRefused as refused:
            log.info("room_not_told", room=room_id, reason=str(refused))
