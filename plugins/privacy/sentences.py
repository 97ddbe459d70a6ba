"""What the levels and acts are called when they are told to somebody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, assert_never

from agent.catalog import N_, translate
from agent.contracts.people import PrivacyLevel
from agent.privacy.audit import Act

if TYPE_CHECKING:
    from agent.privacy.audit import Seen

LEVELS: Final[Mapping[PrivacyLevel, str]] = {
    PrivacyLevel.NONE: N_("I may keep memories about you, and show them where they may be known."),
    PrivacyLevel.PARTIAL: N_("I keep no memories about you and show none. I may say your name and mention you."),
    PrivacyLevel.FULL: N_(
        "I keep no memories about you and show none, I never name you, and I leave your messages out of what I read. "
        "When you speak to me I answer."
    ),
}
"""What each level means, to whoever has it (`agent/privacy/levels.py` holds the same as rules)."""

_COUNTED: Final[Mapping[str, str]] = {
    "personal_memories": N_("personal memories"),
    "server_memories": N_("server memories about you"),
    "undo_copies": N_("copies kept for undo"),
    "authorships": N_("memories that named you as their author"),
    "messages": N_("messages that named you as their author"),
    "names": N_("names"),
    "settings": N_("settings"),
    "audit": N_("entries about who looked"),
    "events": N_("messages not answered yet"),
    "outbox": N_("answers not sent yet"),
    "notices": N_("notices that I take back"),
}


def counted(counts: Mapping[str, int], locale: str) -> str:
    """Return what an erasure has removed, in words: `2 personal memories, 3 names`."""
    parts = [
        f"{count} {translate(locale, _COUNTED.get(kind, kind.replace('_', ' ')))}"
        for kind, count in counts.items()
        if count
    ]
    return ", ".join(parts) if parts else translate(locale, "nothing was there")


def act_line(seen: Seen, locale: str) -> str:
    """Return one line of the trail: when, who, what, where."""
    nobody = translate(locale, "an operator") if seen.by_operator else translate(locale, "somebody")
    where = seen.server or "-"
    return f"{seen.at:%Y-%m-%d %H:%M} UTC · {seen.actor or nobody} · {_act(seen, locale)} · {seen.via} · {where}"


def acts_as_data(acts: Sequence[Seen]) -> list[dict[str, object]]:
    """Return the trail as data."""
    return [
        {
            "at": seen.at.isoformat(),
            "act": seen.act.value,
            "items": seen.items,
            "via": seen.via,
            "by_operator": seen.by_operator,
            "actor": seen.actor,
            "server": seen.server,
        }
        for seen in acts
    ]


def _act(seen: Seen, locale: str) -> str:
    match seen.act:
        case Act.READ:
            return translate(locale, "read {count}", count=seen.items)
        case Act.EDITED:
            return translate(locale, "changed {count}", count=seen.items)
        case Act.DELETED:
            return translate(locale, "deleted {count}", count=seen.items)
        case Act.EXPORTED:
            return translate(locale, "exported everything")
        case Act.ERASED:
            return translate(locale, "erased everything")
        case Act.LINKED:
            return translate(locale, "linked an account with this one")
        case Act.UNLINKED:
            return translate(locale, "unlinked this account from others")
        case unknown:
            assert_never(unknown)
