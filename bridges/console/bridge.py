"""The bridge of the terminal: what is typed becomes events, what the agent says becomes records on a screen."""

from __future__ import annotations

import asyncio
import errno
import re
from collections import OrderedDict, deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from agent.bridge import Capabilities, HistoryMessage, OutcomeUnknown, OutgoingMessage, SendFailed, Sent, SentMessage
from agent.clock import Clock, RandomIds, SystemClock
from agent.events import Attachment, Author, MessageCreated
from agent.files import FileRefused, LocalFile, ReplyFile
from agent.fitting import card_text
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.mentions import give_form
from agent.settings import Section
from agent.terminal import PLATFORM, id_of
from agent.text import clean
from agent.trace import Trace, TraceKind
from bridges.console.pointing import pointed
from bridges.console.transcript import Record, RecordType, Screen, card_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.bridge import BridgeHost
    from agent.clock import Ids
    from agent.contracts.cards import Card
    from agent.places import ChannelRef, ServerRef
    from agent.terminal import Whereabouts
    from bridges.console.lines import Run

_MENTION: Final = re.compile(r"(?<!\w)@(\w[\w.-]*)")
_WATCHED: Final = {
    TraceKind.TOOL_CALL: RecordType.TOOL_CALL,
    TraceKind.TOOL_RESULT: RecordType.TOOL_RESULT,
    TraceKind.ERROR: RecordType.ERROR,
}
_CARD_LIMIT: Final = 20_000
"""Characters of a card; nobody reads more of them in a terminal."""
_MAX_PLACES: Final = 256
_MAX_KEYS: Final = 4096
_MAX_PEOPLE: Final = 1024


class ConsoleSettings(Section):
    """`[bridges.console]`."""

    answer_everything: bool = True
    """Whether each message counts as addressed to the agent; false: only those that call it, as in a busy channel."""
    message_limit: int = Field(default=4000, ge=100)
    """Characters of one message of the agent."""
    history: int = Field(default=100, ge=0, le=1000)
    """Messages of a channel that are kept, in memory, for context."""


