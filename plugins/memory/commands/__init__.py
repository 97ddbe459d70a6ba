"""The commands by which people see and change what is remembered; every bridge offers them in its own form."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agent.catalog import N_
from agent.commands import Command, Option, OptionKind, Rights
from plugins.memory.commands.choices import SWITCHES, Choices
from plugins.memory.commands.desk import Desk, guarded
from plugins.memory.commands.noticing import Noticing
from plugins.memory.commands.placing import Placing
from plugins.memory.commands.removing import Removing
from plugins.memory.commands.scoping import Scoping
from plugins.memory.commands.showing import Showing
from plugins.memory.commands.undoing import Undoing
from plugins.memory.commands.writing import WritingByHand

if TYPE_CHECKING:
    from agent.commands import Prefill
    from plugins.memory.commands.desk import Run

__all__ = ["Desk", "memory_commands"]

_ID: Final = Option("id", N_("The id of a memory."), OptionKind.INTEGER)
_TEXT: Final = Option("text", N_("What it says; {user} stands for whom it is about."))
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


def memory_commands(desk: Desk) -> tuple[Command, ...]:
    """Return all of them. Who may run those of a server is asked when they run, for a server may open them."""
    show, write, remove, undo = Showing(desk), WritingByHand(desk), Removing(desk), Undoing(desk)
    place, choices, notice = Placing(desk, write), Choices(desk), Noticing(desk)
    scope = Scoping(desk, place)
    return (
        _server("list", N_("Show what I remember about this server."), show.list_server, _PAGE, _OF_PERSONA),
        _server("search", N_("Search what I remember about this server."), show.search_server, *_FIND, _OF_PERSONA),
        _server("why", N_("Show where a memory comes from."), show.why_server, _ID),
        _server("add", N_("Have me remember something about this server."), write.add_server, _TEXT),
        _server("edit", N_("Give a memory another text."), write.edit_server, _ID, _form(write.present_server)),
        _server("tags", N_("Give a memory other tags."), write.tag_server, _ID, _TAGS),
        _server("scope", N_("Keep a memory to some channels."), scope.scope, _ID_OR_PENDING, _CHANNELS),
        _server("open", N_("Let a memory be told in the whole server."), place.open_server, _ID, _VERSION),
        _server("move", N_("Give a memory to another persona."), place.move, _ID, _PERSONA),
        _server("remove", N_("Have me forget memories of this server."), remove.remove_server, _IDS, _CODE, _VERSION),
        _server("undo", N_("Bring back what was removed in the last 24 hours."), undo.undo, _ID, _INSTEAD, _VERSION),
        _server("notice", N_("Show the whole text of a notice, as a file."), notice.notice_server, _ID, _FORGOTTEN),
        _server(
            "settings", N_("Show or set how I remember here."), choices.settings, _NAME, _STATE, rights=Rights.MANAGE
        ),
        _personal("list", N_("Show what I remember about you."), show.list_personal, _PAGE),
        _personal("search", N_("Search what I remember about you."), show.search_personal, *_FIND),
        _personal("why", N_("Show where a memory comes from."), show.why_personal, _ID),
        _personal("add", N_("Have me remember something about you."), write.add_personal, _TEXT),
        _personal("edit", N_("Give a memory another text."), write.edit_personal, _ID, _form(write.present_personal)),
        _personal("tags", N_("Give a memory other tags."), write.tag_personal, _ID, _TAGS),
        _personal("open", N_("Let a memory be told wherever you take part."), place.open_personal, _ID, _VERSION),
        _personal("remove", N_("Have me forget memories about you."), remove.remove_personal, _IDS, _CODE, _VERSION),
        _personal("undo", N_("Bring back what was removed in the last 24 hours."), undo.undo, _ID, _INSTEAD, _VERSION),
        _personal("notice", N_("Show the whole text of a notice, as a file."), notice.notice_personal, _ID, _FORGOTTEN),
        _global("list", N_("Show what every persona knows about you."), show.list_global, _PAGE),
        _global("add", N_("Have every persona remember something about you."), write.add_global, _TEXT),
    )


def _form(present: Prefill) -> Option:
    """Return the text of an edit, which a form may ask for."""
    return replace(_TEXT, long=True, prefill=present)


def _server(word: str, description: str, run: Run, *options: Option, rights: Rights = Rights.EVERYONE) -> Command:
    return Command(("memories", word), description, guarded(run), options, rights, private=True, owner="memory")


def _personal(word: str, description: str, run: Run, *options: Option) -> Command:
    return Command(("personal", "memories", word), description, guarded(run), options, private=True, owner="memory")


def _global(word: str, description: str, run: Run, *options: Option) -> Command:
    return Command(("personal", "global", word), description, guarded(run), options, private=True, owner="memory")
