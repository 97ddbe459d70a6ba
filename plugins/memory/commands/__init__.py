"""The commands by which people see and change what is remembered; every bridge offers them in its own form."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agent.catalog import N_
from agent.commands import Command, Invocation, Option, OptionKind, Rights
from plugins.memory.commands.choices import SWITCHES, Choices
from plugins.memory.commands.desk import Desk, Refused, guarded
from plugins.memory.commands.identities import Identities
from plugins.memory.commands.noticing import Noticing
from plugins.memory.commands.placing import Placing
from plugins.memory.commands.pointing import Pointing
from plugins.memory.commands.removing import Removing
from plugins.memory.commands.scoping import Scoping
from plugins.memory.commands.showing import Showing
from plugins.memory.commands.suggesting import Suggesting
from plugins.memory.commands.undoing import Undoing
from plugins.memory.commands.writing import WritingByHand

if TYPE_CHECKING:
    from agent.commands import Prefill
    from plugins.memory.commands.desk import Run

__all__ = ["Desk", "memory_commands"]

_ID: Final = Option("id", N_("The id of a memory."), OptionKind.INTEGER)
_TEXT: Final = Option("text", N_("What it says; {user} stands for whom it is about."), long=True)
_WORDS: Final = Option("text", N_("What to look for."), takes_rest=True)
_PAGE: Final = Option("page", N_("Which page."), OptionKind.INTEGER, required=False)
_FIND: Final = (_WORDS, _PAGE)
_PERSONA: Final = Option("persona", N_("The name of a persona."))
_OF_PERSONA: Final = Option("persona", N_("The persona that remembers; left out: the default one."), required=False)
_IDS: Final = Option("ids", N_("The ids, with commas between them."))
_CODE: Final = Option("code", N_("The code of my question, to confirm."), required=False)
_TAGS: Final = Option("tags", N_("The tags, with commas between them; left out: none."), required=False)
_ID_OR_PENDING: Final = Option("id", N_("The id of a memory; or pending, for those that wait for their channels."))
_CHANNELS: Final = Option("channels", N_("The channels, or everywhere."), required=False)
_NAME: Final = Option("name", N_("What to switch; without it all are shown."), required=False, choices=tuple(SWITCHES))
_FORGOTTEN: Final = Option(
    "forgotten", N_("The id of the memory that gave way to it."), OptionKind.INTEGER, required=False
)
_VERSION: Final = Option(
    "version", N_("The version that a card showed."), OptionKind.INTEGER, required=False, hidden=True
)
_INSTEAD: Final = Option(
    "instead", N_("The memory that it gave way to."), OptionKind.INTEGER, required=False, hidden=True
)
_STATE: Final = Option("state", N_("on or off; without it the state is shown."), OptionKind.BOOLEAN, required=False)
_MESSAGE: Final = Option("message", N_("A message: its link or its id."), OptionKind.MESSAGE)
_PERSON: Final = Option("person", N_("Who is meant."), OptionKind.PERSON)


def memory_commands(desk: Desk) -> tuple[Command, ...]:
    """Return all of them. Who may run those of a server is asked when they run, for a server may open them."""
    suggesting = Suggesting(desk)
    return (*_of_server(desk, suggesting), *_of_person(desk, suggesting), *_pointed(desk))


def _of_server(desk: Desk, suggesting: Suggesting) -> tuple[Command, ...]:
    show, write, remove, undo = Showing(desk), WritingByHand(desk), Removing(desk), Undoing(desk)
    place, choices, notice = Placing(desk, write), Choices(desk), Noticing(desk)
    scope = Scoping(desk, place)
    one, gone = replace(_ID, suggest=suggesting.server), replace(_ID, suggest=suggesting.gone)
    ids, scoped = replace(_IDS, suggest=suggesting.server_list), replace(_ID_OR_PENDING, suggest=suggesting.scoped)
    persona, of = replace(_PERSONA, suggest=suggesting.personas), replace(_OF_PERSONA, suggest=suggesting.personas)
    return (
        _server("list", N_("Show what I remember about this server."), show.list_server, _PAGE, of),
        _server("search", N_("Search what I remember about this server."), show.search_server, *_FIND, of),
        _server("why", N_("Show where a memory comes from."), show.why_server, one),
        _server("add", N_("Have me remember something about this server."), write.add_server, _TEXT),
        _server("edit", N_("Give a memory another text."), write.edit_server, one, _form(write.present_server)),
        _server("tags", N_("Give a memory other tags."), write.tag_server, one, _TAGS),
        _server("scope", N_("Keep a memory to some channels."), scope.scope, scoped, _CHANNELS),
        _server("open", N_("Let a memory be told in the whole server."), place.open_server, one, _VERSION),
        _server("move", N_("Give a memory to another persona."), place.move, one, persona),
        _server("remove", N_("Have me forget memories of this server."), remove.remove_server, ids, _CODE, _VERSION),
        _server("undo", N_("Bring back what was removed in the last 24 hours."), undo.undo, gone, _INSTEAD, _VERSION),
        _server("notice", N_("Show the whole text of a notice, as a file."), notice.notice_server, one, _FORGOTTEN),
        _server(
            "settings", N_("Show or set how I remember here."), choices.settings, _NAME, _STATE, rights=Rights.MANAGE
        ),
    )


def _of_person(desk: Desk, suggesting: Suggesting) -> tuple[Command, ...]:
    show, write, remove, undo = Showing(desk), WritingByHand(desk), Removing(desk), Undoing(desk)
    place, notice = Placing(desk, write), Noticing(desk)
    one, gone = replace(_ID, suggest=suggesting.personal), replace(_ID, suggest=suggesting.gone)
    ids = replace(_IDS, suggest=suggesting.personal_list)
    commands = (
        _personal("list", N_("Show what I remember about you."), show.list_personal, _PAGE),
        _personal("search", N_("Search what I remember about you."), show.search_personal, *_FIND),
        _personal("why", N_("Show where a memory comes from."), show.why_personal, one),
        _personal("add", N_("Have me remember something about you."), write.add_personal, _TEXT),
        _personal("edit", N_("Give a memory another text."), write.edit_personal, one, _form(write.present_personal)),
        _personal("tags", N_("Give a memory other tags."), write.tag_personal, one, _TAGS),
        _personal("open", N_("Let a memory be told wherever you take part."), place.open_personal, one, _VERSION),
        _personal("remove", N_("Have me forget memories about you."), remove.remove_personal, ids, _CODE, _VERSION),
        _personal("undo", N_("Bring back what was removed in the last 24 hours."), undo.undo, gone, _INSTEAD, _VERSION),
        _personal("notice", N_("Show the whole text of a notice, as a file."), notice.notice_personal, one, _FORGOTTEN),
        _global("list", N_("Show what every persona knows about you."), show.list_global, _PAGE),
        _global("add", N_("Have every persona remember something about you."), write.add_global, _TEXT),
    )
    whose = Identities(desk)
    return tuple(
        replace(each, run=guarded(whose.run(each.run)), options=whose.options(each.options)) for each in commands
    )


def _pointed(desk: Desk) -> tuple[Command, ...]:
    """Return the commands that platforms with menus offer at a message or a person."""
    point = Pointing(desk, Showing(desk), WritingByHand(desk))
    remember = _server("remember", N_("Keep what somebody said as a memory of this server."), point.remember, _MESSAGE)
    because = _server("because", N_("Show what I have learned from a message."), point.because, _MESSAGE)
    about = _server("about", N_("Show what I remember about somebody."), point.about, _PERSON)
    return (
        replace(remember, menu="Remember this"),
        replace(because, menu="Why do you know this?"),
        replace(about, menu="What is remembered about…"),
    )


def _form(present: Prefill) -> Option:
    """Return the text of an edit, which a form may ask for; it is empty where there is nothing to be seen."""

    async def seen(call: Invocation) -> str:
        try:
            return await present(call)
        except Refused:
            return ""

    return replace(_TEXT, prefill=seen)


def _server(word: str, description: str, run: Run, *options: Option, rights: Rights = Rights.EVERYONE) -> Command:
    return Command(("memories", word), description, guarded(run), options, rights, private=True, owner="memory")


def _personal(word: str, description: str, run: Run, *options: Option) -> Command:
    return Command(("personal", "memories", word), description, guarded(run), options, private=True, owner="memory")


def _global(word: str, description: str, run: Run, *options: Option) -> Command:
    return Command(("personal", "global", word), description, guarded(run), options, private=True, owner="memory")
