"""`/matrix …`: which room a channel is joined with, and whose webhooks bring people of other bridges."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from agent.catalog import N_, translate
from agent.commands import Command, CommandReply, Invocation, Option, Rights
from agent.text import clip, one_line
from bridges.relay.linking import REASONS
from bridges.relay.repository import DISCORD

if TYPE_CHECKING:
    from collections.abc import Callable

    from bridges.relay.repository import Link
    from bridges.relay.ties import Ties

ROOM: Final = re.compile(r"!\S{1,254}")
_WEBHOOK: Final = re.compile(r"(?:https://[^\s/]+/api/(?:v\d+/)?webhooks/)?(\d{15,22})(?:/\S*)?")


class MatrixCommands:
    """The commands; `ties` gives the running relay."""

    def __init__(self, ties: Callable[[], Ties], wake: Callable[[], None]) -> None:
        self._ties = ties
        self._wake = wake

    def commands(self) -> tuple[Command, ...]:
        """Return the commands."""
        room = Option("room", N_("The room's id, as in !abc or !abc:example.org: it stands in the room's settings."))
        webhook = Option("webhook", N_("The webhook's id or address."))
        manage = Rights.MANAGE
        return (
            Command(
                ("matrix", "link"),
                N_("Join this channel with a Matrix room: what is said in one is read in the other."),
                self.link,
                (room,),
                manage,
                owner="relay",
            ),
            Command(("matrix", "unlink"), N_("End that."), self.unlink, (), manage, owner="relay"),
            Command(
                ("matrix", "list"),
                N_("Show which rooms this server's channels are joined with."),
                self.list,
                (),
                manage,
                private=True,
                owner="relay",
            ),
            Command(
                ("matrix", "trust"),
                N_("Count those as people who speak through the webhook of another bridge."),
                self.trust,
                (webhook,),
                manage,
                private=True,
                owner="relay",
            ),
            Command(
                ("matrix", "distrust"),
                N_("Count them so no longer."),
                self.distrust,
                (webhook,),
                manage,
                private=True,
                owner="relay",
            ),
        )

    async def link(self, call: Invocation) -> CommandReply:
        """Ask for a link of this channel."""
        ref, room = call.place.channel.ref, str(call.options["room"]).strip()
        if call.place.platform != DISCORD or ref.parent_external_id is not None:
            return _no(call, N_("Only a channel of Discord can be joined with a room, and no thread."))
        if not ROOM.fullmatch(room):
            return _no(call, N_("That is no room's id: it begins with “!” and stands in the room's settings."))
        ties, server = self._ties(), call.place.server.ref
        if not await ties.rows.ask(room, DISCORD, server.external_id, ref.external_id, is_agreed=False):
            return _no(call, N_("The room or this channel is joined with another one already: /matrix list."))
        self._wake()
        text = translate(
            call.locale,
            "I join this channel with the room as soon as somebody who manages the room has invited me there, {user}, "
            "and has agreed.",
            user=ties.names.agent,
        )
        return CommandReply(text)

    async def unlink(self, call: Invocation) -> CommandReply:
        """Ask for the end of this channel's link."""
        rows, channel = self._ties().rows, call.place.channel.ref.external_id
        link = next((each for each in await rows.links() if each.channel == channel), None)
        if link is None:
            return _no(call, N_("This channel is joined with no room."))
        await rows.end_link(link, "asked")
        self._wake()
        return CommandReply(translate(call.locale, "This channel is joined with the room no longer."))

    async def list(self, call: Invocation) -> CommandReply:
        """Show the links of a server."""
        server = call.place.server.ref
        links = [each for each in await self._ties().rows.links() if each.server == server.external_id]
        trusted = await self._ties().relaying.trusted_in(server)
        lines = [await self._line(each, call.locale) for each in links]
        if trusted:
            lines.append(translate(call.locale, "Webhooks of other bridges: {ids}", ids=", ".join(trusted)))
        text = "\n".join(lines) or translate(call.locale, "No channel of this server is joined with a room.")
        return CommandReply(text, private=True, data={"links": [_data(each) for each in links], "webhooks": trusted})

    async def trust(self, call: Invocation) -> CommandReply:
        """Count those who speak through a webhook as people."""
        if (webhook := _webhook(call)) is None:
            return _no(call, N_("That is no webhook's id."))
        if not await self._ties().relaying.trust(call.place.server.ref, webhook):
            return _no(call, N_("That webhook is named already."))
        text = translate(
            call.locale,
            "Whoever speaks through that webhook counts as a person now, known by the name that it shows: nobody there "
            "has memories of their own.",
        )
        return CommandReply(text, private=True)

    async def distrust(self, call: Invocation) -> CommandReply:
        """Count them so no longer."""
        webhook = _webhook(call)
        if webhook is None or not await self._ties().relaying.distrust(call.place.server.ref, webhook):
            return _no(call, N_("This server has named no such webhook."))
        return CommandReply(translate(call.locale, "That webhook is a machine again."), private=True)

    async def _line(self, link: Link, locale: str) -> str:
        mouth = self._ties().relaying.mouthpiece(DISCORD)
        place = None if mouth is None else await mouth.where(link.channel)
        name = link.channel if place is None else place[1].name
        line = f"#{name}: {clip(one_line(link.room_id), 80)}"
        reason = REASONS.get(link.reason or "")
        if link.state == "linked":
            return line
        told = translate(locale, reason) if reason else translate(locale, "not yet")
        return f"{line} ({told})"


def _webhook(call: Invocation) -> str | None:
    found = _WEBHOOK.fullmatch(str(call.options["webhook"]).strip())
    return None if found is None else found[1]


def _no(call: Invocation, text: str) -> CommandReply:
    return CommandReply(translate(call.locale, text), private=True, ok=False)


def _data(link: Link) -> dict[str, str | None]:
    return {"room": link.room_id, "channel": link.channel, "state": link.state, "reason": link.reason}
