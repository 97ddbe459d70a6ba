# mypy: disable-error-code="empty-body"
# (a hook is declared, not implemented, here)
"""Every hook, in one file: when it is called, what it gets, what a result means.

The mode of each hook stands beside its declaration (architecture.md, Plugins):

- `collect`: every result, in the order of plugins.toml; a plugin that raises or is late is left out and counted.
- `first`: the first result that is not None; a plugin that raises or is late is passed over,
  except in `resolve_speaker`, where the result is then `Unavailable`.
- `guard`: every plugin may refuse; the first `Denial` stops the action; raising, being late, or answering anything
  but None or a `Denial` counts as a denial.
- `lifecycle`: called once for each plugin; a failure of `start` stops the start of the agent.

Hooks may be `def` or `async def`. Only `agent/plugin_host.py` calls them. docs/hooks.md has one section a hook, and a
test holds it equal to this file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

import pluggy

if TYPE_CHECKING:
    import typer

    from agent.commands import Command
    from agent.contracts.cards import Card
    from agent.contracts.context import ContextItem, Prompt
    from agent.contracts.links import UserMove
    from agent.contracts.memory import MemoryRead, MemoryWrite, MemoryWritten
    from agent.contracts.people import Account, Denial, Registration, Speaker
    from agent.contracts.recall import RecallCandidate, RecallQuery
    from agent.core import Core
    from agent.events import MessageCreated, MessageDeleted
    from agent.identity.keys import ParticipantKey
    from agent.places import Place
    from agent.tools import Connection, Json, Tool
    from agent.turn.values import Turn

PROJECT: Final = "isthmus"
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a method of a plugin class as the implementation of the hook of that name."""


class Mode(StrEnum):
    """How the results of several plugins are brought together."""

    COLLECT = "collect"
    FIRST = "first"
    GUARD = "guard"
    LIFECYCLE = "lifecycle"


@dataclass(frozen=True, slots=True)
class Hook:
    """The mode of a hook, and the seconds that one plugin may take."""

    mode: Mode
    deadline: float
    together: bool = False
    """Whether plugins are asked at the same time instead of one after the other; their answers keep their order."""


HOOKS: Final[dict[str, Hook]] = {}
"""Every hook by name, filled by the declarations below."""

_marker = pluggy.HookspecMarker(PROJECT)


def _spec[F: Callable[..., Any]](mode: Mode, deadline: float = 5.0, *, together: bool = False) -> Callable[[F], F]:
    """Declare a hook under its mode and deadline (seconds)."""

    def declare(function: F) -> F:
        HOOKS[function.__name__] = Hook(mode, deadline, together)
        return _marker(function)

    return declare


@dataclass(frozen=True, slots=True)
class Hold:
    """An answer of `resolve_speaker`: wait for a proxy's repost until then; the core resumes the event by the clock."""

    until: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Attested:
    """An answer of `resolve_speaker`: a registered service says that this speaker said it."""

    speaker: Speaker
    event: MessageCreated | None = None
    """The message as it is to be taken, where that differs: its author is then the account that answers for it, and it
    has the reply and the mentions of the original."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who said an earlier message that a proxy service posted, as it was attested then."""

    speaker: Speaker
    account: ParticipantKey
    """The account that answers for it."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """An answer of `resolve_speaker`: who spoke cannot be known now; never "it is the account"."""

    reason: str


type SpeakerAnswer = Hold | Attested | Unavailable


@dataclass(frozen=True, slots=True)
class Health:
    """One line of `isthmus doctor`."""

    name: str
    state: str
    """`ok`, `warn` or `fail`."""
    text: str
    remedy: str = ""
    """The command or setting that mends it; required unless ok."""


@_spec(Mode.LIFECYCLE, deadline=30.0)
async def start(core: Core) -> None:
    """Called once, after migrations and in the order of `requires`: keep `core`, load what is needed."""


@_spec(Mode.LIFECYCLE)
async def stop() -> None:
    """Called once at the end, in the opposite order of `start`: let go of everything."""


@_spec(Mode.COLLECT)
def register_tools() -> Sequence[Tool]:
    """Called once after `start`: return the tools that the model may call."""


@_spec(Mode.COLLECT)
def register_commands() -> Sequence[Command]:
    """Called once after `start`: return the commands that every bridge offers."""


@_spec(Mode.COLLECT)
def register_cli(app: typer.Typer) -> None:
    """Called when the command line is built, before `start`: add sub-commands to `app`; no I/O here."""


@_spec(Mode.COLLECT)
async def context_items(turn: Turn) -> Sequence[ContextItem]:
    """Called once a turn, while the prompt is built: return items in the cached prefix or the tail."""


@_spec(Mode.COLLECT, together=True)
async def recall(turn: Turn, query: RecallQuery) -> Sequence[RecallCandidate]:
    """Called once a turn, after `context_items`: return what may be called back for the query.

    The core ranks the candidates of all plugins together and places the best in the uncached tail.
    """


@_spec(Mode.FIRST, deadline=2.0)
async def arrange_prompt(turn: Turn, prompt: Prompt) -> Prompt | None:
    """Called once a turn, when the prompt fits its budget: return the same contents in another order."""


@_spec(Mode.COLLECT)
async def turn_finished(turn: Turn, recalled: Sequence[str]) -> None:
    """Called after the reply is committed, with the identities that recall had called back and the prompt showed."""


@_spec(Mode.COLLECT)
async def person_registered(account: Account) -> None:
    """Called after an account has spoken for the first time, unless a bridge had told of it as a member before."""


@_spec(Mode.COLLECT)
async def identity_registered(registration: Registration) -> None:
    """Called after a proxied identity was attested and its rows are committed: the first time, and each time again."""


@_spec(Mode.COLLECT)
async def channel_seen(place: Place) -> None:
    """Called after a message came from a channel that this process has not seen, or not under this name."""


@_spec(Mode.COLLECT)
async def message_deleted(event: MessageDeleted) -> Sequence[Card]:
    """Called after the deletion of a message was taken: let go of what came from it, return cards that tell.

    It is called again when the plugin fails, or the process dies before it is done.
    """


@_spec(Mode.COLLECT)
async def count_lineage(server_id: int, lineage_id: int) -> dict[str, int]:
    """Called when a persona is deleted or changes its lineage: return how much is kept in it there, by kind."""


@_spec(Mode.COLLECT)
async def export_person(account: Account) -> dict[str, Json]:
    """Called for `/privacy export`: return everything held about the person, by the plugin's own keys."""


