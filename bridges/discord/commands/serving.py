"""The commands of one bridge: declared at its start, answered until its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.bridge import BridgeStartFailed
from bridges.discord.commands.declare import DoesNotFit, declare
from bridges.discord.commands.interactions import Interactions
from bridges.discord.commands.options import Options
from bridges.discord.commands.redrawing import Redrawing
from bridges.discord.commands.sync import synchronise

if TYPE_CHECKING:
    from agent.bridge import BridgeHost, State
    from bridges.discord.client import DiscordClient
    from bridges.discord.guilds import Guilds
    from bridges.discord.incoming import Incoming
    from bridges.discord.reading import Reading


class Serving:
    """Serves commands; from its making on it takes what people ask.

    Raises:
        BridgeStartFailed: Discord does not take the commands as they are.
    """

    def __init__(
        self, client: DiscordClient, host: BridgeHost, guilds: Guilds, incoming: Incoming, reading: Reading
    ) -> None:
        try:
            self._declaration = declare(host.commands)
        except DoesNotFit as error:
            raise BridgeStartFailed(f"bridge discord: {error}; rename or switch off what is too much") from error
        self._client = client
        self._interactions = Interactions(host, guilds, Options(client, incoming, reading, host), Redrawing(client))
        client.payloads.asked = self._interactions.take

    async def declare(self, state: State) -> None:
        """Tell Discord of the commands, where they have changed; the client must be ready."""
        await synchronise(self._client, self._declaration, state)

    async def stop(self) -> None:
        """End what is being answered."""
        self._client.payloads.asked = None
        await self._interactions.stop()
