"""What those who manage a server decide about memories there; the switches hold with the privacy plugin off, too."""

from __future__ import annotations

from typing import Final

from agent.catalog import N_
from agent.preferences import Preference

PERSONAL_MEMORIES: Final = Preference(
    "privacy.personal_memories",
    default=True,
    description=N_("Whether personal memories are saved and shown in this server."),
)
"""Checked with every write and read (`agent/privacy/check.py`); the database's functions know its key."""
MEMBER_ACCESS: Final = Preference(
    "privacy.member_access",
    default=False,
    description=N_("Whether everybody in this server may list its memories."),
)
