"""The registry's commands as Discord's application commands: pure functions."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from agent.catalog import SOURCE_LOCALE, available_locales, translate
from agent.commands import Command, Option, OptionKind, Rights
from agent.text import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

type Payload = dict[str, Any]

CHAT, ON_PERSON, ON_MESSAGE = 1, 2, 3
"""Kinds of application commands."""
SUBCOMMAND, GROUP = 1, 2
MOST_OPTIONS: Final = 25
MOST_CHOICES: Final = 25
MOST_COMMANDS: Final = 100
MOST_MENUS: Final = 5
"""Of people, and as many of messages: what every version of Discord takes."""
DEPTH: Final = 3
SIZE: Final = 8_000
"""Characters of all names, descriptions and choices of one command."""
DESCRIPTION: Final = 100
NAME: Final = 32
CHOICE: Final = 100
MANAGE_SERVER: Final = 1 << 5
_GUILD, _DIRECT = 0, 1
_NAME: Final = re.compile(r"[-_\w]{1,32}")
_KINDS: Final = {
    OptionKind.TEXT: 3,
    OptionKind.INTEGER: 4,
    OptionKind.BOOLEAN: 5,
    OptionKind.PERSON: 6,
    OptionKind.CHANNEL: 7,
    OptionKind.FILE: 11,
    OptionKind.MESSAGE: 3,
}
_LOCALES: Final = frozenset(
    {
        *("bg", "cs", "da", "de", "el", "es-419", "es-ES", "fi", "fr", "hi", "hr", "hu", "id", "it", "ja", "ko"),
        *("lt", "nl", "no", "pl", "pt-BR", "ro", "ru", "sv-SE", "th", "tr", "uk", "vi", "zh-CN", "zh-TW"),
    }
)
"""Languages of Discord's app."""
_BY_LANGUAGE: Final = {"es": "es-ES", "pt": "pt-BR", "sv": "sv-SE", "zh": "zh-CN", "nb": "no"}


class DoesNotFit(ValueError):
    """Commands that Discord does not take; the text names each of them and what is wrong."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What Discord is told."""

    payloads: tuple[Payload, ...]
    digest: str
    """Changes when, and only when, the payloads do."""


def declare(commands: Sequence[Command], locales: Iterable[str] | None = None) -> Declaration:
    """Return the commands as Discord takes them; descriptions in every language that the agent speaks.

    Raises:
        DoesNotFit: there are too many, or a name is none that Discord takes.
    """
    words = _Words(tuple(available_locales() if locales is None else locales))
    ordered = sorted(commands, key=lambda command: command.path)
    roots = [_root(name, list(below), words) for name, below in groupby(ordered, lambda command: command.path[0])]
    menus = [_menu(command) for command in ordered if command.menu is not None]
    payloads = (*roots, *menus)
    if problems := [*_wrong_paths(ordered), *_too_many(payloads), *_wrong_menus(menus)]:
        raise DoesNotFit("; ".join(problems))
    written = json.dumps(payloads, sort_keys=True, ensure_ascii=False)
    return Declaration(payloads, hashlib.sha256(written.encode()).hexdigest())


def menu_kind(command: Command) -> int:
    """Return in whose menu a command stands."""
    return ON_PERSON if any(option.kind is OptionKind.PERSON for option in command.options) else ON_MESSAGE


@dataclass(frozen=True, slots=True)
class _Words:
    """Descriptions in every language, cut to what Discord takes."""

    locales: tuple[str, ...]

    def of(self, description: str) -> Payload:
        text = _fitting(description)
        others = {
            place: said
            for locale in self.locales
            if locale != SOURCE_LOCALE
            and (place := discord_locale(locale)) is not None
            and (said := _fitting(translate(locale, description))) != text
        }
        return {"description": text, **({"description_localizations": others} if others else {})}


def discord_locale(locale: str) -> str | None:
    """Return Discord's name of a language; None when Discord does not have it."""
    name = locale.replace("_", "-")
    if name in _LOCALES:
        return name
    language = name.partition("-")[0]
    found = _BY_LANGUAGE.get(language, language)
    return found if found in _LOCALES else None


def _fitting(description: str) -> str:
    return clip(one_line(description), DESCRIPTION) or "-"


def _root(name: str, commands: Sequence[Command], words: _Words) -> Payload:
    return {
        "type": CHAT,
        "name": name,
        **_level(commands, 1, words),
        "default_member_permissions": _fence(commands),
        "contexts": [_GUILD, _DIRECT],
        "integration_types": [0],
        "nsfw": False,
    }


