"""Which channels this process has seen, and under which names: plugins are told of new ones and of new names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cachetools import LRUCache

if TYPE_CHECKING:
    from agent.places import Place

_CHANNELS: Final = 20_000
"""Channels that are remembered; one that was pushed out counts as new when it is seen again."""


class SeenChannels:
    """The last name of each channel, and of the one that a thread hangs below."""

    def __init__(self, size: int = _CHANNELS) -> None:
        self._names: LRUCache[int, tuple[str, str | None]] = LRUCache(size)

    def is_news(self, place: Place) -> bool:
        """Tell whether a channel, its name or its parent's is new to this process; from then on it is not."""
        channel = place.channel
        names = (channel.ref.name, channel.ref.parent_name)
        known = self._names.get(channel.channel_id)
        self._names[channel.channel_id] = names
        return known != names
