"""`isthmus resolve NAME`: who is meant by a name in a place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, assert_never

import typer

from agent.cli.errors import OK
from agent.cli.options import ChannelOption, ConfigOption, DataOption, JsonOption, PersonOption, ServerOption
from agent.cli.output import print_json, print_line
from agent.printing import printable
from agent.text import one_line

if TYPE_CHECKING:
    from agent.app import Agent
    from agent.cli.where import Asked, Spot
    from agent.identity.results import Resolution
    from agent.settings import LoadedSettings


def resolve(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name, handle or mention, as somebody would write it.")],
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    channel: ChannelOption = None,
    person: PersonOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show who is meant by a name in that place, and the step that decided; never a guess."""
    from agent.cli.opened import complete, load
    from agent.cli.where import Asked

    return complete(_resolve(load(config, data), Asked(server, channel, person), name, as_json=as_json))


async def _resolve(loaded: LoadedSettings, asked: Asked, name: str, *, as_json: bool) -> int:
    from agent.cli.opened import opened_agent
    from agent.cli.where import find_place

    async with opened_agent(loaded) as agent:
        found = as_data(await _found(agent, await find_place(agent.core.store, asked), name))
    if as_json:
        print_json(found)
        return OK
    print_line(one_line(printable(_headline(found))))
    for other in found.get("candidates", ()):
        text = f"  {other['key']} {other['label']} ({other['distinction']}): {other['reference']}"
        print_line(one_line(printable(text)))
    for other in found.get("suggestions", ()):
        print_line(one_line(printable(f"  {other['score']:5.1f}  {other['key']} {other['label']} ({other['name']})")))
    return OK


async def _found(agent: Agent, spot: Spot, name: str) -> Resolution:
    from agent.identity.directory import Scope

    core = agent.core
    entrance = await core.people.enter(spot.server, spot.channel, spot.author, core.clock.now())
    persona = await core.personas.default(entrance.place.server.server_id)
    people = await core.people.participants(entrance.place, [spot.author.key], reserved=[persona.nickname])
    scope = Scope(entrance.place, people, persona, persona.nickname, speaker=people[0] if people else None)
    found: Resolution = await core.resolver.resolve(name, scope)
    return found


def as_data(found: Resolution) -> dict[str, Any]:
    """Return a result as data; `result` is its kind."""
    from agent.identity.results import Ambiguous, BridgeUser, NotFound, Resolved, Self

    match found:
        case Resolved():
            return {
                "result": "resolved",
                "step": found.step.value,
                "key": str(found.speaker.key),
                "label": found.label,
                "handle": found.handle,
                "user_id": found.user_id,
                "account_id": found.account.account_id,
            }
        case Self():
            return {"result": "self", "step": found.step.value}
        case BridgeUser():
            return {
                "result": "bridge_user",
                "step": found.step.value,
                "key": str(found.account.key),
                "label": found.display_name,
                "bridge": found.bridge,
                "account_id": found.account.account_id,
            }
        case Ambiguous():
            candidates = [
                {
                    "key": str(each.key),
                    "label": each.label,
                    "distinction": each.distinction,
                    "handle": each.handle,
                    "reference": each.reference,
                }
                for each in found.candidates
            ]
            return {"result": "ambiguous", "step": found.step.value, "name": found.name, "candidates": candidates}
        case NotFound():
            suggestions = [
                {"key": str(each.key), "label": each.label, "name": each.name, "score": each.score}
                for each in found.suggestions
            ]
            return {"result": "not_found", "name": found.name, "suggestions": suggestions}
        case unknown:
            assert_never(unknown)


def _headline(found: dict[str, Any]) -> str:
    match found["result"]:
        case "resolved" | "bridge_user":
            return f"{found['label']}: {found['key']} (by {found['step']})"
        case "self":
            return f"the agent itself (by {found['step']})"
        case "ambiguous":
            return f"{found['name']}: it may mean several (by {found['step']})"
        case _:
            near = "; near names:" if found["suggestions"] else ""
            return f"{found['name']}: nobody here bears that name{near}"
