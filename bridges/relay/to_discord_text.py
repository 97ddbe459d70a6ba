"""What somebody says in a room, as a channel shows it and as the core takes it. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agent.events import Attachment
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.markup.markdown import escaped, to_markdown
from agent.text import clean
from bridges.matrix.rules.content import mentioned_in, profile_name, said_in
from bridges.matrix.rules.values import Json, text
from bridges.relay.names import Names

_PERSON: Final = re.compile(r"<@(@[^<>\s]{1,255})>")
_HTML: Final = "org.matrix.custom.html"
_NAME_LIMIT: Final = 80

type Shown = Callable[[str], str]
"""Returns the name of somebody in the room, by id."""


@dataclass(frozen=True, slots=True)
class Carried:
    """One message on its way to a channel."""

    shown: str
    """As the channel shows it: Markdown, those of the other side mentioned as `<@ID>`."""
    pinged: tuple[ParticipantKey, ...]
    """Whom of the other side it may ping: those whom its sender has marked."""
    text: str
    """As the core takes it."""
    mentions: tuple[ParticipantKey, ...]
    mentions_agent: bool
    attachments: tuple[Attachment, ...] = ()
    """With addresses of Matrix."""
    extras: tuple[str, ...] = ()


def carried(
    kind: str, content: Json, names: Names, shown: Shown, speaker: str, *, is_reply: bool, agent_id: str
) -> Carried:
    """Return a message of a room.

    Args:
        kind: The type of its event.
        content: What it holds; for an edit its `m.new_content`.
        names: The relay's users.
        shown: Names those in the room.
        speaker: The name of whoever says it.
        is_reply: Whether it names a message that it answers.
        agent_id: The agent's own id on the other side.

    """
    said = said_in(kind, content, speaker, is_reply=is_reply)
    mentioned = mentioned_in(content, said.text)
    keys = tuple(_key(each, names) for each in mentioned if not names.is_agent(each))
    pinged = tuple(key for key in keys if key.kind is ParticipantKind.DISCORD_USER)
    here = _PERSON.sub(lambda found: f"<@{names.person_of(found[1]) or found[1]}>", said.text)
    return Carried(
        shown=_shown(content, said.text, names, shown),
        pinged=pinged,
        text=_PERSON.sub(lambda found: f"<@{agent_id}>" if names.is_agent(found[1]) else found[0], here),
        mentions=keys,
        mentions_agent=any(map(names.is_agent, mentioned)),
        attachments=said.attachments,
        extras=said.extras,
    )


def guise_name(name: str, user_id: str, *, is_apart: bool) -> str:
    """Return the name under which somebody speaks on the other side, of at most 80 characters.

    Where somebody else has the name (`is_apart`), the id stands behind it and stays whole for as long as it fits; a
    longer one keeps its beginning, its end and a part of neither's digits that another id does not share.
    """
    suffix = f" ({user_id})"
    if not is_apart and not name.endswith(suffix):
        return name[:_NAME_LIMIT]
    bare = name.removesuffix(suffix)
    if len(suffix) > _NAME_LIMIT - 20:
        import hashlib

        digest = hashlib.sha256(user_id.encode("utf-8", "replace")).hexdigest()[:6]
        suffix = f" ({user_id[:24]}…{user_id[-20:]} {digest})"
    return bare[: _NAME_LIMIT - len(suffix)] + suffix


def _key(user_id: str, names: Names) -> ParticipantKey:
    person = names.person_of(user_id)
    if person is not None:
        return ParticipantKey(ParticipantKind.DISCORD_USER, person)
    return ParticipantKey(ParticipantKind.MATRIX_USER, user_id)


def _shown(content: Json, said: str, names: Names, shown: Shown) -> str:
    def named(user_id: str, _label: str = "") -> str:
        person = names.person_of(user_id)
        return f"<@{person}>" if person is not None else f"@{escaped(shown(user_id))}"

    formatted = clean(text(content.get("formatted_body")))
    if content.get("format") == _HTML and formatted and said:
        made = to_markdown(formatted, named)
        name = profile_name(content)
        made = made.removeprefix(f"**{name}:** ").removeprefix(f"**{name}**: ") if name else made
    else:
        pieces = _PERSON.split(said)  # texts and ids take turns
        made = "".join(named(piece) if number % 2 else escaped(piece) for number, piece in enumerate(pieces))
    if content.get("msgtype") == "m.emote" and made:
        words = to_markdown(formatted, named) if formatted else escaped(clean(text(content.get("body"))))
        return f"*{words}*" if "\n" not in words else words
    return made
