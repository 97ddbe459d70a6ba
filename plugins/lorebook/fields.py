"""How files write an entry: SillyTavern's names, the names below `extensions` in character cards, and what is not used.

`Entry.extra` holds what is kept for the export in SillyTavern's names; what a card alone knows is below `extensions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from plugins.lorebook.book import Logic

LOGICS: Final = (Logic.AND_ANY, Logic.NOT_ALL, Logic.NOT_ANY, Logic.AND_ALL)
"""By SillyTavern's number."""

USED: Final = frozenset(
    {
        "uid",
        "key",
        "keysecondary",
        "comment",
        "content",
        "constant",
        "selective",
        "selectiveLogic",
        "order",
        "disable",
        "scanDepth",
        "matchWholeWords",
        "caseSensitive",
        "probability",
        "useProbability",
        "excludeRecursion",
        "preventRecursion",
        "delayUntilRecursion",
    }
)
"""SillyTavern's fields that an entry has a place for."""

_ANY: Final = None
UNUSED: Final[Mapping[str, tuple[Any, ...] | None]] = {
    "addMemo": _ANY,
    "automationId": ("",),
    "characterFilter": ({"isExclude": False, "names": [], "tags": []},),
    "characterFilterExclude": (False,),
    "characterFilterNames": ([],),
    "characterFilterTags": ([],),
    "cooldown": (0,),
    "delay": (0,),
    "depth": _ANY,
    "displayIndex": _ANY,
    "extensions": ({},),
    "group": ("",),
    "groupOverride": (False,),
    "groupWeight": _ANY,
    "ignoreBudget": (False,),
    "matchCharacterDepthPrompt": (False,),
    "matchCharacterDescription": (False,),
    "matchCharacterPersonality": (False,),
    "matchCreatorNotes": (False,),
    "matchPersonaDescription": (False,),
    "matchScenario": (False,),
    "name": _ANY,
    "outletName": ("",),
    "position": (0, 1),
    "role": (0,),
    "sticky": (0,),
    "triggers": ([],),
    "useGroupScoring": (False,),
    "vectorized": (False,),
}
"""SillyTavern's fields that are kept and not used, with the values that mean nothing (null always does; None: any)."""

EXTENSIONS: Final[Mapping[str, str]] = {
    "automation_id": "automationId",
    "case_sensitive": "caseSensitive",
    "cooldown": "cooldown",
    "delay": "delay",
    "delay_until_recursion": "delayUntilRecursion",
    "depth": "depth",
    "display_index": "displayIndex",
    "exclude_recursion": "excludeRecursion",
    "group": "group",
    "group_override": "groupOverride",
    "group_weight": "groupWeight",
    "ignore_budget": "ignoreBudget",
    "match_character_depth_prompt": "matchCharacterDepthPrompt",
    "match_character_description": "matchCharacterDescription",
    "match_character_personality": "matchCharacterPersonality",
    "match_creator_notes": "matchCreatorNotes",
    "match_persona_description": "matchPersonaDescription",
    "match_scenario": "matchScenario",
    "match_whole_words": "matchWholeWords",
    "outlet_name": "outletName",
    "position": "position",
    "prevent_recursion": "preventRecursion",
    "probability": "probability",
    "role": "role",
    "scan_depth": "scanDepth",
    "selectiveLogic": "selectiveLogic",
    "sticky": "sticky",
    "triggers": "triggers",
    "useProbability": "useProbability",
    "use_group_scoring": "useGroupScoring",
    "vectorized": "vectorized",
}
"""The names below `extensions` of a character card's entry, with SillyTavern's own."""

CARD_FIELDS: Final[Mapping[str, str]] = {
    "id": "uid",
    "keys": "key",
    "secondary_keys": "keysecondary",
    "comment": "comment",
    "content": "content",
    "constant": "constant",
    "selective": "selective",
    "insertion_order": "order",
}
"""The fields of a character card's entry that are SillyTavern's under another name."""


def means_nothing(name: str, value: Any) -> bool:
    """Tell whether leaving a field out changes nothing."""
    nothing = UNUSED.get(name, ())
    return value is None or nothing is None or any(value == each and type(value) is type(each) for each in nothing)
