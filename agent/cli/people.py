"""`isthmus people …`: who is known in a server, and the accounts of one person, for an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli.errors import OK, CallRefused
from agent.cli.options import ConfigOption, DataOption, JsonOption
from agent.cli.output import print_json, print_line, print_table
from agent.cli.people_list import list_people
from agent.printing import printable
from agent.text import one_line

if TYPE_CHECKING:
    from agent.settings import LoadedSettings

app = typer.Typer(help="Who is known in a server, and who has linked accounts.", no_args_is_help=True)
app.command("list")(list_people)


@app.command("links")
def links(config: ConfigOption = None, data: DataOption = None, as_json: JsonOption = False) -> int:
    """Show everybody with linked accounts, and since when."""
    from agent.cli.opened import complete, load

    return complete(_links(load(config, data), as_json=as_json))


@app.command("unlink")
def unlink(
    account: Annotated[
        str, typer.Argument(metavar="ACCOUNT", help="platform:id, or a name that is unique.", show_default=False)
    ],
    config: ConfigOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> int:
    """Part an account from those linked to it; what was learned there goes with it."""
    from agent.cli.opened import complete, load

    return complete(_unlink(load(config, data), account, as_json=as_json))


async def _links(loaded: LoadedSettings, *, as_json: bool) -> int:
    from agent.cli.opened import opened_agent

    async with opened_agent(loaded) as agent:
        people = await agent.core.links.people()
    if as_json:
        print_json(
            [
                {
                    "user_id": person.user_id,
                    "since": person.since.isoformat(),
                    "accounts": [
                        {"platform": each.platform, "id": each.key.id, "name": each.display_name, "level": each.privacy}
                        for each in person.accounts
                    ],
                }
                for person in people
            ]
        )
        return OK
    rows = [
        (
            str(person.user_id),
            f"{person.since:%Y-%m-%d %H:%M}",
            ", ".join(f"{each.platform}:{each.key.id} ({each.display_name})" for each in person.accounts),
        )
        for person in people
    ]
    print_table(("user", "since", "accounts"), rows)
    return OK


async def _unlink(loaded: LoadedSettings, account: str, *, as_json: bool) -> int:
    from agent.cli.opened import opened_agent
    from agent.cli.where import find_account
    from agent.linking.commands import unlinked_data, unlinked_text

    async with opened_agent(loaded) as agent:
        core = agent.core
        account_id = await find_account(core.store, account)
        done = await core.links.unlink(account_id, core.clock.now(), via="isthmus people unlink")
    if done is None:
        raise CallRefused(f"ACCOUNT {account}: it is linked to no other account; see: isthmus people links")
    if as_json:
        print_json(unlinked_data(done))
    else:
        print_line(one_line(printable(unlinked_text(done, "en"))))
    return OK
