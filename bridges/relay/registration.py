"""What the homeserver must know of the relay: ids and tokens, in the form of a registration file."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from agent.redaction import remember_secret

if TYPE_CHECKING:
    from agent.bridge import State
    from bridges.relay.names import Names
    from bridges.relay.settings import RelaySettings

_AS: Final = "token:as"
_HS: Final = "token:hs"


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the two sides prove themselves with."""

    to_homeserver: str = field(repr=False)
    """The relay's, `as_token`."""
    from_homeserver: str = field(repr=False)
    """The homeserver's, `hs_token`."""

    @classmethod
    def fresh(cls) -> Tokens:
        """Return new ones."""
        return cls(secrets.token_urlsafe(48), secrets.token_urlsafe(48))


async def kept_tokens(state: State) -> Tokens | None:
    """Return the tokens that were made; None when none were.

    Raises:
        agent.settings.errors.SecretError: the key that they are encrypted with is lost.
    """
    mine, theirs = await state.get(_AS), await state.get(_HS)
    if mine is None or theirs is None:
        return None
    remember_secret(mine)
    remember_secret(theirs)
    return Tokens(mine, theirs)


async def keep_tokens(state: State, tokens: Tokens) -> None:
    """Keep tokens, encrypted."""
    await state.put({_AS: tokens.to_homeserver, _HS: tokens.from_homeserver}, secret=True)


def registration(settings: RelaySettings, names: Names, tokens: Tokens) -> str:
    """Return the registration file, in YAML."""
    values = {
        "id": f"isthmus-{names.localpart}",
        "url": settings.reachable_at,
        "as_token": tokens.to_homeserver,
        "hs_token": tokens.from_homeserver,
        "sender_localpart": names.localpart,
    }
    lines = [
        "# Lets Isthmus join rooms of this homeserver with channels elsewhere. It holds secrets.",
        *(f"{key}: {json.dumps(value)}" for key, value in values.items()),
        "rate_limited: false",
        "namespaces:",
        "  users:",
        "    - exclusive: true",
        f"      regex: {json.dumps(f'^{names.pattern}$')}",
        "    - exclusive: true",
        f"      regex: {json.dumps(f'^{re.escape(names.agent)}$')}",
        "  aliases: []",
        "  rooms: []",
    ]
    return "\n".join(lines) + "\n"
