"""A command's reply as messages of Discord: pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agent.catalog import translate
from agent.commands import CommandReply, StepKind
from agent.files import MEBIBYTE, ReplyFile
from agent.text import clip
from agent.turn.split import split
from bridges.discord.commands.asked import EPHEMERAL
from bridges.discord.commands.buttons import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

MESSAGE: Final = 2_000
DESCRIPTION: Final = 4_096
MOST_MESSAGES: Final = 5
"""Messages of one reply; what is longer comes as a file."""
_PAGED: Final = frozenset({StepKind.NEXT, StepKind.PREVIOUS})


@dataclass(frozen=True, slots=True)
class Drawn:
    """One message: its body without flags, and its files."""

    body: Mapping[str, Any]
    files: tuple[ReplyFile, ...] = ()


def drawn(reply: CommandReply, title: str, locale: str, upload_limit: int) -> tuple[Drawn, ...]:
    """Return a reply as messages, at least one; every one says all of its parts, so that it can replace another.

    Args:
        reply: What a command answers.
        title: Stands above a list.
        locale: The language of what is said about files.
        upload_limit: Bytes of a file that Discord takes here.

    """
    text, files = reply.text.strip(), () if reply.file is None else (reply.file,)
    if any(len(file.content) > upload_limit for file in files):
        limit = f"{upload_limit // MEBIBYTE} MiB"
        files = ()
        text = f"{text}\n{translate(locale, 'The file is larger than the {limit} that Discord takes.', limit=limit)}"
    if not text and not files:
        text = translate(locale, "Done.")
    is_paged = any(step.kind in _PAGED for step in reply.steps)
    rows = rows_of(reply.steps)
    if len(text) <= MESSAGE and not is_paged:
        return (_message(rows, files, content=text),)
    if len(text) <= DESCRIPTION:
        return (_message(rows, files, embed={"title": title, "description": text}),)
    if not rows and len(parts := split(text, MESSAGE)) <= MOST_MESSAGES:
        *first, last = parts
        return (*(_message((), (), content=part) for part in first), _message((), files, content=last))
    whole = ReplyFile("answer.txt", text.encode(), "text/plain")
    return (_message(rows, (*files, whole), embed={"title": title, "description": clip(text, DESCRIPTION)}),)


def hidden(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message that only one person sees."""
    return {**body, "flags": EPHEMERAL}


def _message(
    rows: Any, files: tuple[ReplyFile, ...], *, content: str = "", embed: Mapping[str, Any] | None = None
) -> Drawn:
    body = {
        "content": content,
        "embeds": [] if embed is None else [embed],
        "components": list(rows),
        "allowed_mentions": {"parse": []},
    }
    return Drawn(body, files)
