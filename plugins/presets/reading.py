"""Reading chat-completion presets of SillyTavern: prompts, their order, and what is kept or left out of the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final

from agent.contracts.context import Role
from agent.files import FileRefused, too_large
from agent.json_file import Fields, Report, kind_of, parse_object
from agent.text import clean, clip, one_line
from agent.turn.budget import estimate_tokens
from plugins.presets.preset import (
    DEFAULT_DEPTH,
    DEFAULT_PRIORITY,
    MAX_CONTENT,
    MAX_DEPTH,
    MAX_NAME,
    MAX_PROMPTS,
    Marker,
    Preset,
    PresetPrompt,
)
from plugins.presets.rendering import macros_in

MAX_FILE: Final = 4 * 1024 * 1024
"""Bytes."""
_MAX_PRIORITY: Final = 1_000_000
_ORDERS: Final = (100001, 100000)
"""The order that holds for all characters, in newer and in older files."""
_SAMPLERS: Final = frozenset(
    {
        "frequency_penalty",
        "min_p",
        "n",
        "openai_max_context",
        "openai_max_tokens",
        "presence_penalty",
        "reasoning_effort",
        "repetition_penalty",
        "seed",
        "temperature",
        "top_a",
        "top_k",
        "top_p",
        "verbosity",
    }
)
_SECRET: Final = ("proxy", "password", "url", "headers", "body", "key", "token_")
"""What stands in the names of fields that may hold a secret: their values are neither kept nor shown."""
_PROMPT_FIELDS: Final = frozenset(
    {
        "identifier",
        "name",
        "content",
        "role",
        "injection_position",
        "injection_depth",
        "injection_order",
        "enabled",
        "marker",
        "system_prompt",
        "forbid_overrides",
    }
)
_TRIGGER: Final = "injection_trigger"
_ALWAYS: Final = (Marker.CHARACTER, Marker.HISTORY)
_ROLES: Final = {role.value: role for role in Role}
_SHOWN: Final = 8


def read_preset(content: bytes, file_name: str, *, max_tokens: int) -> tuple[Preset | None, Report]:
    """Return the preset of a file with notes on it; None with the errors for which nothing of it can be taken.

    Raises:
        FileRefused: the file as a whole cannot be used.
    """
    shown = clip(one_line(clean(file_name)), 80) or "the file"
    if len(content) > MAX_FILE:
        raise too_large(shown, MAX_FILE)
    data = parse_object(content, shown)
    if not isinstance(data.get("prompts"), list):
        raise FileRefused(f"{shown}: this is no preset for chat completion: it has no list of prompts")
    report = Report()
    prompts = _prompts(data["prompts"], shown, report)
    ordered = _ordered(prompts, data.get("prompt_order"), report)
    _note_macros(ordered, report)
    off = [marker.value for marker in _ALWAYS if not any(each.marker is marker and each.enabled for each in ordered)]
    if off:
        report.notes.append(f"{_some(off)}: off in the preset, and still a part of each prompt")
    tokens = sum(estimate_tokens(prompt.content) for prompt in ordered if prompt.is_sent)
    if tokens > max_tokens:
        report.errors.append(f"its prompts have about {tokens} tokens; at most {max_tokens} may stand in each prompt")
    preset = Preset(
        name=clip(one_line(clean(PurePath(shown).stem)), MAX_NAME) or "preset",
        prompts=ordered,
        samplers=_samplers(data, report),
    )
    return (None if report.errors else preset), report


def _prompts(listed: Any, name: str, report: Report) -> dict[str, PresetPrompt]:
    """Return the prompts by identifier."""
    if len(listed) > MAX_PROMPTS:
        raise FileRefused(f"{name}: it has {len(listed)} prompts; at most {MAX_PROMPTS} fit")
    prompts: dict[str, PresetPrompt] = {}
    unused: dict[str, list[str]] = {}
    for number, data in enumerate(listed, 1):
        if not isinstance(data, Mapping):
            report.errors.append(f"prompt {number}: an object is expected, this is {kind_of(data)}")
            continue
        called = data.get("name") or data.get("identifier")
        label = clip(one_line(clean(called)), 40) if isinstance(called, str) else ""
        where = f"prompt {number} ({label})" if label else f"prompt {number}"
        prompt = _prompt(Fields(data, where, report), f"prompt-{number}")
        if prompt.identifier in prompts:
            report.errors.append(f"{where}: identifier: another prompt has “{clip(prompt.identifier, 40)}” too")
        prompts[prompt.identifier] = prompt
        for field in _unused(data):
            unused.setdefault(field, []).append(where)
    for field, places in unused.items():
        report.notes.append(f"{field}: left out (in {_some(places)})")
    return prompts


def _prompt(fields: Fields, default: str) -> PresetPrompt:
    role = fields.text("role", Role.SYSTEM.value)
    if role not in _ROLES:
        fields.fault("role", "system, user or assistant is expected")
    depth = fields.whole("injection_depth", 0, MAX_DEPTH)
    is_injected = fields.whole("injection_position", 0, 1) == 1
    priority = fields.whole("injection_order", -_MAX_PRIORITY, _MAX_PRIORITY)
    prompt = PresetPrompt(
        identifier=one_line(fields.text("identifier", longest=200)) or default,
        name=clip(one_line(fields.text("name")), MAX_NAME),
        content=fields.text("content", longest=MAX_CONTENT),
        role=_ROLES.get(role, Role.SYSTEM),
        depth=(DEFAULT_DEPTH if depth is None else depth) if is_injected else None,
        priority=DEFAULT_PRIORITY if priority is None else priority,
        enabled=fields.flag("enabled", default=True),
    )
    if prompt.marker is None and fields.flag("marker", default=False):
        fields.note("marker", "nothing of ours stands there")
    if prompt.marker is not None and prompt.content.strip():
        fields.note("content", "a marker has no text of its own: left out")
    if prompt.depth in {0, 1} and prompt.role is Role.ASSISTANT:
        fields.note("role", "the last message has one voice: sent as part of it")
    return prompt


def _unused(data: Mapping[str, Any]) -> Iterable[str]:
    """Yield the fields of a prompt that say something and are not used."""
    for key, value in data.items():
        if key == _TRIGGER and isinstance(value, list) and (not value or "normal" in value):
            continue
        if key not in _PROMPT_FIELDS and value not in (None, False, "", [], {}):
            yield clip(one_line(clean(key)), 80)


def _ordered(prompts: Mapping[str, PresetPrompt], orders: Any, report: Report) -> tuple[PresetPrompt, ...]:
    """Return the prompts in the order of the file, each switched on or off; what has no place in it is left out."""
    order = _order(orders, report)
    if order is None:
        report.notes.append("prompt_order: there is none, so the prompts stand as they are listed")
        return tuple(prompts.values())
    placed: dict[str, PresetPrompt] = {}
    unknown: list[str] = []
    for identifier, enabled in order:
        prompt = prompts.get(identifier)
        if prompt is None and identifier in set(Marker):
            prompt = PresetPrompt(identifier)
        if prompt is None:
            unknown.append(identifier)
        elif identifier not in placed:
            placed[identifier] = replace(prompt, enabled=enabled)
    if unknown:
        report.notes.append(f"prompt_order: there is no prompt {_some(unknown)}")
    without = [prompt.name or prompt.identifier for name, prompt in prompts.items() if name not in placed]
    if without:
        report.notes.append(f"left out, for they have no place in the order: {_some(without)}")
    return tuple(placed.values())


def _order(orders: Any, report: Report) -> list[tuple[str, bool]] | None:
    """Return the identifiers in order, each with whether it is on; None where the file has no order."""
    if orders is None or orders == []:
        return None
    if not isinstance(orders, list) or not all(isinstance(order, Mapping) for order in orders):
        report.errors.append("prompt_order: a list of objects is expected")
        return None
    by_character = {order.get("character_id"): order for order in reversed(orders) if _is_id(order.get("character_id"))}
    chosen = next((by_character[number] for number in _ORDERS if number in by_character), orders[0])
    others = len(orders) - 1
    if others and not set(by_character) <= set(_ORDERS):
        report.notes.append(f"prompt_order: {others} orders of other characters are left out")
    listed = chosen.get("order")
    if not isinstance(listed, list):
        report.errors.append(f"prompt_order: order: a list is expected, this is {kind_of(listed)}")
        return None
    found: list[tuple[str, bool]] = []
    for number, entry in enumerate(listed, 1):
        if not isinstance(entry, Mapping):
            report.errors.append(f"prompt_order: {number}: an object is expected, this is {kind_of(entry)}")
            continue
        fields = Fields(entry, f"prompt_order: {number}", report)
        identifier = one_line(fields.text("identifier", longest=200))
        if not identifier:
            fields.fault("identifier", "a name is expected")
        found.append((identifier, fields.flag("enabled", default=True)))
    return found


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _note_macros(prompts: Iterable[PresetPrompt], report: Report) -> None:
    """Say which macros stay text, and where."""
    places: dict[str, list[str]] = {}
    for prompt in prompts:
        if prompt.is_sent:
            for macro in macros_in(prompt.content):
                places.setdefault(one_line(clean(macro)), []).append(prompt.name or prompt.identifier)
    for macro, names in places.items():
        report.notes.append(f"{{{{{macro}}}}} stays text (in {_some(names)})")


def _samplers(data: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Return the settings of the model; say that they are kept and not applied, and what else is left out."""
    samplers: dict[str, Any] = {}
    secret: list[str] = []
    other: list[str] = []
    for key, value in data.items():
        name = clip(one_line(clean(key)), 80)
        if key in _SAMPLERS and isinstance(value, (int, float, str)):
            samplers[key] = clip(one_line(clean(value)), 40) if isinstance(value, str) else _finite(value)
        elif key in {"prompts", "prompt_order"} or value in (None, False, "", [], {}):
            continue
        elif any(word in key.lower() for word in _SECRET):
            secret.append(name)
        else:
            other.append(name)
    if samplers:
        shown = ", ".join(f"{key} {value}" for key, value in sorted(samplers.items()))
        report.notes.append(f"kept, not applied: {shown}")
    if secret:
        report.notes.append(f"left out, for it may hold a secret: {', '.join(secret)}")
    if other:
        report.notes.append(f"left out: {', '.join(other)}")
    return samplers


def _finite(value: float) -> float | None:
    return value if abs(value) < 1e308 else None  # noqa: PLR2004 - what JSON can carry


def _some(names: list[str]) -> str:
    shown = ", ".join(clip(one_line(clean(name)), 40) for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
