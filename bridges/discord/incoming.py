"""Discord's messages as the core's events, in the order of their channel."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from agent import logs
from agent.events import Event, MessageCreated, MessageDeleted, MessageEdited, ReactionAdded, Reply
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import ServerKind
from agent.store.errors import StoreError
from bridges.discord.bodies import bare
from bridges.discord.early import Early, moment_of
from bridges.discord.people import author_of, guest_of, key_of, shown_name
from bridges.discord.places import PLATFORM

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agent.bridge import BridgeHost
    from agent.clock import Clock
    from agent.events import Author
    from agent.places import ChannelRef, ServerRef
    from bridges.discord.described import Described
    from bridges.discord.lanes import Lanes

log = logs.get_logger(__name__)

type Payload = Mapping[str, Any]

SAID: Final = frozenset({0, 19})
"""Types of messages that somebody wrote: plain ones and replies; all others are Discord's own notices."""
_FORWARD: Final = 1
_NOTED: Final = 1.0
"""Seconds in which it is noted who has spoken through a webhook of the agent."""
_PAUSE: Final = 1.0
"""Seconds until the core is given an event again that it could not take."""


class World(Protocol):
    """What incoming events need to know of the guilds."""

    @property
    def agent_id(self) -> int:
        """The agent's own account."""
        ...

    @property
    def application_id(self) -> int | None:
        """The agent's application, which makes the webhooks of the personas."""
        ...

    def is_own_webhook(self, webhook_id: str) -> bool:
        """Tell whether a webhook is one of the agent's own."""
        ...

    def is_allowed_bot(self, bot_id: str) -> bool:
        """Tell whether a bot or webhook is answered like people."""
        ...

    def mentions_agent(self, message: Payload) -> bool:
        """Tell whether a message mentions the agent, by its account or by the role that it alone has."""
        ...

    def described(self, message: Payload) -> Described:
        """Return what a message says and what came with it."""
        ...

    def can_manage(self, message: Payload) -> bool:
        """Tell whether the author of a message manages its guild."""
        ...

    def member(self, message: Payload) -> Payload | None:
        """Return what is known of the author of a message as a member of its guild."""
        ...

    async def place(self, channel_id: int, guild_id: int | None, author: Author | None) -> Place | None:
        """Return where a channel is; None when it is not known and cannot be found out."""
        ...


type Place = tuple[ServerRef, ChannelRef]