class _NoScreen:
    """Shows nothing: for a bridge without a front end."""

    def show(self, record: Record) -> None:
        """Show nothing."""

    def typing(self, where: str) -> None:
        """Show nothing."""


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where an event happened, for what is watched of its turn."""

    server: ServerRef
    channel: ChannelRef


class ConsoleBridge:
    """One terminal. Everybody in it may manage; its history lives as long as the process."""

    Settings = ConsoleSettings
    name = "console"
    platform = PLATFORM

    def __init__(
        self,
        settings: ConsoleSettings | None = None,
        *,
        screen: Screen | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
        agent_name: str = "Isthmus",
    ) -> None:
        self.settings = settings or ConsoleSettings()
        self.capabilities = Capabilities(
            self.settings.message_limit, has_idempotency_key=True, card_limit=_CARD_LIMIT, withdraws=False, edits=False
        )
        self.screen: Screen = screen or _NoScreen()
        self.people: OrderedDict[str, str] = OrderedDict()
        """Who has spoken: id to name, the last one last."""
        self.persona: str | None = None
        """The name of the persona that shall answer, in servers that have one of that name."""
        self.failures = 0
        """Turns and commands that failed."""
        self._clock = clock or SystemClock()
        self._ids = ids or RandomIds(self._clock)
        self._agent = Author(ParticipantKind.BOT, "agent", agent_name, is_bot=True)
        self._host: BridgeHost | None = None
        self._spots: OrderedDict[str, _Spot] = OrderedDict()
        self._sent: OrderedDict[str, Sent] = OrderedDict()
        self._history: OrderedDict[str, deque[HistoryMessage]] = OrderedDict()

    @property
    def host(self) -> BridgeHost:
        """Return the core that this bridge serves."""
        if self._host is None:
            raise RuntimeError("the console bridge has not been started")
        return self._host

    def identity(self) -> str:
        """Return nothing: any number of terminals may talk at once."""
        return ""

    def agent_keys(self) -> frozenset[ParticipantKey]:
        """Return the one name that the agent has here."""
        return frozenset({self._agent.key})

    async def start(self, host: BridgeHost) -> None:
        """Keep the core; lines come from the front end."""
        self._host = host

    async def stop(self) -> None:
        """Take nothing more from the front end."""
        self._host = None

    async def say(self, where: Whereabouts, text: str) -> str:
        """Bring one message and return its id, when the core has it."""
        key = self._ids.new()
        text = clean(text)
        event = MessageCreated(
            platform=PLATFORM,
            event_id=key,
            message_id=key,
            server=where.server_ref,
            channel=where.channel_ref,
            author=where.author,
            text=text,
            occurred_at=self._clock.now(),
            mentions_agent=self.settings.answer_everything or where.direct,
            mentions=self._mentioned(text),
            persona=self.persona,
        )
        self._meet(event.author)
        self._remember(event.channel, HistoryMessage(key, event.author, text, event.occurred_at))
        spot = _Spot(event.server, event.channel)
        _keep(self._spots, key, spot, _MAX_KEYS)
        self._show(RecordType.MESSAGE, spot, where.speaker, text, {"message_id": key})
        await self.host.receive(event)
        return key

    async def run(self, run: Run) -> None:
        """Run a command and show its answer."""
        where, path = run.where, run.command.path
        spot = _Spot(where.server_ref, where.channel_ref)
        shown = {name: str(value) for name, value in run.options.items()}
        self._meet(where.author)
        self._show(RecordType.MESSAGE, spot, where.speaker, run.text, {"command": list(path), "options": shown})
        try:
            options = {name: await asyncio.to_thread(_attached, value) for name, value in run.options.items()}
        except FileNotFoundError as error:
            self.refuse(where, f"there is no file {error.filename}")
            return
        options = pointed(run.command, options, self._history.get(spot.channel.external_id, ()))
        reply = await self.host.run_command(path, options, spot.server, spot.channel, where.author)
        self.failures += not reply.ok
        kind = RecordType.REPLY if reply.ok else RecordType.ERROR
        data = {"command": list(path), "private": reply.private, **(reply.data or {})}
        text = reply.text
        if reply.file is not None:
            data["file"] = _as_data(reply.file)
            text = f"{text}\n{data['file']['content']}"
        self._show(kind, spot, self._agent.display_name, text, data)

    def refuse(self, where: Whereabouts, text: str) -> None:
        """Show that a line meant nothing."""
        self.failures += 1
        self._show(RecordType.ERROR, _Spot(where.server_ref, where.channel_ref), where.speaker, text, {})

    def inform(self, where: Whereabouts, text: str) -> None:
        """Show something that the terminal itself says."""
        spot = _Spot(where.server_ref, where.channel_ref)
        self._show(RecordType.NOTICE, spot, self._agent.display_name, text, {"kind": "terminal"})

    def watch(self, trace: Trace) -> None:
        """Show what is watched of a turn: tool calls, their results, errors."""
        spot = self._spots.get(trace.event_id)
        kind = _WATCHED.get(trace.kind)
        if spot is None or kind is None:
            return
        self.failures += kind is RecordType.ERROR
        text = str(trace.data.get("text" if kind is RecordType.ERROR else "name", ""))
        data = {**trace.data, "turn_id": trace.turn_id, "event_id": trace.event_id}
        self.screen.show(Record(kind, trace.at, spot.server, spot.channel, self._agent.display_name, text, data))

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        """Show one message of the agent; a second one under the same key is not shown again."""
        if earlier := self._sent.get(message.key):
            return earlier
        sent = Sent(self._ids.new())
        _keep(self._sent, message.key, sent, _MAX_KEYS)
        speaker = message.persona_name or self._agent.display_name
        spot = _Spot(message.server, message.channel)
        data: dict[str, Any] = {
            "message_id": sent.message_id,
            "event_id": message.event_id,
            "reply_to": message.reply_to,
        }
        card = message.card
        if card is not None:
            data |= card_data(card)
            if message.file is not None:
                data["file"] = _as_data(message.file)
            self._show(RecordType.NOTICE, spot, speaker, card_text(card), data, card=card)
            return sent
        author = Author(ParticipantKind.BOT, "agent", speaker, is_bot=True)
        text = give_form(message.text, message.mentions, lambda key: f"@{self.people.get(key.id, key.id)}")
        said = HistoryMessage(sent.message_id, author, text, self._clock.now(), from_agent=True)
        self._remember(message.channel, said)
        self._show(RecordType.REPLY, spot, speaker, text, data)
        return sent

    async def find_sent(self, message: OutgoingMessage) -> Sent | None:
        """Tell whether the message was shown in this process."""
        return self._sent.get(message.key)

    async def edit(self, message_id: str, message: OutgoingMessage) -> None:  # noqa: ARG002
        """Refuse: what stands in a terminal stands there.

        Raises:
            SendFailed: always.
        """
        raise SendFailed("a terminal cannot change what it has shown")

    async def withdraw(self, message: SentMessage) -> None:  # noqa: ARG002
        """Refuse: what stands in a terminal stands there.

        Raises:
            SendFailed: always.
        """
        raise SendFailed("a terminal cannot take back what it has shown")

    async def history(
        self,
        server: ServerRef,  # noqa: ARG002  # a channel's id says its server too
        channel: ChannelRef,
        limit: int,
    ) -> Sequence[HistoryMessage]:
        """Return what was said in that channel since this process began, oldest first."""
        kept = self._history.get(channel.external_id, ())
        return tuple(kept)[-limit:] if limit > 0 else ()

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:  # noqa: ARG002  # for bridges that take files
        """Refuse: nothing but text is typed.

        Raises:
            FileRefused: always.
        """
        raise FileRefused(f"{attachment.name}: the console takes no files")

    async def typing(self, channel: ChannelRef) -> None:
        """Show that an answer is being written."""
        self.screen.typing(channel.external_id)

    def _show(
        self, kind: RecordType, spot: _Spot, speaker: str, text: str, data: dict[str, Any], *, card: Card | None = None
    ) -> None:
        self.screen.show(Record(kind, self._clock.now(), spot.server, spot.channel, speaker, text, data, card))

    def _meet(self, author: Author) -> None:
        _keep(self.people, author.external_id, author.display_name, _MAX_PEOPLE)

    def _mentioned(self, text: str) -> tuple[ParticipantKey, ...]:
        """Return the people of this conversation who stand in the text as `@name`."""
        ids = dict.fromkeys(id_of(found) for found in _MENTION.findall(text))
        return tuple(ParticipantKey(ParticipantKind.CONSOLE_USER, key) for key in ids if key in self.people)

    def _remember(self, channel: ChannelRef, message: HistoryMessage) -> None:
        kept = self._history.get(channel.external_id) or deque(maxlen=self.settings.history)
        kept.append(message)
        _keep(self._history, channel.external_id, kept, _MAX_PLACES)


def _as_data(file: ReplyFile) -> dict[str, str]:
    return {"name": file.name, "content": file.content.decode("utf-8", "replace")}


def _keep[V](mapping: OrderedDict[str, V], key: str, value: V, limit: int) -> None:
    """Keep a value as the newest one; the oldest goes when there are more than `limit`."""
    mapping[key] = value
    mapping.move_to_end(key)
    while len(mapping) > limit:
        mapping.popitem(last=False)


def _attached(value: object) -> object:
    """Turn a path that was typed into the file as commands get it.

    Raises:
        FileNotFoundError: there is no such file.
    """
    if not isinstance(value, Path):
        return value
    try:
        is_file = value.is_file()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise FileNotFoundError(errno.ENOENT, "no such file", str(value))
    return LocalFile(value)
