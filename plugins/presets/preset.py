"""What a preset is: prompts of its own, and an order in which they stand among the parts of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from agent.contracts.context import Role

MAX_NAME: Final = 100
MAX_PROMPTS: Final = 300
MAX_CONTENT: Final = 100_000
MAX_DEPTH: Final = 10_000
DEFAULT_DEPTH: Final = 4
DEFAULT_PRIORITY: Final = 100


class Marker(StrEnum):
    """Where a part of ours stands that SillyTavern has under another name."""

    WORLD_INFO_BEFORE = "worldInfoBefore"
    """Lore, memories, documents: at the first of these two that is switched on."""
    WORLD_INFO_AFTER = "worldInfoAfter"
    CHARACTER = "charDescription"
    """The persona, and the rules of the conversation."""
    CHARACTER_PERSONALITY = "charPersonality"
    """Nothing: it is a part of the persona."""
    SCENARIO = "scenario"
    """The place."""
    USER = "personaDescription"
    """Who takes part."""
    EXAMPLES = "dialogueExamples"
    """Nothing."""
    HISTORY = "chatHistory"
    """What was said before."""


@dataclass(frozen=True, slots=True)
class PresetPrompt:
    """One text of a preset, in its place."""

    identifier: str
    name: str = ""
    content: str = ""
    role: Role = Role.SYSTEM
    depth: int | None = None
    """How many messages stand after it; None: it stands where the order has it."""
    priority: int = DEFAULT_PRIORITY
    """Of several at one depth, the higher one stands later."""
    enabled: bool = True

    @property
    def identity(self) -> str:
        """Return its identity in a prompt."""
        return f"preset:{self.identifier}"

    @property
    def marker(self) -> Marker | None:
        """Return which part of ours it stands for."""
        return Marker(self.identifier) if self.identifier in set(Marker) else None

    @property
    def is_sent(self) -> bool:
        """Tell whether it adds a text to the prompt."""
        return self.enabled and self.marker is None and bool(self.content.strip())


@dataclass(frozen=True, slots=True)
class Preset:
    """A preset: its prompts and markers in order."""

    name: str
    prompts: tuple[PresetPrompt, ...] = ()
    """Each identifier once."""
    samplers: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the model by SillyTavern's names: kept, not applied."""
    preset_id: int = 0
    in_use: bool = False

    def sent(self) -> Iterator[PresetPrompt]:
        """Yield the prompts that add a text, in order."""
        return (prompt for prompt in self.prompts if prompt.is_sent)

    def markers(self) -> Iterator[Marker]:
        """Yield the markers that are switched on, in order."""
        return (prompt.marker for prompt in self.prompts if prompt.enabled and prompt.marker is not None)
