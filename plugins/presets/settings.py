"""What a deployment may set under `[plugins.presets]`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.settings import Section


class PresetSettings(Section):
    """How large presets may be, and where what is called back stands."""

    max_presets: int = Field(default=20, ge=1, le=1_000)
    """Presets of one server."""
    max_tokens: int = Field(default=8_000, ge=1, le=1_000_000)
    """Tokens of all prompts of one preset that are switched on."""
    recalled: Literal["anchor", "tail"] = "anchor"
    """Where knowledge that changes from message to message stands: with the rest of it, or behind the conversation."""
