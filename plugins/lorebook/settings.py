"""What a deployment may set under `[plugins.lorebook]`."""

from __future__ import annotations

from pydantic import Field

from agent.settings import Section


class LorebookSettings(Section):
    """How entries are found, and how much there may be."""

    scan_depth: int = Field(default=4, ge=0, le=100)
    """Messages in which keys are looked for, the present one counted, unless a book or entry says otherwise."""
    token_budget: int = Field(default=2000, ge=0, le=1_000_000)
    """Tokens of all entries in one prompt."""
    recursion_limit: int = Field(default=3, ge=0, le=10)
    """How many times what entries say may activate further entries; 0: never."""
    whole_words: bool = True
    case_sensitive: bool = False
    max_books: int = Field(default=50, ge=1, le=1_000)
    """Lorebooks of one server."""
    max_entries: int = Field(default=2_000, ge=1, le=5_000)
    """Entries of one server, in all of its lorebooks."""
    max_characters: int = Field(default=2_000_000, ge=1_000, le=20_000_000)
    """Characters of one server's lorebooks."""
    pattern_seconds: float = Field(default=0.05, gt=0, le=1)
    """Seconds that one pattern (`/…/`) may take for a message; all of them together take five times that."""
