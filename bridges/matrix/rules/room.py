"""A room as its state tells: who is in it, who may do what, who can read it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from bridges.matrix.rules.values import Json, table, text, texts, whole

MANAGE: Final = 50
"""The power level from which on somebody manages a room or space (architecture.md, Places and rights)."""
INFINITE: Final = 2**62
CREATORS_REIGN: Final = 12
"""From this room version on the creators stand above every power level."""
_HEROES: Final = 3
_ALIAS: Final = re.compile(r"#[^:\s]{1,250}:[^\s]{1,250}")


@dataclass(slots=True)
class Room:
    """One room's current state; `take` is all that changes it."""

    room_id: str
    state: dict[tuple[str, str], Json] = field(default_factory=dict)
    """State events by type and key."""
    names: dict[str, str] | None = None
    """What `shown_names` found, until a member changes."""

    def take(self, event: Json) -> None:
        """Take a state event; anything else is left alone."""
        kind, key = event.get("type"), event.get("state_key")
        if isinstance(kind, str) and isinstance(key, str):
            self.state[kind, key] = event
            if kind == "m.room.member":
                self.names = None

    def event(self, kind: str, key: str = "") -> Json:
        """Return a state event; an empty one when there is none."""
        return self.state.get((kind, key), {})

    def content(self, kind: str, key: str = "") -> Json:
        """Return what a state event holds; nothing when there is none."""
        return table(self.event(kind, key).get("content"))

    def keys(self, kind: str) -> tuple[str, ...]:
        """Return the keys under which there is state of one type."""
        return tuple(key for each, key in self.state if each == kind)

    @property
    def version(self) -> int:
        """The room version; 1 where it is not told or not a number."""
        told = text(self.content("m.room.create").get("room_version"))
        return int(told) if told.isascii() and told.isdigit() else 1

    @property
    def is_space(self) -> bool:
        """Whether this is a space."""
        return self.content("m.room.create").get("type") == "m.space"

    @property
    def is_encrypted(self) -> bool:
        """Whether messages are encrypted; that is never switched off again."""
        return ("m.room.encryption", "") in self.state

    @property
    def join_rule(self) -> str:
        """Who may join; `invite` where it is not told."""
        return text(self.content("m.room.join_rules").get("join_rule")) or "invite"

    @property
    def history_visibility(self) -> str:
        """Who can read what was said before they came; `shared` where it is not told."""
        return text(self.content("m.room.history_visibility").get("history_visibility")) or "shared"

    @property
    def replacement(self) -> str:
        """The room that has taken this one's place; empty when none has."""
        return text(self.content("m.room.tombstone").get("replacement_room"))

    @property
    def predecessor(self) -> str:
        """The room whose place this one says to have taken; empty when none."""
        return text(table(self.content("m.room.create").get("predecessor")).get("room_id"))

    def membership(self, user_id: str) -> str:
        """Return somebody's membership: `join`, `invite`, `leave`, `ban` or `knock`."""
        return text(self.content("m.room.member", user_id).get("membership")) or "leave"

    def members(self, *memberships: str) -> tuple[str, ...]:
        """Return the ids of those with one of the memberships, in order of the ids."""
        return tuple(sorted(each for each in self.keys("m.room.member") if self.membership(each) in memberships))

    def display_name(self, user_id: str) -> str:
        """Return the name that somebody has chosen for this room; the id where there is none."""
        return text(self.content("m.room.member", user_id).get("displayname")).strip() or user_id

    def power(self, user_id: str) -> int:
        """Return somebody's power level; creators of a room of version 12 or later stand above all."""
        create = self.event("m.room.create")
        content = table(create.get("content"))
        creator = text(create.get("sender"))
        if self.version >= CREATORS_REIGN and user_id in {creator, *texts(content.get("additional_creators"))}:
            return INFINITE
        if ("m.room.power_levels", "") not in self.state:
            return 100 if user_id in {creator, text(content.get("creator"))} and user_id else 0
        levels = self.content("m.room.power_levels")
        users = table(levels.get("users"))
        return _level(users[user_id] if user_id in users else levels.get("users_default"))

    def manages(self, user_id: str) -> bool:
        """Tell whether somebody manages this room or space."""
        return self.power(user_id) >= MANAGE


def _level(value: Any) -> int:
    """Return a power level; old rooms may hold it as a text."""
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d{1,18}\s*", value, re.ASCII):
        return int(value)
    return whole(value)


def shown_names(room: Room) -> dict[str, str]:
    """Return the names of everybody who has joined or is invited; equal ones get their id behind them."""
    if room.names is None:
        room.names = disambiguated({user: room.display_name(user) for user in room.members("join", "invite")})
    return room.names


def disambiguated(names: dict[str, str]) -> dict[str, str]:
    """Return names that are unique, by id: `Name (@id:server)` where several bear the same one.

    A name that looks like another's id is told apart as well.
    """
    bearers: dict[str, int] = {}
    for name in names.values():
        bearers[name] = bearers.get(name, 0) + 1
    return {
        user: f"{name} ({user})" if name != user and (bearers[name] > 1 or name in names) else name
        for user, name in names.items()
    }


def shown_name(room: Room, user_id: str) -> str:
    """Return the name of one person as `shown_names` tells it; of somebody who has left, with the id behind it."""
    if (name := shown_names(room).get(user_id)) is not None:
        return name
    name = room.display_name(user_id)
    return name if name == user_id else f"{name} ({user_id})"


def room_name(room: Room, agent_id: str) -> str:
    """Return how a room is called: its name, its main address, else whoever is in it."""
    if name := text(room.content("m.room.name").get("name")).strip():
        return name
    alias = text(room.content("m.room.canonical_alias").get("alias"))
    if _ALIAS.fullmatch(alias):
        return alias
    others = [user for user in room.members("join", "invite") if user != agent_id]
    if not others:
        return room.room_id
    names = shown_names(room)
    heroes = [names[user] for user in others[:_HEROES]]
    more = len(others) - len(heroes)
    return ", ".join([*heroes, f"+{more}"] if more else heroes)


def is_direct(room: Room, agent_id: str, *, is_marked: bool) -> bool:
    """Tell whether a room is a direct conversation: marked as one, and nobody but the two is in it or invited."""
    if not is_marked or room.is_space:
        return False
    return len([user for user in room.members("join", "invite") if user != agent_id]) <= 1