class Incoming:
    """Takes payloads of the gateway and brings events to the core."""

    def __init__(self, world: World, host: BridgeHost, lanes: Lanes, clock: Clock) -> None:
        self._world = world
        self._host = host
        self._lanes = lanes
        self._clock = clock
        self._early = Early()
        self.heard: Callable[[Payload], None] = _nobody
        """Is told of each message that the core has taken, or that was not for it."""
        self.overrun: Callable[[Payload], None] = _nobody
        """Is told of each new message for which there was no room."""

    def take(self, kind: str, data: Payload) -> None:
        """Take a payload: `MESSAGE_CREATE`, `…_UPDATE`, `…_DELETE`, `…_DELETE_BULK` or `MESSAGE_REACTION_ADD`.

        Returns at once. Where too much waits, new messages are found again in the history.
        """
        work = {
            "MESSAGE_CREATE": self.created,
            "MESSAGE_UPDATE": self._edited,
            "MESSAGE_DELETE": self._deleted,
            "MESSAGE_DELETE_BULK": self._deleted_in_bulk,
            "MESSAGE_REACTION_ADD": self._reacted,
        }[kind]
        if not self._lanes.put(int(data["channel_id"]), lambda: work(data)):
            log.warning("channel_overrun", channel=data["channel_id"], kind=kind)
            if kind == "MESSAGE_CREATE":
                self.overrun(data)

    async def created(self, data: Payload) -> None:
        """Bring a new message, as it is by now; the agent's own and Discord's notices are dropped."""
        await self._create(data)
        self.heard(data)

    async def _create(self, data: Payload) -> None:
        message = self._early.created(data, self._clock.now())
        if message is None or message.get("type", 0) not in SAID or self.is_own(message):
            return
        author, webhook_id = self.author(message), message.get("webhook_id")
        is_person = self._is_allowed(author) or author.key != key_of(message["author"], webhook_id)
        if (place := await self._world.place(*_where(message), author)) is None:
            log.warning("place_unknown", channel=message["channel_id"])
            return
        said = self._world.described(message)
        await self._bring(
            MessageCreated(
                PLATFORM,
                str(message["id"]),
                str(message["id"]),
                *place,
                author,
                said.text,
                moment_of(int(message["id"])),
                mentions_agent=self._world.mentions_agent(message),
                mentions=tuple(
                    key_of(user) for user in message.get("mentions") or () if int(user["id"]) != self._world.agent_id
                ),
                reply=await self._reply(message, place[0]),
                attachments=said.attachments,
                extras=said.extras,
                webhook_id=None if is_person else webhook_id,
                application_id=message.get("application_id"),
            )
        )

    def author(self, message: Payload) -> Author:
        """Return who wrote a message; a bot that is allowed counts as a person."""
        webhook_id = message.get("webhook_id")
        if webhook_id is not None and self._host.trusts(PLATFORM, str(webhook_id)):
            return guest_of(str(webhook_id), shown_name(message["author"]))
        manages = self._world.can_manage(message)
        member = message.get("member") or self._world.member(message)  # the history tells no nicknames
        author = author_of(message["author"], member, webhook_id=webhook_id, can_manage=manages)
        return replace(author, is_bot=False) if self._is_allowed(author) else author

    def _is_allowed(self, author: Author) -> bool:
        return self._world.is_allowed_bot(author.external_id)

    def described(self, message: Payload) -> Described:
        """Return what a message says and what came with it."""
        return self._world.described(message)

    def is_own(self, message: Payload) -> bool:
        """Tell whether the agent wrote a message, by its account or through one of its webhooks."""
        webhook_id = message.get("webhook_id")
        if webhook_id is not None:
            by = message.get("application_id")
            is_ours = by is not None and int(by) == self._world.application_id
            return is_ours or self._world.is_own_webhook(str(webhook_id))
        return int(message["author"]["id"]) == self._world.agent_id

    async def _reply(self, message: Payload, server: ServerRef) -> Reply | None:
        reference = message.get("message_reference") or {}
        if reference.get("type", 0) == _FORWARD or not reference.get("message_id"):
            return None
        message_id = str(reference["message_id"])
        answered = message.get("referenced_message")
        own, others = await self._whose(server, message_id)
        if not own and not others and answered and answered.get("webhook_id") and self.is_own(answered):
            await asyncio.sleep(_NOTED)  # it stands there before it is noted whose words they are
            own, others = await self._whose(server, message_id)
        if not answered:
            return Reply(message_id, message_id in own, own.get(message_id), others.get(message_id))
        answered = {**answered, "guild_id": message.get("guild_id")}
        said = self._world.described(answered)
        if message_id in others:
            text = bare(said.text)[0]
            return Reply(message_id, author=others[message_id], text=text, attachments=said.attachments)
        to_agent = message_id in own or self.is_own(answered)
        author = self.author(answered)
        return Reply(message_id, to_agent, own.get(message_id), author, said.text, said.attachments)

    async def _whose(self, server: ServerRef, message_id: str) -> tuple[Mapping[str, int | None], Mapping[str, Author]]:
        """Return whether the agent has sent a message, and as whom; else who said it on the other side of a link."""
        own = await self._host.own_messages(PLATFORM, [message_id])
        return own, {} if own else await self._host.relayed(server, [message_id])

    async def _edited(self, data: Payload) -> None:
        """Bring an edit; what has no new time of editing is Discord's own doing, as when it adds a preview."""
        edited = data.get("edited_timestamp")
        if not edited or "content" not in data:
            return
        self._early.keep(int(data["id"]), data, self._clock.now())
        if "author" not in data or self.is_own(data) or self._early.is_taken(int(data["id"]), data):
            return
        author = self.author(data)
        if (place := await self._world.place(*_where(data), author)) is None:
            return
        event_id = f"edit:{data['id']}:{edited}"
        said, moment = self._world.described(data), datetime.fromisoformat(edited)
        await self._bring(
            MessageEdited(
                PLATFORM,
                event_id,
                str(data["id"]),
                *place,
                author,
                said.text,
                moment,
                mentions_agent=self._world.mentions_agent(data),
                said_at=moment_of(int(data["id"])),
                reply=await self._reply(data, place[0]),
                attachments=said.attachments,
                extras=said.extras,
            )
        )

    async def _deleted(self, data: Payload) -> None:
        self._early.keep(int(data["id"]), None, self._clock.now())
        if (place := await self._world.place(*_where(data), None)) is None:
            return
        message_id = str(data["id"])
        await self._bring(MessageDeleted(PLATFORM, f"delete:{message_id}", message_id, *place, self._clock.now()))

    async def _deleted_in_bulk(self, data: Payload) -> None:
        for message_id in sorted(data["ids"], key=int):
            await self._deleted({**data, "id": message_id})

    async def _reacted(self, data: Payload) -> None:
        if int(data["user_id"]) == self._world.agent_id:
            return
        member = data.get("member") or {}
        user = member.get("user")  # a direct message's reaction comes without one
        author = author_of(user or {"id": data["user_id"]}, member)
        if (place := await self._world.place(*_where(data), author if user else None)) is None:
            return
        if not user and place[0].kind is ServerKind.DIRECT:
            author = replace(author, display_name=place[0].name)
        emoji = data["emoji"].get("name") or str(data["emoji"].get("id"))
        now = self._clock.now()
        event_id = f"reaction:{data['message_id']}:{data['user_id']}:{emoji}:{now.timestamp():.0f}"
        await self._bring(ReactionAdded(PLATFORM, event_id, str(data["message_id"]), *place, author, emoji, now))

    async def _bring(self, event: Event) -> None:
        """Give an event to the core, again and again while its database is away; the order of the channel is kept."""
        while True:
            try:
                await self._host.receive(event)
            except StoreError as error:
                log.warning("event_waits_for_database", event_id=event.event_id, reason=str(error))
                await asyncio.sleep(_PAUSE)
            else:
                return


def agent_key(agent_id: int) -> ParticipantKey:
    """Return the key of the agent's account."""
    return ParticipantKey(ParticipantKind.BOT, str(agent_id))


def _nobody(_: Payload) -> None:
    """Listen to nothing."""


def _where(data: Payload) -> tuple[int, int | None]:
    guild_id = data.get("guild_id")
    return int(data["channel_id"]), int(guild_id) if guild_id else None
