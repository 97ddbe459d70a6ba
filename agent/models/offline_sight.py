"""What the offline model sees: it reads the texts of the prompt, as any model would, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

_HEADING: Final = re.compile(r"#+ .*?'s Memories about (?P<label>.+)\Z")
_ANY_HEADING: Final = re.compile(r"#+ \S")
_MEMORY: Final = re.compile(r"ID:(?P<id>\d+) (?P<content>.+)\Z")
_HANDLE: Final = re.compile(r"@\{(?P<handle>[^{}\n]+)\}[\s:,;=()-]*(?P<label>[^\n(),;]*)")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom the prompt names."""

    handle: str
    label: str


@dataclass(frozen=True, slots=True)
class SeenMemory:
    """One memory line of the prompt."""

    memory_id: int
    content: str
    about: str
    """The label in the heading above it; empty where there was none."""


@dataclass(frozen=True, slots=True)
class SeenResult:
    """What a tool answered to a call of this turn."""

    tool: str
    arguments: Mapping[str, Any]
    result: Mapping[str, Any]

    @property
    def status(self) -> str:
        """Return the result's one word."""
        return str(self.result.get("status", ""))


@dataclass(frozen=True, slots=True)
class Sight:
    """The whole prompt, as the rules need it."""

    text: str
    """What the speaker said."""
    speaker: Person
    people: tuple[Person, ...] = ()
    """Everybody whom the prompt names, the speaker first."""
    memories: tuple[SeenMemory, ...] = ()
    results: tuple[SeenResult, ...] = ()
    """What was called since the message, in order."""
    tools: frozenset[str] = field(default_factory=frozenset)
    """What may be called now."""

    def person(self, name: str) -> Person | None:
        """Return the one person whom `@{handle}` or a bare name means; None when it could be several or nobody."""
        wanted = fold(name)
        is_handle = name.strip().startswith("@{")
        found = {
            person.handle: person
            for person in self.people
            if wanted == fold(person.handle) or (not is_handle and wanted == fold(person.label))
        }
        return next(iter(found.values())) if len(found) == 1 else None


def fold(name: str) -> str:
    """Return a name as it is compared: without `@{…}`, `@`, case and outer white space."""
    return name.strip().removeprefix("@").removeprefix("{").removesuffix("}").strip().casefold()


def look(texts: Sequence[str], results: Sequence[SeenResult], tools: Iterable[str]) -> Sight:
    """Read the texts of the prompt, in order; the last line that is a message is the one to answer."""
    lines = [line for text in texts for line in text.split("\n")]
    messages = [(index, data) for index, line in enumerate(lines) if (data := _message(line)) is not None]
    last, message = messages[-1] if messages else (len(lines), {"text": texts[-1] if texts else ""})
    earlier = lines[:last]
    speaker = _person(message)
    people = [speaker, *(_person(data) for _, data in messages[:-1] if data.get("handle")), *_listed(earlier)]
    return Sight(
        text=str(message.get("text", "")).strip(),
        speaker=speaker,
        people=tuple(dict.fromkeys(people)),
        memories=tuple(dict.fromkeys(_memories(earlier))),
        results=tuple(results),
        tools=frozenset(tools),
    )


def read_object(text: str) -> Mapping[str, Any]:
    """Return the JSON object that a text is, or an empty one."""
    try:
        data = json.loads(text or "{}")
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _message(line: str) -> Mapping[str, Any] | None:
    if not line.startswith("{"):
        return None
    data = read_object(line)
    return data if "text" in data and "from" in data else None


def _person(message: Mapping[str, Any]) -> Person:
    label = str(message.get("from") or "you")
    return Person(str(message.get("handle") or label).strip("@{}"), label)


def _listed(lines: Iterable[str]) -> Iterable[Person]:
    """Find the people of the list of participants: JSON objects with a handle, or lines with `@{handle}`."""
    for line in lines:
        if line.startswith("{"):
            data = read_object(line)
            if "text" not in data and data.get("handle"):
                handle = str(data["handle"]).strip("@{}")
                yield Person(handle, str(data.get("label") or data.get("name") or data.get("from") or handle))
        elif not _MEMORY.match(line):
            for match in _HANDLE.finditer(line):
                yield Person(match["handle"], match["label"].strip() or match["handle"])


def _memories(lines: Iterable[str]) -> Iterable[SeenMemory]:
    about = ""
    for line in lines:
        if heading := _HEADING.match(line):
            about = heading["label"].strip()
        elif _ANY_HEADING.match(line):
            about = ""
        elif memory := _MEMORY.match(line):
            yield SeenMemory(int(memory["id"]), memory["content"].strip(), about)
