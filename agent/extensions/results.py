"""What each hook may answer: a result of another kind is a failure of its plugin, not of the agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from agent.commands import Command, Option, Rights
from agent.contracts.cards import Card, CardKind
from agent.contracts.context import ContextEntry, ContextItem, Prompt, Role, Section, Tag
from agent.contracts.memory import MemoryWritten
from agent.contracts.people import Denial, Refusal, Speaker
from agent.contracts.recall import RecallCandidate
from agent.events import MessageCreated
from agent.hookspecs import Attested, Attribution, Health, Hold, Unavailable
from agent.places import Audience
from agent.tools import Tool

type Check = Callable[[Any], Any]
"""Takes what a plugin answered, and returns it as the core takes it or raises `BadResult`."""

DEEPEST_JSON: Final = 50
_HEALTH_STATES: Final = frozenset({"ok", "warn", "fail"})


class BadResult(TypeError):
    """A plugin answered what its hook may not answer; the text says what kind of thing came, never the thing."""


def check_for(hook: str, plugin: str) -> Check:
    """Return the check of what `plugin` answers to `hook`. None always means "nothing to say"."""
    return partial(_CHECKS[hook], plugin)


def _expect(value: object, kind: type | tuple[type, ...], what: str) -> None:
    if not isinstance(value, kind):
        raise BadResult(f"{what} is {type(value).__name__}")


def _nothing(_plugin: str, result: Any) -> None:
    if result is not None:
        raise BadResult(f"a result was given where none is asked: {type(result).__name__}")


def _sequence(result: Any, kind: type, what: str) -> tuple[Any, ...]:
    _expect(result, Sequence, f"a sequence of {what} is asked, but the result")
    if isinstance(result, (str, bytes)):
        raise BadResult(f"a sequence of {what} is asked, but the result is a text")
    for item in result:
        _expect(item, kind, f"a sequence of {what} is asked, but an element")
    return tuple(result)


def _tools(plugin: str, result: Any) -> tuple[Tool, ...] | None:
    if result is None:
        return None
    tools = _sequence(result, Tool, "Tool")
    for tool in tools:  # whether names and parameters can be used, the registry says
        _expect(tool.name, str, "the name of a tool")
        _expect(tool.description, str, f"the description of tool {tool.name}")
        if not callable(tool.run):
            raise BadResult(f"what tool {tool.name} runs cannot be called")
    return tuple(replace(tool, owner=plugin) for tool in tools)


def _commands(plugin: str, result: Any) -> tuple[Command, ...] | None:
    if result is None:
        return None
    commands = _sequence(result, Command, "Command")
    for command in commands:
        if not (isinstance(command.path, tuple) and command.path and _all(command.path, str) and all(command.path)):
            raise BadResult("a command's path is no tuple of words")
        name = "/" + " ".join(command.path)
        _expect(command.description, str, f"the description of {name}")
        _expect(command.rights, Rights, f"the rights of {name}")
        if not (isinstance(command.options, tuple) and _all(command.options, Option)):
            raise BadResult(f"the options of {name} are no tuple of Option")
        if not callable(command.run):
            raise BadResult(f"what {name} runs cannot be called")
    return tuple(replace(command, owner=plugin) for command in commands)


def _items(_plugin: str, result: Any) -> tuple[ContextItem, ...] | None:
    if result is None:
        return None
    items = _sequence(result, ContextItem, "ContextItem")
    for item in items:
        _expect(item.tag, Tag, "the tag of an item")
        _expect(item.role, Role, "the role of an item")
        _expect(item.section, Section, "the section of an item")
        _expect(item.text, str, "the text of an item")
        if not (isinstance(item.entries, tuple) and _all(item.entries, ContextEntry)):
            raise BadResult("the entries of an item are no tuple of ContextEntry")
        if not _all((text for entry in item.entries for text in (entry.identity, entry.text, entry.line)), str):
            raise BadResult("an entry's identity, text or line is no text")
    return items


def _cards(_plugin: str, result: Any) -> tuple[Card, ...] | None:
    if result is None:
        return None
    cards = _sequence(result, Card, "Card")
    for card in cards:
        _expect(card.kind, CardKind, "the kind of a card")
        _expect(card.audience, Audience, "the audience of a card")
        _expect(card.title, str, "the title of a card")
        if not (isinstance(card.lines, tuple) and _all(card.lines, str)):
            raise BadResult("the lines of a card are no tuple of texts")
    return cards


def _recalled(_plugin: str, result: Any) -> tuple[RecallCandidate, ...] | None:
    if result is None:
        return None
    candidates = _sequence(result, RecallCandidate, "RecallCandidate")
    if not _all((text for c in candidates for text in (c.identity, c.text, c.line, c.heading)), str):
        raise BadResult("a candidate's identity, text, line or heading is no text")
    for candidate in candidates:
        if not all(isinstance(score, int | float) for score in (candidate.lexical, candidate.cosine or 0.0)):
            raise BadResult("a candidate's score is no number")
    return candidates


def _prompt(plugin: str, result: Any) -> Prompt | None:
    if result is None:
        return None
    _expect(result, Prompt, "a Prompt is asked, but the result")
    return Prompt(_items(plugin, result.items) or ())


def _all(values: Iterable[object], kind: type) -> bool:
    """Tell whether each value is of that kind; kinds that come again are looked at once, since there may be many."""
    return all(issubclass(found, kind) for found in {type(value) for value in values})


def _json_object(_plugin: str, result: Any) -> dict[str, Any] | None:
    if result is None:
        return None
    _expect(result, Mapping, "an object of JSON values is asked, but the result")
    _check_json(result)
    return dict(result)


def _check_json(value: object) -> None:
    """Look through a value level by level, so that one that holds itself cannot keep us for ever."""
    level = [value]
    for _ in range(DEEPEST_JSON):
        below: list[object] = []
        for item in level:
            if isinstance(item, Mapping):
                if not _all(item, str):
                    raise BadResult("an object of JSON values is asked, but a key is no text")
                below.extend(item.values())
            elif isinstance(item, (list, tuple)):
                below.extend(item)
            else:
                _expect(item, (str, int, float, bool, type(None)), "an object of JSON values is asked, but a value")
        if not below:
            return
        level = below
    raise BadResult(f"an object of JSON values is asked, but it is nested deeper than {DEEPEST_JSON} levels")


def _counts(_plugin: str, result: Any) -> dict[str, int] | None:
    if result is None:
        return None
    _expect(result, Mapping, "counts by kind are asked, but the result")
    if not (_all(result, str) and _all(result.values(), int)):
        raise BadResult("counts by kind are asked, but a kind is no text or a count no whole number")
    return dict(result)


def _health(_plugin: str, result: Any) -> tuple[Health, ...] | None:
    if result is None:
        return None
    lines = _sequence(result, Health, "Health")
    for line in lines:
        if not _all((line.name, line.state, line.text, line.remedy), str):
            raise BadResult("the name, state, text or remedy of a line is no text")
        if line.state not in _HEALTH_STATES:
            raise BadResult("the state of a line is none of ok, warn and fail")
        if line.state != "ok" and not line.remedy:
            raise BadResult("a line that is not ok has no remedy")
    return lines


def _speaker(_plugin: str, result: Any) -> Any:
    if result is None:
        return None
    _expect(result, (Hold, Attested, Unavailable), "Hold, Attested or Unavailable is asked, but the result")
    if isinstance(result, Attested):
        _expect(result.speaker, Speaker, "a Speaker is asked, but who is attested")
        _expect(result.event, (MessageCreated, type(None)), "a MessageCreated is asked, but the event as attested")
    return result


def _attributions(_plugin: str, result: Any) -> dict[str, Attribution] | None:
    if result is None:
        return None
    _expect(result, Mapping, "attributions by message id are asked, but the result")
    if not (_all(result, str) and _all(result.values(), Attribution)):
        raise BadResult("attributions by message id are asked, but an id is no text or a value no Attribution")
    return dict(result)


def _identities(_plugin: str, result: Any) -> tuple[Attribution, ...] | None:
    return None if result is None else _sequence(result, Attribution, "Attribution")


def _speakers(_plugin: str, result: Any) -> tuple[Speaker, ...] | None:
    return None if result is None else _sequence(result, Speaker, "Speaker")


def _written(_plugin: str, result: Any) -> MemoryWritten | None:
    if result is None:
        return None
    _expect(result, MemoryWritten, "MemoryWritten is asked, but the result")
    return result if isinstance(result, MemoryWritten) else None


def _denial(_plugin: str, result: Any) -> Denial | None:
    if result is None:
        return None
    _expect(result, Denial, "None or a Denial is asked, but the result")
    _expect(result.code, Refusal, "a Refusal is asked, but the code of the denial")
    _expect(result.text, str, "a text is asked, but that of the denial")
    return result if isinstance(result, Denial) else None


_CHECKS: Final[Mapping[str, Callable[[str, Any], Any]]] = {
    "start": _nothing,
    "stop": _nothing,
    "register_tools": _tools,
    "register_commands": _commands,
    "register_cli": _nothing,
    "context_items": _items,
    "recall": _recalled,
    "arrange_prompt": _prompt,
    "turn_finished": _nothing,
    "person_registered": _nothing,
    "identity_registered": _nothing,
    "channel_seen": _nothing,
    "count_lineage": _counts,
    "message_deleted": _cards,
    "export_person": _json_object,
    "erase_person": _counts,
    "move_user": _counts,
    "health": _health,
    "resolve_speaker": _speaker,
    "attribute_messages": _attributions,
    "identities_here": _identities,
    "own_identities": _speakers,
    "write_memory": _written,
    "guard_turn": _denial,
    "guard_memory_read": _denial,
    "guard_memory_write": _denial,
    "recheck_memory_write": _denial,
}
