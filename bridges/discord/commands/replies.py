"""A command's reply as messages of Discord, its text shown as it is: pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agent.catalog import translate
from agent.commands import CommandReply, StepKind
from agent.files import MEBIBYTE, ReplyFile
from agent.fitting import cut
from agent.turn.split import split
from bridges.discord.commands.asked import EPHEMERAL
from bridges.discord.commands.buttons import rows_of
from bridges.discord.escaping import escaped, escaped_length

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
    rows, shown = rows_of(reply.steps), escaped(text)
    if len(shown) <= MESSAGE and not is_paged:
        return (_message(rows, files, content=shown),)
    if len(shown) <= DESCRIPTION:
        return (_message(rows, files, embed={"title": escaped(title), "description": shown}),)
    if not rows and len(parts := _parts(shown)) <= MOST_MESSAGES:
        *first, last = parts
        return (*(_message((), (), content=part) for part in first), _message((), files, content=last))
    whole = ReplyFile("answer.txt", text.encode("utf-8", "replace"), "text/plain")
    beginning = escaped(cut(text, DESCRIPTION, escaped_length))
    return (_message(rows, (*files, whole), embed={"title": escaped(title), "description": beginning}),)


def _parts(shown: str) -> list[str]:
    """Return an escaped text in messages; no backslash is parted from the sign that it stands for."""
    parts = list(split(shown, MESSAGE - 1))
    for number in range(len(parts) - 1):
        part = parts[number]
        if (len(part) - len(part.rstrip("\\"))) % 2:
            parts[number], parts[number + 1] = part[:-1], "\\" + parts[number + 1]
    return parts


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
