"""`[bridges.matrix]`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, model_validator

from agent.settings import Section
from agent.settings.model import Texts
from agent.settings.secrets import Secret

USER: Final = re.compile(r"@[^:\x00\s]{1,200}:[^\s/]{1,200}")


def _address(address: str) -> str:
    """Return an address without its last slash. Raises ValueError for what is none."""
    if not address.startswith(("http://", "https://")):
        raise ValueError("expected an address that begins with https:// (or http://)")
    return address.rstrip("/")


def _user(user: str) -> str:
    if not USER.fullmatch(user):
        raise ValueError("expected a whole Matrix id such as @isthmus:example.org")
    return user


class Invitations(Section):
    """Whose invitations are accepted; one that fits any list is. All others are declined."""

    everybody: bool = False
    """Whether every invitation is accepted."""
    servers: Texts = ()
    """Homeservers whose people may invite the agent, as in `example.org`."""
    people: Texts = ()
    """People who may invite it, as in `@ana:example.org`."""
    rooms: Texts = ()
    """Ids of rooms and spaces that it joins, whoever invites it."""


class MatrixSettings(Section):
    """How the agent is reached in Matrix."""

    homeserver: Annotated[str, AfterValidator(_address)]
    """Where the agent's homeserver answers, as in `https://matrix.example.org`."""
    user: Annotated[str, AfterValidator(_user)]
    """The agent's whole id, as in `@isthmus:example.org`."""
    password: Secret | None = None
    """Of the account: used to log in once, and again when the session is ended."""
    access_token: Secret | None = None
    """Of a session that was begun elsewhere, instead of the password."""
    device_name: Annotated[str, Field(min_length=1, max_length=100)] = "Isthmus"
    """How its session is called among the account's devices."""
    invitations: Invitations = Invitations()
    encryption: bool = True
    """Whether it takes part in encrypted rooms."""
    store: Annotated[Path | None, Field(strict=False)] = None
    """The directory of its encryption keys; by default below the data directory."""
    command_prefix: Annotated[str, Field(min_length=1, max_length=3)] = "!"
    """What a command begins with, as in `!memories list`."""
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}([_-][A-Za-z]+)?$")] = "en"
    """In which language it explains commands and says why it cannot read or join something."""
    allowed_bots: Texts = ()
    """People whose notices are answered like messages."""
    message_limit: int = Field(default=16_000, ge=1_000, le=20_000)
    """Bytes of one message; longer answers are split."""
    file_limit: int = Field(default=50, ge=1, le=1_000)
    """Mebibytes of a file that is read."""

    @model_validator(mode="after")
    def _has_credentials(self) -> Self:
        if self.password is None and self.access_token is None:
            raise ValueError('needs password (as in "env:MATRIX_PASSWORD") or access_token')
        return self