def _level(commands: Sequence[Command], depth: int, words: _Words) -> Payload:
    """Return the description and options of a command, or of a group with what is below it."""
    if len(commands) == 1 and len(commands[0].path) == depth:
        return {**words.of(commands[0].description), "options": _options(commands[0], words)}
    below = [(name, list(each)) for name, each in groupby(commands, lambda command: command.path[depth])]
    return {
        "description": _fitting(" ".join(commands[0].path[:depth])),
        "options": [
            {
                "type": SUBCOMMAND if len(each[0].path) == depth + 1 else GROUP,
                "name": name,
                **_level(each, depth + 1, words),
            }
            for name, each in below
        ],
    }


def _options(command: Command, words: _Words) -> list[Payload]:
    shown = [option for option in command.options if not option.hidden]
    ordered = sorted(shown, key=lambda option: not _is_required(option))
    return [_option(option, words) for option in ordered]


def _is_required(option: Option) -> bool:
    """Tell whether an option must be given at once; a long text is asked for in a form otherwise."""
    return option.required and not option.long


def _option(option: Option, words: _Words) -> Payload:
    made: Payload = {
        "type": _KINDS[option.kind],
        "name": option.name,
        **words.of(option.description),
        "required": _is_required(option),
    }
    if option.kind not in {OptionKind.TEXT, OptionKind.INTEGER}:
        return made
    if 0 < len(option.choices) <= MOST_CHOICES:
        number = option.kind is OptionKind.INTEGER
        made["choices"] = [
            {"name": clip(each, CHOICE), "value": int(each) if number else each} for each in option.choices
        ]
    elif option.suggest is not None or option.choices:
        made["autocomplete"] = True
    return made


def _menu(command: Command) -> Payload:
    return {
        "type": menu_kind(command),
        "name": str(command.menu),
        "default_member_permissions": _fence([command]),
        "contexts": [_GUILD, _DIRECT],
        "integration_types": [0],
        "nsfw": False,
    }


def _fence(commands: Iterable[Command]) -> str | None:
    """Return who is offered commands: those who manage the server when all of these are theirs, else everybody."""
    return str(MANAGE_SERVER) if all(command.rights is Rights.MANAGE for command in commands) else None


def _wrong_paths(commands: Iterable[Command]) -> Iterator[str]:
    for command in commands:
        shown = f"/{' '.join(command.path)} of {command.owner}"
        if len(command.path) > DEPTH:
            yield f"{shown} has {len(command.path)} words; Discord takes {DEPTH}"
        names = [*command.path, *(option.name for option in command.options)]
        for name in names:
            if not _NAME.fullmatch(name) or name != name.lower():
                yield (
                    f"{shown}: {name!r} is no name that Discord takes (1 to {NAME} small letters, digits, hyphens or "
                    "underscores)"
                )
        if len(command.options) > MOST_OPTIONS:
            yield f"{shown} has {len(command.options)} options; Discord takes {MOST_OPTIONS}"


def _too_many(payloads: Sequence[Payload]) -> Iterator[str]:
    for kind, shown, most in ((CHAT, "commands", MOST_COMMANDS), (ON_PERSON, "menu entries of people", MOST_MENUS),
                              (ON_MESSAGE, "menu entries of messages", MOST_MENUS)):  # fmt: skip
        names = [payload["name"] for payload in payloads if payload["type"] == kind]
        if len(names) > most:
            yield f"{len(names)} {shown} are more than the {most} that Discord takes: {', '.join(names[most:])}"
    for payload in payloads:
        yield from _too_wide(payload, f"/{payload['name']}")
        if (size := _size(payload)) > SIZE:
            yield f"/{payload['name']} has {size} characters of names and descriptions; Discord takes {SIZE}"


def _too_wide(payload: Mapping[str, Any], shown: str) -> Iterator[str]:
    below = [each for each in payload.get("options") or () if each["type"] in {SUBCOMMAND, GROUP}]
    if len(below) > MOST_OPTIONS:
        rest = ", ".join(each["name"] for each in below[MOST_OPTIONS:])
        yield f"{shown} has {len(below)} commands below it; Discord takes {MOST_OPTIONS}: leave out {rest}"
    for each in below:
        yield from _too_wide(each, f"{shown} {each['name']}")


def _wrong_menus(menus: Sequence[Payload]) -> Iterator[str]:
    taken: set[tuple[int, str]] = set()
    for menu in menus:
        if not 1 <= len(menu["name"]) <= NAME:
            yield f"the menu entry {menu['name']!r} is longer than {NAME} characters"
        if (menu["type"], menu["name"]) in taken:
            yield f"the menu entry {menu['name']!r} is registered twice"
        taken.add((menu["type"], menu["name"]))


def _size(payload: Mapping[str, Any]) -> int:
    """Return how many characters Discord counts; of translations the longest."""
    said = [str(payload.get("description") or ""), *(payload.get("description_localizations") or {}).values()]
    choices = sum(len(each["name"]) + len(str(each["value"])) for each in payload.get("choices") or ())
    return len(payload["name"]) + max(map(len, said)) + choices + sum(map(_size, payload.get("options") or ()))
