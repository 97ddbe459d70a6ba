"""The real nextcord client, in which the gateway's payloads of messages stay whole and in order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import nextcord
from nextcord.state import AutoShardedConnectionState

from agent import logs

log = logs.get_logger(__name__)

type Sink = Callable[[str, Mapping[str, Any]], None]
"""Takes the kind of a gateway event and its payload; must return at once."""


class PayloadState(AutoShardedConnectionState):
    """Hands over the payloads of messages as they come.

    nextcord's own events run in tasks of their own, so that their order is not promised, and its values leave out what
    tells who posted through a webhook (`application_id`).
    """

    sink: Sink | None = None

    def _hand(self, kind: str, data: Mapping[str, Any]) -> None:
        if self.sink is not None:
            self.sink(kind, data)

    def parse_message_create(self, data: Any) -> None:
        """Hand over a new message."""
        self._hand("MESSAGE_CREATE", data)

    def parse_message_update(self, data: Any) -> None:
        """Hand over an edit."""
        self._hand("MESSAGE_UPDATE", data)

    def parse_message_delete(self, data: Any) -> None:
        """Hand over a deletion."""
        self._hand("MESSAGE_DELETE", data)

    def parse_message_delete_bulk(self, data: Any) -> None:
        """Hand over deletions at once."""
        self._hand("MESSAGE_DELETE_BULK", data)

    def parse_message_reaction_add(self, data: Any) -> None:
        """Hand over a reaction."""
        self._hand("MESSAGE_REACTION_ADD", data)


class DiscordClient(nextcord.AutoShardedClient):
    """A client without commands of its own: what it hears goes to the bridge."""

    def __init__(
        self, *, intents: nextcord.Intents, ready_seconds: float, activity: nextcord.BaseActivity | None
    ) -> None:
        super().__init__(
            intents=intents,
            max_messages=None,
            guild_ready_timeout=ready_seconds,
            allowed_mentions=nextcord.AllowedMentions.none(),
            activity=activity,
            rollout_associate_known=False,
            rollout_delete_unknown=False,
            rollout_register_new=False,
            rollout_update_known=False,
        )

    def _get_state(self, **options: Any) -> PayloadState:  # type: ignore[override]  # nextcord passes them by name
        return PayloadState(
            dispatch=self.dispatch,
            handlers=self._handlers,
            hooks=self._hooks,
            http=self.http,
            loop=self.loop,
            **options,
        )

    @property
    def payloads(self) -> PayloadState:
        """Return where payloads are handed over."""
        state = self._connection
        if not isinstance(state, PayloadState):
            raise TypeError("nextcord did not take the state that it was given")
        return state

    async def on_error(self, event_method: str, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002  # nextcord's form
        """Log what an event's handler raised."""
        log.error("discord_event_failed", event_name=event_method, exc_info=sys.exception())


def intents_for(*, message_content: bool, members: bool) -> nextcord.Intents:
    """Return the intents that are asked for, and no others."""
    intents = nextcord.Intents.none()
    intents.guilds = True
    intents.guild_messages = True
    intents.dm_messages = True
    intents.guild_reactions = True
    intents.dm_reactions = True
    intents.message_content = message_content
    intents.members = members
    return intents


def use_bases(api_base: str, cdn_base: str) -> None:
    """Point nextcord, its webhooks and its interactions included, at an API; they have one address a process."""
    nextcord.http.Route.BASE = api_base
    nextcord.asset.Asset.BASE = cdn_base
