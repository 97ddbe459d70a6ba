"""A core that takes everything and lets a test look at it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.ailments import Ailment
from agent.bridge import State
from agent.commands import Choice, Command, CommandCall, CommandReply
from agent.directory_changes import DirectoryChange
from agent.events import Author, Event, MessageCreated
from agent.places import ChannelRef, ServerRef
from agent.relaying.services import Relaying
from agent.store.errors import StoreError
from bridges.console.transcript import Record
from tests.bridges.console.commands import COMMANDS


class RecordingHost:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.ran: list[tuple[tuple[str, ...], dict[str, Any], ServerRef, ChannelRef, Author]] = []
        self.reply = CommandReply("done", data={"count": 1})
        self.idled_after: list[int] = []
        self.away: StoreError | None = None

    @property
    def commands(self) -> Sequence[Command]:
        return COMMANDS

    async def ailment(self) -> Ailment | None:
        return None

    async def receive(self, event: Event) -> None:
        if self.away is not None:
            raise self.away
        self.events.append(event)

    async def observe(self, change: DirectoryChange) -> None:
        raise AssertionError(f"a terminal knows only who speaks: {change}")

    async def run_command(
        self,
        path: tuple[str, ...],
        options: dict[str, Any],
        server: ServerRef,
        channel: ChannelRef,
        author: Author,
    ) -> CommandReply:
        self.ran.append((path, options, server, channel, author))
        return self.reply

    def state(self, bridge: str) -> State:
        raise AssertionError(f"{bridge} keeps nothing")

    def folder(self, bridge: str) -> Path:
        raise AssertionError(f"{bridge} has no files")

    async def own_messages(self, platform: str, message_ids: Sequence[str]) -> Mapping[str, int | None]:
        raise AssertionError(f"{platform} tells by itself what the agent said: {message_ids}")

    async def relayed(self, server: ServerRef, message_ids: Sequence[str]) -> Mapping[str, Author]:
        return {}

    def trusts(self, platform: str, webhook_id: str) -> bool:
        return False

    @property
    def relaying(self) -> Relaying:
        raise NotImplementedError("the terminal joins nothing")

    async def suggest(self, call: CommandCall, option: str, typed: str) -> Sequence[Choice]:
        return ()

    async def prefill(self, call: CommandCall, option: str) -> str:
        return ""

    async def stop_turn(self, server: ServerRef, channel: ChannelRef) -> bool:
        raise AssertionError("the terminal leaves that to the command /stop of the core")

    async def idle(self) -> None:
        self.idled_after.append(len(self.events))

    @property
    def messages(self) -> list[MessageCreated]:
        return [event for event in self.events if isinstance(event, MessageCreated)]


class RecordingScreen:
    def __init__(self) -> None:
        self.records: list[Record] = []
        self.writing: list[str] = []

    def show(self, record: Record) -> None:
        self.records.append(record)

    def typing(self, where: str) -> None:
        self.writing.append(where)

    @property
    def shown(self) -> list[tuple[str, str, str]]:
        return [(record.type.value, record.speaker, record.text) for record in self.records]
