"""`isthmus people list`: who is known in a server, by which names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.errors import OK, CallRefused
from agent.cli.options import ConfigOption, DataOption, JsonOption, ServerOption
from agent.cli.output import print_error, print_json, print_table

if TYPE_CHECKING:
    from agent.identity.listing import Listed, Page
    from agent.settings import LoadedSettings


def list_people(
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    page: Annotated[int, typer.Option("--page", metavar="N", min=1, help="Which page; one has 200 people.")] = 1,
    as_json: JsonOption = False,
) -> int:
    """Show everybody with each name and where it comes from; hidden people and those who left too."""
    from agent.cli.opened import complete, load

    return complete(_list(load(config, data), server, page, as_json=as_json))


async def _list(loaded: LoadedSettings, server: str | None, number: int, *, as_json: bool) -> int:
    from agent.cli.opened import opened_agent
    from agent.cli.where import find_server, find_server_id
    from agent.identity.listing import page_of_people

    async with opened_agent(loaded) as agent:
        store = agent.core.store
        ref = await find_server(store, server)
        server_id = await find_server_id(store, ref)
        if server_id is None:
            raise CallRefused(f"--server {ref.name}: nobody has been seen there")
        page = await page_of_people(store, server_id, number)
    if number > page.pages:
        raise CallRefused(f"--page {number}: {ref.name} has {page.pages}")
    if as_json:
        print_json({"server": f"{ref.platform}:{ref.external_id}", **as_data(page)})
        return OK
    rows = [
        (str(each.account.key), *_notes(each), source, value)
        for each in page.people
        for source, value in _aliases(each)
    ]
    print_table(("person", "privacy", "", "source", "name"), rows)
    if page.pages > 1:
        print_error(f"page {number} of {page.pages}, {page.total} people; --page N shows another")
    return OK


def as_data(page: Page) -> dict[str, Any]:
    """Return a page as data."""
    return {
        "page": page.number,
        "pages": page.pages,
        "total": page.total,
        "people": [
            {
                "key": str(each.account.key),
                "account_id": each.account.account_id,
                "user_id": each.account.user_id,
                "label": each.account.display_name,
                "privacy": each.account.privacy.value,
                "blacklisted": each.blacklisted,
                "is_member": each.is_member,
                "names": [{"source": source, "name": value} for source, value in _aliases(each)],
            }
            for each in page.people
        ],
    }


def _aliases(person: Listed) -> list[tuple[str, str]]:
    """Return every name with its source; the handle is that of a conversation where nobody shares it."""
    from agent.identity.handles import base_handle

    names = [(name.source.value, name.value) for name in person.names]
    handle = base_handle(person.account.display_name) if person.is_member else ""
    return [*names, ("handle", f"@{{{handle}}}")] if handle else names


def _notes(person: Listed) -> tuple[str, str]:
    left = () if person.is_member else ("left",)
    return person.account.privacy.value, ", ".join((*left, *(("blacklisted",) if person.blacklisted else ())))
