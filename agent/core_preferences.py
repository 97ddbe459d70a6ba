"""What the core itself lets servers choose."""

from __future__ import annotations

from agent.catalog import N_
from agent.contracts.cards import NoticeVisibility
from agent.impersonation.rules import CONSENT
from agent.preferences import Preference, Preferences
from agent.privacy.switches import MEMBER_ACCESS, PERSONAL_MEMORIES

NOTICE_VISIBILITY = Preference(
    key="notices.visibility",
    default=NoticeVisibility.FULL.value,
    description=N_("How much of a notice is shown in the conversation."),
    choices=tuple(visibility.value for visibility in NoticeVisibility),
)
THOUGHT_LOG = Preference(
    key="notices.thought_log",
    default="",
    description=N_("The id of the channel that gets the full notices; empty for none."),
)


def core_preferences() -> Preferences:
    """Return a registry that holds the core's own preferences; plugins add theirs at start."""
    preferences = Preferences()
    for preference in (NOTICE_VISIBILITY, THOUGHT_LOG, PERSONAL_MEMORIES, MEMBER_ACCESS, CONSENT):
        preferences.register(preference)
    return preferences
