"""How each service is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.message_proxy import pluralbuddy, pluralkit
from plugins.message_proxy.values import Failed, Service

if TYPE_CHECKING:
    from plugins.message_proxy.asking import Asker
    from plugins.message_proxy.finding import Adapter
    from plugins.message_proxy.values import Lookup


class PluralKit:
    """An instance of PluralKit."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def message(self, message_id: str) -> Lookup:
        """Ask once about a message."""
        return pluralkit.read_message(await self._asker.get(pluralkit.message_path(message_id)))

    async def system(self, account_id: str) -> str | Failed | None:
        """Ask once which system an account has."""
        return pluralkit.read_system(await self._asker.get(pluralkit.system_path(account_id)))

    async def close(self) -> None:
        """Let go of the connections."""
        await self._asker.close()


class PluralBuddy:
    """An instance of PluralBuddy."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def message(self, message_id: str) -> Lookup:
        """Ask once about a message."""
        return pluralbuddy.read_message(await self._asker.get(pluralbuddy.message_path(message_id)))

    async def system(self, account_id: str) -> str | Failed | None:
        """Return the account itself: it is the key of its system."""
        return account_id

    async def close(self) -> None:
        """Let go of the connections."""
        await self._asker.close()


def adapter_for(service: Service, asker: Asker) -> Adapter:
    """Return how an instance of a service is asked."""
    return PluralKit(asker) if service is Service.PLURALKIT else PluralBuddy(asker)
