"""What a deployment may set under `[plugins.message_proxy]`."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from agent.settings import Secret, Section
from agent.settings.model import Texts
from plugins.message_proxy.values import Service


def _origin(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        raise ValueError("expected an address such as https://api.example.org")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("expected an address without a name, a password or a query")
    return text.rstrip("/")


def _name(text: str) -> str:
    if not text.isascii() or not text.replace("-", "").replace("_", "").isalnum() or text != text.lower():
        raise ValueError("expected a name of lower-case letters, digits, - and _")
    return text


def _contact(text: str) -> str:
    if not text.strip() or not text.isascii() or not text.isprintable():
        raise ValueError("expected one line of plain characters, such as https://example.org or mail@example.org")
    return text.strip()


class InstanceSettings(Section):
    """One instance of a service that the operator approves: what it attests is believed."""

    service: Annotated[Service, Field(strict=False)]
    origin: Annotated[str, AfterValidator(_origin)]
    """The address of its API, up to the host: `https://api.example.org`."""
    allow_private_networks: bool = False
    """Whether the address may be of this machine or a private network; plain http is allowed only there."""
    application_id: str | None = None
    """Of the bot that posts for it, where that is certain."""
    prefixes: Texts = ("pk;", "pk!")
    """What its commands begin with."""
    token: Secret | None = None
    """Sent to that address alone."""


class MessageProxySettings(Section):
    """How long messages wait, how services are asked, and which."""

    wait: float = Field(default=2.0, gt=0, le=10)
    """Seconds that a message of somebody who uses a service waits for its repost."""
    lookup_seconds: float = Field(default=5.0, gt=0, le=20)
    """Seconds that finding out who said a message may take, with every repetition."""
    requests_per_second: int = Field(default=8, ge=1, le=8)
    """Requests to one address; the services refuse more than ten."""
    pluralkit_token: Secret | None = None
    """For the official PluralKit; it raises no limit, and without one everything works."""
    pluralbuddy_token: Secret | None = None
    """An OAuth access token for the official PluralBuddy, which answers nobody without one."""
    contact: Annotated[str, AfterValidator(_contact), Field(max_length=200)] | None = None
    """How the operator can be reached, an address or a mail address: services ask for it in every request."""
    instances: dict[Annotated[str, AfterValidator(_name)], InstanceSettings] = Field(default_factory=dict)
    """Further instances by name."""
