"""Presets as people see them in an answer: lines, and the same as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.catalog import translate, translate_count
from agent.text import one_line
from agent.turn.budget import estimate_tokens

if TYPE_CHECKING:
    from plugins.presets.preset import Preset, PresetPrompt


def preset_line(preset: Preset, locale: str) -> str:
    """Return one line of the list of presets."""
    sent = list(preset.sent())
    prompts = translate_count(locale, "{count} prompt", "{count} prompts", len(sent))
    used = f" ({translate(locale, 'in use')})" if preset.in_use else ""
    return f"{one_line(preset.name)}: {prompts}{used}"


def preset_lines(preset: Preset, locale: str) -> list[str]:
    """Return the order of a preset, a line for each place, and its settings of the model."""
    lines = [preset_line(preset, locale)]
    lines += [f"{number}. {_prompt_line(prompt, locale)}" for number, prompt in enumerate(preset.prompts, 1)]
    if preset.samplers:
        shown = ", ".join(f"{key} {value}" for key, value in sorted(preset.samplers.items()))
        lines.append(translate(locale, "Kept, not applied: {settings}", settings=shown))
    return lines


def _prompt_line(prompt: PresetPrompt, locale: str) -> str:
    name = one_line(prompt.name or prompt.identifier)
    facts: list[str] = []
    if prompt.marker is None:
        facts.append(prompt.role.value)
        facts.append(translate_count(locale, "{count} token", "{count} tokens", estimate_tokens(prompt.content)))
    else:
        facts.append(prompt.marker.value)
    if prompt.depth is not None:
        facts.append(translate(locale, "at depth {depth}", depth=prompt.depth))
    if not prompt.enabled:
        facts.append(translate(locale, "off"))
    return f"{name} ({', '.join(facts)})"


def preset_data(preset: Preset) -> dict[str, Any]:
    """Return a preset as data."""
    return {
        "preset_id": preset.preset_id,
        "name": preset.name,
        "in_use": preset.in_use,
        "prompts": [
            {
                "identifier": prompt.identifier,
                "name": prompt.name,
                "content": prompt.content,
                "role": prompt.role.value,
                "depth": prompt.depth,
                "order": prompt.priority,
                "enabled": prompt.enabled,
                "marker": prompt.marker is not None,
            }
            for prompt in preset.prompts
        ],
        "samplers": dict(preset.samplers),
    }
