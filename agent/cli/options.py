"""The options that several commands share; plugins use them for their own commands."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from agent.cli.errors import CallRefused

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Settings; default ./plugins.toml, else the user's config directory, else built-in defaults.",
        show_default=False,
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        help="Where data is kept; default the user's data directory.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ServerOption = Annotated[
    str | None,
    typer.Option("--server", metavar="SERVER", help="platform:id, or a name that is unique.", show_default="home"),
]
ChannelOption = Annotated[
    str | None,
    typer.Option("--channel", metavar="CHANNEL", help="platform:id, or a name in the server.", show_default="general"),
]
PersonOption = Annotated[
    str | None,
    typer.Option("--as", metavar="PERSON", help="platform:id, or a unique name.", show_default="your user name"),
]
PersonaOption = Annotated[
    str | None,
    typer.Option("--persona", metavar="NAME", help="The persona that answers.", show_default="whom the text calls"),
]
NowOption = Annotated[
    str | None,
    typer.Option("--now", metavar="TIME", help="Act as if it were this moment (ISO 8601).", show_default=False),
]


def parse_now(text: str | None) -> datetime | None:
    """Return the moment of `--now`; without an offset it is UTC.

    Raises:
        CallRefused: it is no moment.
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise CallRefused(f"--now {text[:40]!r} is no moment: expected one like 2026-03-01T20:00:00Z") from None
