"""What a channel scope by name means, once the names are known; pure functions.

Rows that are older than scopes by id bear names of channels, `#general`. Until each of them means exactly one channel
the scope is pending, and counts as empty: such a memory applies everywhere. A scope is settled wholly or not at all,
because half of it would hide a memory where it belongs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from agent.identity.names import normalise

_BY_ID: Final = re.compile(r"<#([^<>\s]{1,255})>")


@dataclass(frozen=True, slots=True)
class KnownChannel:
    """A channel or thread that the agent has seen."""

    external_id: str
    name: str


@dataclass(frozen=True, slots=True)
class Settled:
    """Each name means one channel; without names the scope is empty, and the memory applies everywhere."""

    channel_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Somebody must say what is meant, or more channels must be seen."""

    unknown: tuple[str, ...] = ()
    """Names that no channel bears, as far as is known."""
    ambiguous: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Names that several channels bear, with their ids."""


type Scope = Settled | Waiting


class ChannelNames:
    """The channels of one server by name."""

    def __init__(self, channels: Iterable[KnownChannel]) -> None:
        self._by_name: dict[str, list[str]] = {}
        self._ids: set[str] = set()
        for channel in sorted(channels, key=lambda channel: channel.external_id):
            self._ids.add(channel.external_id)
            if name := bare_name(channel.name):
                self._by_name.setdefault(name, []).append(channel.external_id)

    def settle(self, tags: Sequence[str]) -> Scope:
        """Return the channels that the names of a scope mean, or why that is not known."""
        found: dict[str, None] = {}
        unknown: dict[str, None] = {}
        ambiguous: dict[str, tuple[str, ...]] = {}
        for tag in tags:
            ids = self._bearers(tag)
            if len(ids) == 1:
                found[ids[0]] = None
            elif ids:
                ambiguous[tag] = ids
            else:
                unknown[tag] = None
        if unknown or ambiguous:
            return Waiting(tuple(unknown), MappingProxyType(ambiguous))
        return Settled(tuple(sorted(found)))

    def _bearers(self, tag: str) -> tuple[str, ...]:
        if (mention := _BY_ID.fullmatch(tag.strip())) is not None:
            return (mention[1],) if mention[1] in self._ids else ()
        return tuple(self._by_name.get(bare_name(tag), ()))


def bare_name(name: str) -> str:
    """Return a channel's name in the form in which names are compared, without the `#` before it."""
    return normalise(name.strip().lstrip("#"))
