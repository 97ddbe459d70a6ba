"""The order that a preset gives to a prompt: pure functions.

Nothing is added, lost or doubled: the texts of the preset stand in the prompt already (`rendering.item_of`), and here
each goes to its place. The result is in the order of the wire: what the system says, the conversation, the tail.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from agent.contracts.context import ContextItem, Prompt, Role, Section, Tag
from plugins.presets.preset import Marker

if TYPE_CHECKING:
    from agent.contracts.context import ContextEntry
    from plugins.presets.preset import Preset, PresetPrompt

_PLACES: Final = {
    Tag.PERSONA: Marker.CHARACTER,
    Tag.RULES: Marker.CHARACTER,
    Tag.PLACE: Marker.SCENARIO,
    Tag.PARTICIPANTS: Marker.USER,
}
_FIXED: Final = frozenset({Tag.PRESET, Tag.HISTORY, Tag.NOW, Tag.MESSAGE})
_ANCHORS: Final = (Marker.WORLD_INFO_BEFORE, Marker.WORLD_INFO_AFTER)
_ROLES: Final = (Role.ASSISTANT, Role.USER, Role.SYSTEM)
"""The order of the roles at one depth, as SillyTavern has it."""


@dataclass(frozen=True, slots=True)
class _Injected:
    """A text that stands so many messages before the end."""

    prompt: PresetPrompt
    depth: int
    entry: ContextEntry

    @property
    def rank(self) -> tuple[int, int, int]:
        return (-self.depth, self.prompt.priority, _ROLES.index(self.prompt.role))


@dataclass(slots=True)
class _Layout:
    """The parts of the prompt, as they are being put together."""

    system: list[ContextItem] = field(default_factory=list)
    talk: list[ContextItem] = field(default_factory=list)
    """What stands before what was said, in another voice than the system's."""
    tail: list[ContextItem] = field(default_factory=list)
    injected: list[_Injected] = field(default_factory=list)
    is_behind: bool = False
    """Whether the place of what was said has been passed."""

    def add(self, items: Iterable[ContextItem]) -> None:
        """Put items at the present place of the order."""
        for item in items:
            if self.is_behind:
                self.tail.append(_in_tail(item))
            else:
                (self.system if item.role is Role.SYSTEM else self.talk).append(replace(item, section=Section.PREFIX))


def arrange(prompt: Prompt, preset: Preset, *, recalled_at_anchor: bool = True) -> Prompt:
    """Return the prompt in the order of a preset.

    `recalled_at_anchor`: knowledge that changes with each message stands with the rest of it, not behind the
    conversation. What the preset has no place for stands first; a text of another preset, after that.
    """
    texts = {entry.identity: entry for item in prompt.items if item.tag is Tag.PRESET for entry in item.entries}
    parts = _parts(prompt.items, list(preset.markers()), recalled_at_anchor=recalled_at_anchor)
    layout = _Layout(tail=parts.pop("tail", []))
    layout.add(parts.pop("first", ()))
    known = {placed.identity for placed in preset.prompts if placed.enabled}
    layout.add(_text(entry, Role.SYSTEM) for identity, entry in texts.items() if identity not in known)
    for placed in preset.prompts:
        if not placed.enabled:
            continue
        if placed.marker is not None:
            layout.add(parts.pop(placed.marker, ()))
            layout.is_behind = layout.is_behind or placed.marker is Marker.HISTORY
        elif (entry := texts.get(placed.identity)) is None:
            continue
        elif placed.depth is None:
            layout.add([_text(entry, placed.role)])
        else:
            layout.injected.append(_Injected(placed, placed.depth, entry))
    return Prompt(_joined(prompt.items, layout), prompt.left_out)


def _text(entry: ContextEntry, role: Role) -> ContextItem:
    return ContextItem(Tag.PRESET, role, Section.PREFIX, "", (entry,))


def _in_tail(item: ContextItem) -> ContextItem:
    """Return an item as a part of the last message, where nothing has a voice of its own."""
    return replace(item, section=Section.TAIL, role=Role.SYSTEM)


def _parts(
    items: Sequence[ContextItem], markers: Sequence[Marker], *, recalled_at_anchor: bool
) -> dict[str, list[ContextItem]]:
    """Return our items by the marker that they stand at, or `first` or `tail`; knowledge in one piece, in its order."""
    # Without an anchor knowledge stands right before what was said.
    anchors = [marker for wanted in (_ANCHORS, (Marker.HISTORY,)) for marker in markers if marker in wanted]
    parts: dict[str, list[ContextItem]] = {}
    for item in items:
        place: str
        if item.tag in _FIXED:
            if item.tag is not Tag.PRESET or item.entries:
                continue
            place = "first"
        elif item.tag in _PLACES:
            own = _PLACES[item.tag]
            place = "tail" if item.section is Section.TAIL else own if own in markers else "first"
        elif item.section is Section.TAIL and not (recalled_at_anchor and anchors):
            place = "tail"
        else:
            place = anchors[0] if anchors else "first"
        parts.setdefault(place, []).append(item)
    return parts


def _joined(items: Sequence[ContextItem], layout: _Layout) -> tuple[ContextItem, ...]:
    """Put the parts together, each injected text so many messages before the end."""
    said = [item for item in items if item.tag is Tag.HISTORY]
    talk = list(layout.talk)
    injected = sorted(layout.injected, key=lambda each: each.rank)
    for index, message in enumerate(said):
        talk += [_spoken(each) for each in injected if each.depth > 1 and _gap(each, len(said)) == index]
        talk.append(message)
    before = [each for each in injected if each.depth == 1 or (each.depth > 1 and not said)]
    after = [each for each in injected if each.depth == 0]
    return (
        *layout.system,
        *talk,
        *(_in_tail(item) for item in items if item.tag is Tag.NOW),
        *layout.tail,
        *(_in_tail(_text(each.entry, Role.SYSTEM)) for each in before),
        *(item for item in items if item.tag is Tag.MESSAGE),
        *(_in_tail(_text(each.entry, Role.SYSTEM)) for each in after),
    )


def _gap(each: _Injected, said: int) -> int:
    """Return how many earlier messages stand before a text; the present one is the last message."""
    return max(said + 1 - each.depth, 0)


def _spoken(each: _Injected) -> ContextItem:
    """Return a text within the conversation, where no provider takes the system's voice."""
    return _text(each.entry, Role.USER if each.prompt.role is Role.SYSTEM else each.prompt.role)
