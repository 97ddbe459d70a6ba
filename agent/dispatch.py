"""Commands: found by path, checked for rights, run, and their failures turned into one calm sentence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from agent import logs
from agent.catalog import N_, translate
from agent.clock import short_id
from agent.commands import Command, CommandReply, Invocation, Option, Rights
from agent.core_commands import core_commands
from agent.personas.calling import default_of
from agent.store.errors import DatabaseUnavailable

if TYPE_CHECKING:
    from agent.commands import Choice, CommandCall
    from agent.core import Core
    from agent.events import Author
    from agent.places import ChannelRef, ServerRef

log = logs.get_logger(__name__)

MOST_CHOICES: Final = 25
"""Choices that are offered at once."""

type StopTurn = Callable[[ServerRef, ChannelRef], Awaitable[bool]]


class CommandError(ValueError):
    """Two commands have one path, or one stands where another has its group."""


def merged(commands: Sequence[Command]) -> tuple[Command, ...]:
    """Return the commands by path; groups of several plugins merge.

    Raises:
        CommandError: a path is taken twice, or a command's path is the beginning of another's.
    """
    by_path: dict[tuple[str, ...], Command] = {}
    for command in commands:
        if other := by_path.get(command.path):
            raise CommandError(
                f"/{' '.join(command.path)} is registered by {other.owner} and by {command.owner}: rename one"
            )
        by_path[command.path] = command
    for path, command in by_path.items():
        for length in range(1, len(path)):
            if group := by_path.get(path[:length]):
                raise CommandError(
                    f"/{' '.join(group.path)} of {group.owner} is a command, and the group of "
                    f"/{' '.join(path)} of {command.owner}: rename one"
                )
    return tuple(by_path[path] for path in sorted(by_path))


class Dispatcher:
    """Runs commands for every bridge."""

    def __init__(self, core: Core, commands: Sequence[Command], stop_turn: StopTurn, respond: Command) -> None:
        self._core = core
        self._stop_turn = stop_turn
        self.commands = merged([self._stop_command(), respond, *core_commands(core), *commands])
        self._by_path = {command.path: command for command in self.commands}

    async def run(
        self, path: tuple[str, ...], options: dict[str, Any], server: ServerRef, channel: ChannelRef, author: Author
    ) -> CommandReply:
        """Run a command after checking rights; failures come back as a reply with `ok=False`."""
        locale = self._core.settings.locale
        command = self._by_path.get(path)
        if command is None:
            return _failed(translate(locale, "There is no command /{command}.", command=" ".join(path)))
        if not _may_run(command, author):
            return _failed(translate(locale, "Only those who manage this server may do that."))
        try:
            return await command.run(await self._invocation(command, options, server, channel, author))
        except DatabaseUnavailable as error:
            log.warning("command_without_database", command=command.path, reason=str(error))
            return _failed(translate(locale, "My memory is out of reach just now. Please try again in a minute."))
        except Exception:
            error_id = short_id(self._core.ids)
            log.exception("command_failed", command=command.path, error_id=error_id)
            return _failed(
                translate(
                    locale, "That did not work. If it goes on, tell an operator this id: {error_id}", error_id=error_id
                )
            )

    async def suggest(self, call: CommandCall, option: str, typed: str) -> Sequence[Choice]:
        """Return what an option may be; nothing when it offers nothing, may not be asked, or that failed."""
        command = self._by_path.get(call.path)
        suggest = next((each.suggest for each in _open_options(command, call.author) if each.name == option), None)
        if command is None or suggest is None:
            return ()
        try:
            return tuple(await suggest(await self._invocation_of(command, call), typed))[:MOST_CHOICES]
        except Exception:
            log.exception("suggestions_failed", command=call.path, option=option)
            return ()

    async def prefill(self, call: CommandCall, option: str) -> str:
        """Return what a form holds at first; empty when there is nothing, it may not be asked, or that failed."""
        command = self._by_path.get(call.path)
        prefill = next((each.prefill for each in _open_options(command, call.author) if each.name == option), None)
        if command is None or prefill is None:
            return ""
        try:
            return await prefill(await self._invocation_of(command, call))
        except Exception:
            log.exception("prefill_failed", command=call.path, option=option)
            return ""

    async def _invocation_of(self, command: Command, call: CommandCall) -> Invocation:
        return await self._invocation(command, dict(call.options), call.server, call.channel, call.author)

    async def _invocation(
        self, command: Command, options: dict[str, Any], server: ServerRef, channel: ChannelRef, author: Author
    ) -> Invocation:
        now = self._core.clock.now()
        entrance = await self._core.people.enter(server, channel, author, now)
        personas = await self._core.personas.for_server(entrance.place.server.server_id, entrance.revision)
        return Invocation(
            command=command.path,
            options=options,
            place=entrance.place,
            account=entrance.account,
            persona=default_of(personas),
            can_manage=author.can_manage,
            now=now,
            locale=self._core.settings.locale,
        )

    def _stop_command(self) -> Command:
        async def run(invocation: Invocation) -> CommandReply:
            place = invocation.place
            stopped = await self._stop_turn(place.server.ref, place.channel.ref)
            if stopped:
                return CommandReply(translate(invocation.locale, "I have stopped."), private=True)
            return CommandReply(translate(invocation.locale, "There is nothing to stop."), private=True)

        return Command(("stop",), N_("Stop the answer that is being written here, and what waits for one."), run)


def _may_run(command: Command, author: Author) -> bool:
    return command.rights is not Rights.MANAGE or author.can_manage


def _open_options(command: Command | None, author: Author) -> Sequence[Option]:
    """Return the options that somebody may be told about."""
    return command.options if command is not None and _may_run(command, author) else ()


def _failed(text: str) -> CommandReply:
    return CommandReply(text, private=True, ok=False)
