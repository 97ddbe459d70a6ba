"""`[bridges.relay]`."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from agent.settings import Section

_SERVER: Final = re.compile(r"[A-Za-z0-9.\[\]:-]{1,230}")
_LOCALPART: Final = re.compile(r"[a-z0-9._-]{1,60}")
_PREFIX: Final = re.compile(r"_[a-z0-9._-]{1,30}")


def _address(address: str) -> str:
    """Return an address without its last slash. Raises ValueError for what is none."""
    if address and not address.startswith(("http://", "https://")):
        raise ValueError("expected an address that begins with https:// (or http://)")
    return address.rstrip("/")


def _fits(pattern: re.Pattern[str], expected: str) -> AfterValidator:
    def check(value: str) -> str:
        if not pattern.fullmatch(value):
            raise ValueError(f"expected {expected}")
        return value

    return AfterValidator(check)


class RelaySettings(Section):
    """How rooms of Matrix and channels of another platform are joined, through an application service."""

    homeserver: Annotated[str, AfterValidator(_address), Field(min_length=1)]
    """Where the homeserver answers, as in `https://matrix.example.org`."""
    server_name: Annotated[str, _fits(_SERVER, "a server's name such as example.org")]
    """What its people's ids end with."""
    host: str = "127.0.0.1"
    """Where the homeserver's transactions are awaited: on this machine alone, unless a proxy is elsewhere."""
    port: int = Field(default=9465, ge=0, le=65_535)
    address: Annotated[str, AfterValidator(_address)] = ""
    """How the homeserver reaches that, where it is not `http://HOST:PORT`."""
    localpart: Annotated[str, _fits(_LOCALPART, "lower-case letters, digits, dots, dashes and underscores")] = (
        "isthmus_relay"
    )
    """The account under which the agent itself speaks in linked rooms."""
    prefix: Annotated[str, _fits(_PREFIX, "an underscore, then lower-case letters, digits and underscores")] = (
        "_isthmus_"
    )
    """How the ids of those begin who stand in rooms for people from elsewhere."""
    mirror_people: bool = True
    """Whether rooms see what people say; false: only what the agent and its personas say."""
    bots: tuple[str, ...] = ()
    """Ids of bots whose messages are carried over like people's."""
    file_limit: int = Field(default=8, ge=0, le=100)
    """Mebibytes of a file that is carried over; of larger ones the name is told."""
    avatar_address: Annotated[str, AfterValidator(_address)] = ""
    """Where everybody can load pictures of Matrix, with `{server}` and `{media}` in it; empty: none are shown."""
    kept_days: int = Field(default=90, ge=1, le=3_650)
    """Days for which it is known which messages belong together: so long edits, deletions and answers are carried."""

    @property
    def reachable_at(self) -> str:
        """How the homeserver reaches the relay."""
        return self.address or f"http://{self.host}:{self.port}"
