"""`isthmus privacy`: what an operator may do for a person who asks for it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.errors import OK, CallRefused
from agent.cli.options import ConfigOption, DataOption, JsonOption
from agent.cli.output import print_json, print_line, print_table
from agent.privacy.audit import Act, Look

if TYPE_CHECKING:
    from agent.core import Core
    from agent.settings import LoadedSettings

app = typer.Typer(help="What is held about a person: export it, forget it, and who looked at it.", no_args_is_help=True)

UserArgument = Annotated[
    str, typer.Argument(metavar="USER", help="platform:id, or a name that is unique.", show_default=False)
]


@app.command("export")
def export(
    user: UserArgument,
    config: ConfigOption = None,
    data: DataOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, as it is done anyway.", hidden=True)] = True,  # noqa: ARG001
) -> int:
    """Print everything that is held about a person, as JSON."""
    from agent.cli.opened import complete, load

    return complete(_export(load(config, data), user))


@app.command("forget")
def forget(
    user: UserArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask back.")] = False,
    config: ConfigOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> int:
    """Forget a person: everything that came from or is about them, linked accounts included; it cannot be undone."""
    from agent.cli.opened import complete, load

    return complete(_forget(load(config, data), user, yes=yes, as_json=as_json))


@app.command("audit")
def audit(user: UserArgument, config: ConfigOption = None, data: DataOption = None, as_json: JsonOption = False) -> int:
    """Show who looked at or changed what is about a person, newest first."""
    from agent.cli.opened import complete, load

    return complete(_audit(load(config, data), user, as_json=as_json))


async def _export(loaded: LoadedSettings, user: str) -> int:
    from agent.cli.opened import opened_agent
    from agent.cli.where import find_account
    from agent.privacy.export import export_person

    async with opened_agent(loaded) as agent:
        core = agent.core
        account_id = await find_account(core.store, user)
        held = await export_person(core.store, core.hooks, account_id, core.clock.now())
        await _record(core, account_id, Act.EXPORTED, "isthmus privacy export")
    print_json(held)
    return OK


async def _forget(loaded: LoadedSettings, user: str, *, yes: bool, as_json: bool) -> int:
    from agent.cli.opened import opened_agent
    from agent.cli.where import find_account
    from agent.privacy.erase import erase_person
    from agent.store.notices import WITHDRAWN

    async with opened_agent(loaded) as agent:
        core = agent.core
        account_id = await find_account(core.store, user)
        if not yes:
            _ask_back(user)
        receipt = await erase_person(core.store, core.hooks, account_id, core.clock.now())
        core.revisions.announce(WITHDRAWN)
        await _record(core, account_id, Act.ERASED, "isthmus privacy forget")
    if as_json:
        print_json({"at": receipt.at.isoformat(), "accounts": receipt.account_ids, "counts": dict(receipt.counts)})
        return OK
    print_line(f"forgotten at {receipt.at:%Y-%m-%d %H:%M:%S} UTC")
    print_table(("kind", "removed"), [(kind, str(count)) for kind, count in receipt.counts.items()])
    return OK


async def _audit(loaded: LoadedSettings, user: str, *, as_json: bool) -> int:
    from agent.cli.opened import opened_agent
    from agent.cli.where import find_account
    from plugins.privacy.sentences import acts_as_data

    async with opened_agent(loaded) as agent:
        acts = acts_as_data(await agent.core.audit.about(await find_account(agent.core.store, user)))
    if as_json:
        print_json(acts)
        return OK
    columns = ("at", "act", "items", "via", "actor", "server")
    print_table(columns, [tuple(_cell(act, column) for column in columns) for act in acts])
    return OK


def _cell(act: dict[str, Any], column: str) -> str:
    if column == "actor" and act["by_operator"]:
        return "operator"
    value = act[column]
    return "-" if value is None else str(value)


def _ask_back(user: str) -> None:
    """Have the operator confirm.

    Raises:
        CallRefused: nobody is there to be asked.
    """
    if not sys.stdin.isatty():
        raise CallRefused("forgetting cannot be undone: add --yes to confirm it")
    typer.confirm(f"Forget everything about {user}? This cannot be undone.", abort=True)


async def _record(core: Core, account_id: int, act: Act, via: str) -> None:
    look = Look(act, via, None, None, about_account_id=account_id)
    await core.audit.record([look], core.clock.now())
