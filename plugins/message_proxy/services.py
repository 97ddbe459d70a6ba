"""The services that are known, and their official instances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from plugins.message_proxy.values import Descriptor, Service

if TYPE_CHECKING:
    from agent.settings import Secret
    from plugins.message_proxy.settings import MessageProxySettings

DESCRIPTORS: Final = {
    Service.PLURALKIT: Descriptor(Service.PLURALKIT, "PluralKit", attests=True, names_original=True),
    Service.PLURALBUDDY: Descriptor(Service.PLURALBUDDY, "PluralBuddy", attests=True, bearer=True),
    Service.TUPPERBOX: Descriptor(Service.TUPPERBOX, "Tupperbox", attests=False),
}


@dataclass(frozen=True, slots=True)
class Approved:
    """An instance that the operator lets the agent ask."""

    name: str
    descriptor: Descriptor
    origin: str
    application_id: str | None
    prefixes: tuple[str, ...]
    allow_private_networks: bool = False
    token: Secret | None = None


def approved(settings: MessageProxySettings) -> tuple[Approved, ...]:
    """Return the official instances and the operator's own, by name."""
    official = {
        "pluralkit": Approved(
            "pluralkit",
            DESCRIPTORS[Service.PLURALKIT],
            "https://api.pluralkit.me",
            "466378653216014359",
            ("pk;", "pk!", "<@466378653216014359>", "<@!466378653216014359>"),
            token=settings.pluralkit_token,
        ),
        "tupperbox": Approved(
            "tupperbox", DESCRIPTORS[Service.TUPPERBOX], "", "431544605209788416", ("tul!", "tupperbox!")
        ),
    }
    if settings.pluralbuddy_token is not None:
        official["pluralbuddy"] = Approved(
            "pluralbuddy",
            DESCRIPTORS[Service.PLURALBUDDY],
            "https://pb.giftedly.dev",
            None,
            ("pb;", "pb!"),
            token=settings.pluralbuddy_token,
        )
    own = {
        name: Approved(
            name,
            DESCRIPTORS[one.service],
            one.origin,
            one.application_id,
            one.prefixes,
            one.allow_private_networks,
            one.token,
        )
        for name, one in settings.instances.items()
    }
    return tuple((official | own).values())