@_spec(Mode.COLLECT, deadline=30.0)
async def erase_person(conn: Connection, account: Account) -> dict[str, int]:
    """Called inside the one transaction of an erasure: delete by SQL on `conn`, return counts by kind.

    Unlike other `collect` hooks, a failure here rolls the whole erasure back.
    """


@_spec(Mode.COLLECT, deadline=30.0)
async def move_user(conn: Connection, move: UserMove) -> dict[str, int]:
    """Called inside the one transaction that links or unlinks accounts: move by SQL on `conn` what a user row holds.

    Return how much `went` and how much `stayed`. Unlike other `collect` hooks, a failure here rolls all of it back.
    """


@_spec(Mode.COLLECT)
async def health() -> Sequence[Health]:
    """Called by `isthmus doctor` and `/readyz`: return one line for each thing that can be well or ill."""


@_spec(Mode.FIRST)
async def resolve_speaker(event: MessageCreated, account: Account) -> SpeakerAnswer | None:
    """Called for each message before admission: who said it. None: nothing to say, it is the account."""


@_spec(Mode.FIRST, deadline=2.0)
async def attribute_messages(platform: str, message_ids: Sequence[str]) -> Mapping[str, Attribution] | None:
    """Called while a prompt is built, with earlier messages that webhooks posted: who said those that are known."""


@_spec(Mode.COLLECT, deadline=2.0)
async def identities_here(server_id: int) -> Sequence[Attribution]:
    """Called when a name is looked for: return the proxied identities that have spoken in the server."""


@_spec(Mode.COLLECT)
async def own_identities(account: Account) -> Sequence[Speaker]:
    """Called when somebody wants to see the memories of an identity: return the proxied ones that account hosts."""


@_spec(Mode.FIRST, deadline=10.0)
async def write_memory(write: MemoryWrite) -> MemoryWritten | None:
    """Called to save without knowing the memory plugin (bio seeding, importers): every guard is asked, as ever."""


@_spec(Mode.GUARD, deadline=2.0)
async def guard_turn(turn: Turn) -> Denial | None:
    """Called after admission and before the prompt is built: refuse to answer, in silence."""


@_spec(Mode.GUARD, deadline=2.0)
async def guard_memory_read(read: MemoryRead) -> Denial | None:
    """Called before memories of one owner are shown to anybody, the model included."""


@_spec(Mode.GUARD, deadline=2.0)
async def guard_memory_write(write: MemoryWrite) -> Denial | None:
    """Called before a memory is created or updated (never for deletions), outside of any transaction."""


@_spec(Mode.GUARD, deadline=0.25)
async def recheck_memory_write(conn: Connection, write: MemoryWrite) -> Denial | None:
    """Called inside the writing transaction, after its locks: SQL on `conn` only, no pool, no network."""
