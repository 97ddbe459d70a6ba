"""What somebody asks of the agent with a command, a menu, a button or a form: Discord's payload, read."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

from bridges.discord.people import author_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agent.events import Author

type Payload = Mapping[str, Any]

EPHEMERAL: Final = 1 << 6
MANAGES: Final = 1 << 5 | 1 << 3
"""Manage Server, or Administrator."""
_NESTED: Final = frozenset({1, 2})
_UPLOAD: Final = 10 * 1024 * 1024


class Kind(IntEnum):
    """What is asked."""

    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    FORM = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """One interaction."""

    interaction_id: str
    application_id: str
    token: str = field(repr=False)
    kind: int
    channel_id: int
    guild_id: int | None
    author: Author
    locale: str
    """Of whoever asks."""
    server_locale: str
    """Of the server, for what everybody sees; in a direct message of whoever asks."""
    data: Payload = field(repr=False)
    message: Payload | None = field(default=None, repr=False)
    """The message whose button was pressed."""
    upload_limit: int = _UPLOAD
    """Bytes of a file that may go with an answer."""

    @property
    def given(self) -> tuple[Payload, ...]:
        """Return the options of the command itself, without those that only name the words of its path."""
        options = tuple(self.data.get("options") or ())
        while options and options[0]["type"] in _NESTED:
            options = tuple(options[0].get("options") or ())
        return options

    @property
    def path(self) -> tuple[str, ...]:
        """Return the words of the command."""
        return tuple(self._words())

    def _words(self) -> Iterator[str]:
        yield str(self.data.get("name") or "")
        options = self.data.get("options") or ()
        while options and options[0]["type"] in _NESTED:
            yield str(options[0]["name"])
            options = options[0].get("options") or ()

    @property
    def is_shown_to_one(self) -> bool:
        """Tell whether only whoever asks sees the message whose button was pressed."""
        return bool(int((self.message or {}).get("flags") or 0) & EPHEMERAL)

    @property
    def asked_first(self) -> str | None:
        """Return who ran the command that the message answers; None when it answers none."""
        user = ((self.message or {}).get("interaction_metadata") or {}).get("user") or {}
        return str(user["id"]) if "id" in user else None


def read(payload: Payload) -> Asked:
    """Return an interaction; whoever asks in a direct message manages that conversation."""
    member = payload.get("member") or {}
    guild_id = payload.get("guild_id")
    can_manage = guild_id is None or bool(int(member.get("permissions") or 0) & MANAGES)
    return Asked(
        interaction_id=str(payload["id"]),
        application_id=str(payload["application_id"]),
        token=str(payload["token"]),
        kind=int(payload["type"]),
        channel_id=int(payload.get("channel_id") or (payload.get("channel") or {}).get("id") or 0),
        guild_id=int(guild_id) if guild_id else None,
        author=author_of(member.get("user") or payload["user"], member, can_manage=can_manage),
        locale=str(payload.get("locale") or "en"),
        server_locale=str(payload.get("guild_locale") or payload.get("locale") or "en"),
        data=payload.get("data") or {},
        message=payload.get("message"),
        upload_limit=int(payload.get("attachment_size_limit") or _UPLOAD),
    )
