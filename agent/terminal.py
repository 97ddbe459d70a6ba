"""The terminal as a place: how its servers, channels and people are named, and where somebody is.

Ids are made of names (architecture.md, Places and rights): server `home`, channel `home/general`, thread
`home/general/plans`, person `ana`, and `@ana` for the direct conversation with ana.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.places import ChannelRef, ServerKind, ServerRef, Visibility
from agent.text import clean, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

PLATFORM: Final = "console"
DEFAULT_SERVER: Final = "home"
DEFAULT_CHANNEL: Final = "general"
MAX_NAME: Final = 80
"""Characters of a name of a person or place."""


class NameRefused(ValueError):
    """A name that no person or place of the terminal can have; the text says why."""


def person_name(text: str) -> str:
    """Return the name of a person as typed, without a leading `@`.

    Raises:
        NameRefused: nothing is left of it, or it is too long.
    """
    return _name(text.strip().removeprefix("@"), "name of a person")


def server_name(text: str) -> str:
    """Return the name of a server as typed.

    Raises:
        NameRefused: it is empty, too long, or holds what ids are made of.
    """
    return _place_name(text, "name of a server")


def channel_name(text: str) -> str:
    """Return the name of a channel or thread as typed, without a leading `#`.

    Raises:
        NameRefused: it is empty, too long, or holds what ids are made of.
    """
    return _place_name(text.strip().removeprefix("#"), "name of a channel")


def id_of(name: str) -> str:
    """Return the id that a name stands for: letter case, width and runs of spaces make no difference."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def person(name: str) -> Author:
    """Return who is called so; in the terminal everyone may manage."""
    return Author(ParticipantKind.CONSOLE_USER, id_of(name), name, username=id_of(name), can_manage=True)


def system_user(environ: Mapping[str, str]) -> str:
    """Return the name of whoever sits at the terminal, by the environment, else by the system's user list."""
    import getpass

    found = next((environ[key] for key in ("LOGNAME", "USER", "LNAME", "USERNAME") if environ.get(key)), "")
    try:
        return person_name(found or getpass.getuser())
    except (NameRefused, OSError, KeyError):  # a container's user may have no name at all
        return "you"


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Who speaks in the terminal, and where."""

    speaker: str
    server: str = DEFAULT_SERVER
    channel: str = DEFAULT_CHANNEL
    thread: str | None = None
    direct: bool = False
    """In the direct conversation of the speaker with the agent; server and channel are kept for coming back."""

    @property
    def author(self) -> Author:
        """Return who speaks."""
        return person(self.speaker)

    @property
    def server_ref(self) -> ServerRef:
        """Return the server, or the direct conversation that stands for one."""
        if self.direct:
            return ServerRef(PLATFORM, f"@{id_of(self.speaker)}", f"@{self.speaker}", ServerKind.DIRECT)
        return ServerRef(PLATFORM, id_of(self.server), self.server)

    @property
    def channel_ref(self) -> ChannelRef:
        """Return the channel or thread."""
        if self.direct:
            return ChannelRef(f"@{id_of(self.speaker)}", f"@{self.speaker}", Visibility.DIRECT)
        channel = f"{id_of(self.server)}/{id_of(self.channel)}"
        if self.thread is None:
            return ChannelRef(channel, self.channel)
        return ChannelRef(
            f"{channel}/{id_of(self.thread)}",
            self.thread,
            parent_external_id=channel,
            parent_name=self.channel,
        )

    def spoken_by(self, name: str) -> Whereabouts:
        """Return the same place with another speaker."""
        return replace(self, speaker=person_name(name))

    def in_server(self, name: str) -> Whereabouts:
        """Return that server's default channel."""
        return replace(self, server=server_name(name), channel=DEFAULT_CHANNEL, thread=None, direct=False)

    def in_channel(self, name: str) -> Whereabouts:
        """Return that channel of the present server."""
        return replace(self, channel=channel_name(name), thread=None, direct=False)

    def in_thread(self, name: str | None) -> Whereabouts:
        """Return that thread of the present channel; None leaves the thread."""
        return replace(self, thread=None if name is None else channel_name(name), direct=False)

    def in_direct(self) -> Whereabouts:
        """Return the speaker's direct conversation."""
        return replace(self, thread=None, direct=True)

    def __str__(self) -> str:
        """Return the place as it is shown."""
        return shown_place(self.server_ref, self.channel_ref)


def shown_place(server: ServerRef, channel: ChannelRef) -> str:
    """Return a place as it is shown: `home #general`, `home #general > plans`, or `@ana`."""
    if server.kind is ServerKind.DIRECT:
        return server.name
    if channel.parent_name is None:
        return f"{server.name} #{channel.name}"
    return f"{server.name} #{channel.parent_name} > {channel.name}"


def _place_name(text: str, what: str) -> str:
    name = _name(text, what)
    if "/" in name or name.startswith("@"):
        raise NameRefused(f"a {what} cannot hold “/” or begin with “@”")
    return name


def _name(text: str, what: str) -> str:
    name = one_line(clean(text)).strip()
    if not id_of(name):
        raise NameRefused(f"a {what} cannot be empty")
    if len(name) > MAX_NAME:
        raise NameRefused(f"a {what} has at most {MAX_NAME} characters, this one {len(name)}")
    return name
