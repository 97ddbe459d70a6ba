"""`isthmus prompt`: the prompt that would be sent now, item by item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from agent.cli.errors import OK, CallRefused
from agent.cli.options import (
    ChannelOption,
    ConfigOption,
    DataOption,
    JsonOption,
    NowOption,
    PersonaOption,
    PersonOption,
    ServerOption,
    parse_now,
)
from agent.cli.output import print_json, print_line
from agent.printing import printable

if TYPE_CHECKING:
    from datetime import datetime

    from agent.cli.where import Asked
    from agent.contracts.context import Prompt
    from agent.settings import LoadedSettings

_DEFAULT_TEXT: Final = "Hello!"


def prompt(
    config: ConfigOption = None,
    data: DataOption = None,
    server: ServerOption = None,
    channel: ChannelOption = None,
    person: PersonOption = None,
    text: Annotated[
        str, typer.Option("--text", metavar="TEXT", help="The message that would be answered.")
    ] = _DEFAULT_TEXT,
    persona: PersonaOption = None,
    impersonate: Annotated[
        str | None,
        typer.Option("--impersonate", metavar="PERSON", help="In whose style the answer shall be.", show_default=False),
    ] = None,
    now: NowOption = None,
    as_json: JsonOption = False,
) -> int:
    """Print the prompt that would be sent now, with each item's tag, role and size, and what was left out."""
    from agent.cli.opened import complete, load
    from agent.cli.where import Asked

    moment = parse_now(now)
    wanted = _Wanted(Asked(server, channel, person), text, persona, impersonate)
    return complete(_prompt(load(config, data), wanted, moment, as_json=as_json))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Whose prompt is asked for."""

    asked: Asked
    text: str
    persona: str | None
    impersonate: str | None


async def _prompt(loaded: LoadedSettings, wanted: _Wanted, now: datetime | None, *, as_json: bool) -> int:
    from agent.cli.opened import opened_agent
    from agent.cli.where import find_place
    from agent.impersonation.asking import ImpersonationRefused
    from agent.personas.rules import PersonaRefused

    async with opened_agent(loaded, now) as agent:
        spot = await find_place(agent.core.store, wanted.asked)
        try:
            built = await agent.build_prompt(
                spot.server,
                spot.channel,
                spot.author,
                wanted.text,
                persona=wanted.persona,
                impersonate=wanted.impersonate,
            )
        except (PersonaRefused, ImpersonationRefused) as refused:
            raise CallRefused(str(refused)) from None
    if as_json:
        print_json(as_data(built))
    else:
        print_line(as_text(built))
    return OK


def as_data(built: Prompt) -> dict[str, Any]:
    """Return the prompt as data."""
    from agent.turn.budget import estimate_tokens

    items = [
        {
            "tag": item.tag.value,
            "role": item.role.value,
            "section": item.section.value,
            "characters": len(text := item.render()),
            "tokens": estimate_tokens(text),
            "required": item.required,
            "entries": [entry.identity for entry in item.entries],
            "text": text,
        }
        for item in built.items
    ]
    left_out = [{"tag": each.tag.value, "identity": each.identity, "reason": each.reason} for each in built.left_out]
    total = {key: sum(int(str(item[key])) for item in items) for key in ("characters", "tokens")}
    return {"items": items, "left_out": left_out, **total}


def as_text(built: Prompt) -> str:
    """Return the prompt for people to read."""
    data = as_data(built)
    lines: list[str] = []
    for item in data["items"]:
        size = f"{item['characters']} characters, about {item['tokens']} tokens"
        lines.append(f"=== {item['tag']} · {item['role']} · {item['section']} · {size}")
        lines += [printable(item["text"]), ""]
    lines.append(
        f"Total: {data['characters']} characters, about {data['tokens']} tokens in {len(data['items'])} items."
    )
    lines += [
        f"Left out: {each['tag']} {each['identity'] or '(all of it)'}: {each['reason']}" for each in data["left_out"]
    ]
    return "\n".join(lines)
