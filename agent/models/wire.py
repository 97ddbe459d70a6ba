"""Turns a prompt into the messages that go on the wire: nothing is added, lost or reordered.

The order on the wire is the order of the prompt's items:

1. the system items of the prefix, as one system message;
2. the conversation of the prefix: people's messages and the agent's own, neighbours of one role merged;
3. the tail, in one user message after the cache point, so that what changes each turn never stands in the cached part.

A provider's client spends loop time on every message, so there are at most `limit` of them: what is too much is
merged at the old end into one user message, in which the agent's own words are marked as a JSON object
`{"you_said": …}` (people's words are JSON objects already).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agent.contracts.context import ContextItem, Image, Prompt, Role, Section, Tag

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

FEWEST: Final = 4
"""System, merged past, the agent's last words, the tail: fewer messages cannot carry a conversation."""


@dataclass(frozen=True, slots=True)
class WireMessage:
    """One message: who speaks, and its texts in order."""

    role: Role
    texts: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the texts as one: paragraphs for the system, else lines."""
        return ("\n\n" if self.role is Role.SYSTEM else "\n").join(self.texts)


@dataclass(frozen=True, slots=True)
class WirePrompt:
    """A prompt as it goes on the wire."""

    prefix: tuple[WireMessage, ...]
    """What may be cached."""
    tail: tuple[str, ...]
    """The texts of the last user message that stand after the cache point."""
    images: tuple[Image, ...] = ()
    """Pictures that stand behind the tail."""

    @property
    def characters(self) -> int:
        """Return how long everything is."""
        return sum(len(message.text) for message in self.prefix) + sum(map(len, self.tail))


def wire_prompt(prompt: Prompt, limit: int) -> WirePrompt:
    """Return the prompt as at most `limit` messages (but never fewer than it takes: 4)."""
    shown = [(item, text) for item in prompt.items if (text := item.render()).strip()]
    system = [text for item, text in shown if item.section is Section.PREFIX and item.role is Role.SYSTEM]
    tail = [text for item, text in shown if item.section is Section.TAIL and item.tag is not Tag.HISTORY]
    talk = [
        item
        for item, _ in shown
        if item.tag is Tag.HISTORY or (item.section is Section.PREFIX and item.role is not Role.SYSTEM)
    ]
    head = [WireMessage(Role.SYSTEM, tuple(system))] if system else []
    room = max(limit, FEWEST) - len(head) - (1 if tail else 0)
    return WirePrompt((*head, *_fold(_merge(talk), room)), tuple(tail), prompt.images)


def _merge(items: Iterable[ContextItem]) -> list[WireMessage]:
    """Merge neighbours of one role."""
    merged: list[WireMessage] = []
    for item in items:
        if merged and merged[-1].role is item.role:
            merged[-1] = WireMessage(item.role, (*merged[-1].texts, item.render()))
        else:
            merged.append(WireMessage(item.role, (item.render(),)))
    return merged


def _fold(messages: Sequence[WireMessage], room: int) -> list[WireMessage]:
    """Fold the oldest messages into one user message until at most `room` are left and a user speaks first."""
    folded = len(messages) - room + 1 if len(messages) > room else 0
    if not folded and messages and messages[0].role is Role.ASSISTANT:
        folded = 1  # providers want a user's message first; the fold is one
    if folded and folded < len(messages) and messages[folded].role is Role.USER:
        folded += 1  # it would stand right behind the fold, which is a user's message too
    if not folded:
        return list(messages)
    lines = tuple(line for message in messages[:folded] for line in _as_past(message))
    return [WireMessage(Role.USER, lines), *messages[folded:]]


def _as_past(message: WireMessage) -> Iterable[str]:
    if message.role is Role.USER:
        return message.texts
    return (json.dumps({"you_said": text}, ensure_ascii=False) for text in message.texts)


def to_messages(wire: WirePrompt, *, cache_point: bool) -> list[ModelMessage]:
    """Return the wire prompt as pydantic-ai's messages.

    With `cache_point` the last user message holds its texts one by one, the cache point before the tail. Without it
    every message is one plain string, which every OpenAI-compatible server reads; only pictures make it a list.
    """
    from pydantic_ai.messages import (
        BinaryContent,
        CachePoint,
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        UserContent,
        UserPromptPart,
    )

    messages: list[ModelMessage] = []
    for message in wire.prefix:
        if message.role is Role.ASSISTANT:
            messages.append(ModelResponse(parts=[TextPart(message.text)]))
            continue
        part = (SystemPromptPart if message.role is Role.SYSTEM else UserPromptPart)(message.text)
        messages.append(ModelRequest(parts=[part]))
    if not wire.tail:
        return messages
    images = [BinaryContent(image.content, media_type=image.content_type) for image in wire.images]
    if not cache_point and not images:
        messages.append(ModelRequest(parts=[UserPromptPart("\n\n".join(wire.tail))]))
        return messages
    has_talk = any(message.role is not Role.SYSTEM for message in wire.prefix)
    texts = wire.tail if cache_point else ("\n\n".join(wire.tail),)
    content: list[UserContent] = [*([CachePoint()] if has_talk and cache_point else []), *texts, *images]
    messages.append(ModelRequest(parts=[UserPromptPart(content)]))
    return messages
