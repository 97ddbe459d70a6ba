"""The rules of the offline model: what it says or calls for what it sees. English only, and a few phrases at that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agent.models.offline_results import report
from agent.models.offline_sight import Person, SeenMemory, Sight, fold

CREATE: Final = "create_long_term_memory"
UPDATE: Final = "update_long_term_memory"
MAX_LISTED: Final = 20


@dataclass(frozen=True, slots=True)
class Say:
    """An answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool."""

    tool: str
    arguments: Mapping[str, Any]


HELP: Final = (
    "I am the offline model: a few fixed rules, no language model. "
    'I understand "remember that …", "remember that NAME …", "remember that I …", "forget ID" (the number of a '
    'memory), and "what do you know about me / NAME / this server". '
    "Set [agent] model in plugins.toml to talk with a real one."
)

_ADDRESS: Final = (
    r"(?:(?:hey|hi|hello|ok|okay|please|@\S{1,60}|[^\s,:]{1,40}[,:]),?\s+){0,3}"
    r"(?:please\s+|(?:can|could|would) you\s+(?:please\s+)?)?"
)
_REMEMBER: Final = re.compile(rf"{_ADDRESS}remember(?:\s*:|\s+that\b|,)?\s+(?P<fact>\S.*)\Z", re.IGNORECASE | re.DOTALL)
_FORGET: Final = re.compile(
    rf"{_ADDRESS}forget\s+(?:(?:about\s+)?(?:memory|number|id)\s*:?\s*)?#?(?P<id>\d{{1,18}})\W*\Z", re.IGNORECASE
)
_FORGET_WHAT: Final = re.compile(rf"{_ADDRESS}forget\b", re.IGNORECASE)
_KNOW: Final = re.compile(
    rf"{_ADDRESS}(?:what (?:do|can|did) you (?:know|remember|recall)|tell me what you know)"
    r"(?:\s+(?:about|of)\s+(?P<about>.+)|\W*\Z)",
    re.IGNORECASE | re.DOTALL,
)
_GREETING: Final = re.compile(
    r"(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening)|moin|hallo)\b", re.IGNORECASE
)
_OF_SPEAKER: Final = re.compile(r"(?:i|my|mine)\b", re.IGNORECASE)
_ME: Final = frozenset({"me", "myself", "i"})
_HERE: Final = re.compile(
    r"(?:(?:this|the|our)\s+)?(?:server|place|room|space|channel|guild|conversation|chat)|here|us"
)


def answer(sight: Sight) -> Say | Call:
    """Return what the offline model does next."""
    if sight.results:
        return Say(" ".join(report(result) for result in sight.results))
    text = sight.text
    if not text.endswith("?") and (match := _REMEMBER.match(text)):
        return _remember(sight, match["fact"].strip())
    if match := _FORGET.match(text):
        return _forget(sight, int(match["id"]))
    if _FORGET_WHAT.match(text):
        return Say('Say "forget ID" with the number of the memory; "what do you know about …" shows the numbers.')
    if match := _KNOW.match(text):
        return Say(_tell(sight, (match["about"] or "here").strip(" ?.!\t\n")))
    if _GREETING.match(text):
        return Say(f"Hello, {sight.speaker.label}! {HELP}")
    return Say(HELP)


def _remember(sight: Sight, fact: str) -> Say | Call:
    if CREATE not in sight.tools:
        return Say("I cannot remember anything here: no memory tool is switched on.")
    whom = _target(sight, fact)
    if whom is None:
        return Call(CREATE, {"memory_content": fact, "memory_scope": "server_wide"})
    content = f"{{user}} says: {fact}" if _OF_SPEAKER.match(fact) else fact
    return Call(CREATE, {"memory_content": content, "memory_scope": "target_user", "target_user": whom})


def _target(sight: Sight, fact: str) -> str | None:
    """Return whom a fact is about, as the tool takes it; None when it is about the server.

    A first word is a person only when the prompt names one so: "game night is every Friday" is about the server.
    """
    if _OF_SPEAKER.match(fact):
        return "me"
    names = {name for person in sight.people for name in (person.handle, person.label) if name}
    for name in sorted(names, key=len, reverse=True):
        if written := _begins_with(fact, name):
            person = sight.person(written)
            # A name that two people bear is passed on as it is: the tool asks back.
            return written if person is None else _handle(sight, person)
    return None


def _handle(sight: Sight, person: Person) -> str:
    return "me" if person == sight.speaker else f"@{{{person.handle}}}"


def _begins_with(fact: str, name: str) -> str | None:
    """Return a name as a fact begins with it, as a whole word; `@name` and `@{name}` included."""
    for written in (f"@{{{name}}}", f"@{name}", name):
        if fact.casefold().startswith(written.casefold()) and not fact[len(written) : len(written) + 1].isalnum():
            return fact[: len(written)]
    return None


def _forget(sight: Sight, memory_id: int) -> Say | Call:
    if UPDATE not in sight.tools:
        return Say("I cannot forget anything here: no memory tool is switched on.")
    arguments: dict[str, Any] = {"memory_id": memory_id, "memory_content": ""}
    about = next((memory.about for memory in sight.memories if memory.memory_id == memory_id), "")
    if about and (person := sight.person(about)):
        arguments["target_user"] = _handle(sight, person)
    return Call(UPDATE, arguments)


def _tell(sight: Sight, about: str) -> str:
    if _HERE.fullmatch(about.casefold()):
        found = [memory for memory in sight.memories if sight.person(memory.about) is None]
        return _list("this place", found)
    person = sight.speaker if about.casefold() in _ME else sight.person(about)
    if person is None:
        words = [word for word in re.findall(r"\w+", about.casefold()) if len(word) > 2]  # noqa: PLR2004 - "of", "is"
        return _list(about, [memory for memory in sight.memories if words and _holds(memory, words)])
    own = {fold(person.handle), fold(person.label)}
    found = [memory for memory in sight.memories if fold(memory.about) in own or _names(memory, person)]
    return _list("you" if person == sight.speaker else person.label, found)


def _holds(memory: SeenMemory, words: list[str]) -> bool:
    return all(word in memory.content.casefold() for word in words)


def _names(memory: SeenMemory, person: Person) -> bool:
    """Tell whether a memory speaks of the person, below whichever heading it stands."""
    names = (person.label, person.handle)
    return any(re.search(rf"\b{re.escape(name)}\b", memory.content, re.IGNORECASE) for name in names)


def _list(about: str, memories: list[SeenMemory]) -> str:
    if not memories:
        return f"I know nothing about {about} yet."
    lines = [f"- {memory.content} (ID {memory.memory_id})" for memory in memories[:MAX_LISTED]]
    more = [f"- and {len(memories) - MAX_LISTED} more"] if len(memories) > MAX_LISTED else []
    return "\n".join([f"This is what I know about {about}:", *lines, *more])
