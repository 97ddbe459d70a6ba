"""What people ask with commands, menus, buttons and forms, from Discord's payload to the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from cachetools import LRUCache

from agent import logs
from agent.catalog import N_, translate
from agent.commands import CommandCall, CommandReply, Rights, StepKind
from agent.steps import StepLost, is_step, read_step
from bridges.discord.commands.asked import Kind, read
from bridges.discord.commands.buttons import kind_of
from bridges.discord.commands.declare import CHAT, menu_kind
from bridges.discord.commands.forms import TEXT, Field, Forms, asked_for
from bridges.discord.commands.options import OLD, OptionRefused
from bridges.discord.commands.speaking import Speaking
from bridges.discord.commands.suggesting import offered
from bridges.discord.commands.wire import AnswerLost, Callback, Wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.bridge import BridgeHost
    from agent.commands import Command
    from bridges.discord.commands.asked import Asked
    from bridges.discord.commands.options import Options
    from bridges.discord.commands.redrawing import Redrawing
    from bridges.discord.incoming import World

log = logs.get_logger(__name__)

SEEN: Final = 10_000
"""Interactions that are known to have come."""
MOST: Final = 500
"""Interactions that are answered at one time."""
PROMPT: Final = 2.0
"""Seconds that what must be there at once may take: suggestions, and what a form holds."""
_REPLACING: Final = frozenset({StepKind.NEXT, StepKind.PREVIOUS, StepKind.CONFIRM})

type Work = Callable[[Asked], Awaitable[None]]


class Interactions:
    """Answers every interaction once."""

    def __init__(self, host: BridgeHost, world: World, options: Options, redrawing: Redrawing) -> None:
        self._redrawing = redrawing
        self._host = host
        self._world = world
        self._options = options
        self._by_path = {command.path: command for command in host.commands}
        self._menus = {(menu_kind(each), each.menu): each for each in host.commands if each.menu is not None}
        self._forms = Forms(host.commands)
        self._wire = Wire()
        self._seen: LRUCache[str, bool] = LRUCache(SEEN)
        self._tasks: set[asyncio.Task[None]] = set()
        self._work: Mapping[int, Work] = {
            Kind.COMMAND: self._command,
            Kind.COMPONENT: self._pressed,
            Kind.AUTOCOMPLETE: self._typed,
            Kind.FORM: self._sent,
        }

    def take(self, data: Mapping[str, Any]) -> None:
        """Take an interaction as the gateway brings it; returns at once. One that comes again is dropped."""
        number = str(data["id"])
        if number in self._seen or int(data["type"]) not in self._work:
            return
        if len(self._tasks) >= MOST:
            log.warning("interaction_overrun", running=len(self._tasks))
            return
        self._seen[number] = True
        task = asyncio.create_task(self._answer(data), name=f"discord interaction {number}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """End what is being answered."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._wire.close()

    async def _answer(self, data: Mapping[str, Any]) -> None:
        try:
            await self._carried_out(read(data))
        except AnswerLost as lost:
            log.warning("answer_lost", interaction=str(data["id"]), reason=lost.reason)
        except Exception:
            log.exception("interaction_not_read", interaction=str(data["id"]))

    async def _carried_out(self, asked: Asked) -> None:
        """Do what is asked; a failure that nothing has answered yet is answered calmly. Raises AnswerLost."""
        try:
            await self._work[asked.kind](asked)
        except AnswerLost:
            raise
        except Exception:
            log.exception("interaction_failed", interaction=asked.interaction_id)
            if asked.kind != Kind.AUTOCOMPLETE:
                await self._refuse(asked, N_("That did not work. Please try again."))

    async def _command(self, asked: Asked) -> None:
        kind = int(asked.data.get("type") or CHAT)
        command = (
            self._by_path.get(asked.path) if kind == CHAT else self._menus.get((kind, str(asked.data.get("name"))))
        )
        if command is None:
            await self._refuse(asked, OLD)
        elif kind == CHAT and self._wants_form(asked, command, {given["name"]: given for given in asked.given}):
            try:
                options = await self._options.read(asked, command)
            except OptionRefused as refused:
                await self._refuse(asked, refused.msgid, **refused.values)
                return
            await self._open_form(asked, command, options)
        else:
            speaking = Speaking(self._wire, asked, private=command.private)
            await self._run(asked, command, lambda: self._options.read(asked, command), speaking)

    async def _pressed(self, asked: Asked) -> None:
        identifier = str(asked.data.get("custom_id") or "")
        if not is_step(identifier):
            await self._refuse(asked, N_("This button does nothing any more."))
            return
        if not asked.is_shown_to_one and asked.asked_first not in {None, asked.author.external_id}:
            await self._refuse(asked, N_("Only who ran this command can press its buttons."))
            return
        try:
            command, options = read_step(identifier, self._host.commands)
        except StepLost:
            await self._refuse(asked, N_("This button is too old. Run its command again."))
            return
        if self._wants_form(asked, command, options):
            await self._open_form(asked, command, options)
            return
        replaces = asked.asked_first is not None and kind_of(asked.data) in _REPLACING
        speaking = Speaking(self._wire, asked, private=command.private, replaces=replaces)
        if await self._run(asked, command, lambda: _ready(options), speaking):
            await self._redrawing.undone(asked)

    async def _sent(self, asked: Asked) -> None:
        try:
            command, options = self._forms.read(asked.data)
        except StepLost:
            await self._refuse(asked, N_("This form is too old. Run its command again."))
            return
        speaking = Speaking(self._wire, asked, private=command.private)
        await self._run(asked, command, lambda: _ready(options), speaking)

    async def _typed(self, asked: Asked) -> None:
        command = self._by_path.get(asked.path)
        focused = next((given for given in asked.given if given.get("focused")), None)
        option = (
            next((each for each in command.options if focused and each.name == focused["name"]), None)
            if command
            else None
        )
        choices: Sequence[Mapping[str, Any]] = ()
        if command is not None and option is not None and focused is not None:
            typed = str(focused.get("value") or "")
            found = await self._prompt(self._suggestions(asked, command, option.name, typed), ())
            choices = offered(option, found, typed)
        await self._wire.first(asked, Callback.CHOICES, {"choices": list(choices)})

    async def _suggestions(self, asked: Asked, command: Command, option: str, typed: str) -> Sequence[Any]:
        call = await self._call(asked, command, self._options.simple(asked, command))
        return () if call is None else await self._host.suggest(call, option, typed)

    def _wants_form(self, asked: Asked, command: Command, given: Mapping[str, Any]) -> bool:
        """Tell whether a form is to be shown; who may not run the command is told so instead."""
        return _may_run(asked, command) and bool(asked_for(command, given))

    async def _open_form(self, asked: Asked, command: Command, options: Mapping[str, Any]) -> None:
        fields: list[Field] = []
        for option in asked_for(command, options):
            text = (
                ""
                if option.prefill is None
                else await self._prompt(self._prefilled(asked, command, options, option.name), "")
            )
            if len(text) > TEXT:
                sentence = N_(
                    "This text is longer than the {limit} characters of a form: give it in the option {name}."
                )
                await self._refuse(asked, sentence, limit=TEXT, name=option.name)
                return
            fields.append(Field(option, text))
        form = self._forms.made(command, options, fields, asked.interaction_id, asked.locale)
        await self._wire.first(asked, Callback.FORM, form)

    async def _prefilled(self, asked: Asked, command: Command, options: Mapping[str, Any], option: str) -> str:
        call = await self._call(asked, command, options)
        return "" if call is None else await self._host.prefill(call, option)

    async def _call(self, asked: Asked, command: Command, options: Mapping[str, Any]) -> CommandCall | None:
        place = await self._world.place(asked.channel_id, asked.guild_id, asked.author)
        return None if place is None else CommandCall(command.path, options, *place, asked.author)

    async def _prompt[T](self, work: Awaitable[T], otherwise: T) -> T:
        """Return what must be there at once, or something else in its stead."""
        try:
            return await asyncio.wait_for(work, PROMPT)
        except TimeoutError:
            log.warning("interaction_too_slow", seconds=PROMPT)
            return otherwise

    async def _run(
        self, asked: Asked, command: Command, options: Callable[[], Awaitable[Mapping[str, Any]]], speaking: Speaking
    ) -> bool:
        """Run a command and say its reply; tell whether it was done."""
        work = asyncio.create_task(self._reply(asked, command, options), name="discord command")
        try:
            await speaking.answer(work, f"/{' '.join(command.path)}")
        except AnswerLost as lost:
            if not lost.refused:
                raise
            log.error("answer_refused", command=command.path, reason=lost.reason)  # noqa: TRY400  # Discord's words say all
            await speaking.say(_calm(asked, N_("Discord did not take my answer.")), "")
        finally:
            if not work.done():
                work.cancel()
        return work.result().ok

    async def _reply(
        self, asked: Asked, command: Command, read_options: Callable[[], Awaitable[Mapping[str, Any]]]
    ) -> CommandReply:
        try:
            place = await self._world.place(asked.channel_id, asked.guild_id, asked.author)
            if place is None:
                return _calm(asked, N_("I cannot see this channel. Let me in, and try again."))
            options = dict(await read_options())
            if _may_run(asked, command) and any(
                option.required and option.name not in options for option in command.options
            ):
                return _calm(asked, OLD)
            return await self._host.run_command(command.path, options, *place, asked.author)
        except OptionRefused as refused:
            return _calm(asked, refused.msgid, **refused.values)
        except Exception:
            log.exception("interaction_failed", interaction=asked.interaction_id, command=command.path)
            return _calm(asked, N_("That did not work. Please try again."))

    async def _refuse(self, asked: Asked, msgid: str, **values: object) -> None:
        await Speaking(self._wire, asked, private=True).say(_calm(asked, msgid, **values), "")


def _may_run(asked: Asked, command: Command) -> bool:
    """Tell whether the core would run a command; it asks again itself."""
    return command.rights is not Rights.MANAGE or asked.author.can_manage


def _calm(asked: Asked, msgid: str, **values: object) -> CommandReply:
    return CommandReply(translate(asked.locale, msgid, **values), private=True, ok=False)


async def _ready(options: Mapping[str, Any]) -> Mapping[str, Any]:
    return options
