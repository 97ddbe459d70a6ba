"""`[bridges.discord]`."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from agent.settings import Section
from agent.settings.model import Texts
from agent.settings.secrets import Secret

API_BASE = "https://discord.com/api/v10"
CDN_BASE = "https://cdn.discordapp.com"


def _base(address: str) -> str:
    """Return an address without its last slash. Raises ValueError for what is none."""
    if not address.startswith(("http://", "https://")):
        raise ValueError("expected an address that begins with http:// or https://")
    return address.rstrip("/")


class DiscordSettings(Section):
    """How the agent is reached in Discord."""

    token: Secret
    """Of the bot, as in `env:DISCORD_TOKEN`."""
    api_base: Annotated[str, AfterValidator(_base)] = API_BASE
    """Where the API is: of Discord, or of a server that speaks as it does."""
    cdn_base: Annotated[str, AfterValidator(_base)] = CDN_BASE
    """Where pictures are."""
    message_content: bool = True
    """Whether it reads messages that do not mention it: for trigger words, auto channels and history."""
    members: bool = True
    """Whether it knows who is in a server before they speak."""
    status: Annotated[str, Field(max_length=128)] = ""
    """What its presence says; empty: nothing."""
    allowed_bots: Texts = ()
    """Ids of bots and webhooks that are answered like people."""
    ready_seconds: float = Field(default=2.0, ge=0, le=60)
    """Seconds of silence after which the list of servers counts as complete."""
