"""Systems, members and proxied messages, and how the API shows them to strangers."""

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

type JSON = dict[str, Any]


@dataclass
class Member:
    name: str
    display_name: str | None = None
    pronouns: str | None = None
    description: str | None = None
    name_is_private: bool = False
    is_private: bool = False
    """Pronouns and description are hidden."""
    hid: str = "abcde"
    uuid: str = field(default_factory=lambda: str(uuid4()))

    def shown(self) -> JSON:
        """Whoever hides the name shows the display name, or, without one, the name all the same."""
        name, display_name = self.name, self.display_name
        if self.name_is_private:
            name, display_name = self.display_name or self.name, None
        return {
            "id": self.hid,
            "uuid": self.uuid,
            "name": name,
            "display_name": display_name,
            "color": None,
            "birthday": None,
            "pronouns": None if self.is_private else self.pronouns,
            "avatar_url": None,
            "description": None if self.is_private else self.description,
            "proxy_tags": [],
            "keep_proxy": False,
            "privacy": None,
        }


@dataclass
class System:
    name: str
    accounts: set[str] = field(default_factory=set)
    members: list[Member] = field(default_factory=list)
    name_is_private: bool = False
    uuid: str = field(default_factory=lambda: str(uuid4()))

    def member(self, name: str, **shown: Any) -> Member:
        made = Member(name, **shown)
        self.members.append(made)
        return made

    def shown(self) -> JSON:
        return {
            "id": "exmpl",
            "uuid": self.uuid,
            "name": None if self.name_is_private else self.name,
            "description": None,
            "tag": "| " + self.name,
            "pronouns": None,
            "avatar_url": None,
            "created": "2020-01-01T00:00:00Z",
            "privacy": None,
        }


@dataclass
class Proxied:
    """A row of the messages table."""

    message_id: str
    original_id: str | None
    sender: str
    channel: str
    guild: str | None
    system: System | None
    member: Member | None

    def shown(self) -> JSON:
        return {
            "timestamp": "2026-01-01T00:00:00Z",
            "id": self.message_id,
            "original": self.original_id or "",
            "sender": self.sender,
            "channel": self.channel,
            "guild": self.guild,
            "system": self.system and self.system.shown(),
            "member": self.member and self.member.shown(),
        }
