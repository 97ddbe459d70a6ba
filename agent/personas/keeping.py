"""What is kept in a lineage, as plugins count it: said when a persona leaves it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from agent.catalog import translate

if TYPE_CHECKING:
    from agent.contracts.people import Persona
    from agent.plugin_host import PluginHost


async def kept_in(hooks: PluginHost, persona: Persona) -> dict[str, int]:
    """Return how much was learned in a persona's server and is kept in its lineage, by kind; kinds of none left out."""
    counts: Counter[str] = Counter()
    for part in await hooks.collect("count_lineage", server_id=persona.server_id, lineage_id=persona.lineage_id):
        counts.update(part)
    return {kind: count for kind, count in counts.items() if count}


def kept_text(kept: dict[str, int], locale: str = "en") -> str:
    """Return counts as people read them: `server memories: 3, personal memories: 5`.

    The words of a kind are a sentence of the catalog, which the plugin that counts it marks for translation.
    """
    return ", ".join(f"{translate(locale, kind.replace('_', ' '))}: {count}" for kind, count in kept.items())
