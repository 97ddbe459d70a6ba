"""The sentences that the agent itself says, in the language of whom it says them to.

The English sentence is the message id and stands in the code:

    translate(turn.locale, "Saved as memory {id}.", id=12)
    _ = Translator(turn.locale);  _("Saved as memory {id}.", id=12)

Other languages are `.po` files below `agent/locale`, read with Babel when first used. What is not translated is said in
English. `python -m agent.catalog_extract` refreshes the template and the translations.
"""

from __future__ import annotations

import functools
import gettext
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

DOMAIN = "messages"
SOURCE_LOCALE = "en"

_PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*)\}")


def N_(msgid: str) -> str:  # noqa: N802 - gettext's name for it, which extraction tools know
    """The sentence itself: marks one that is translated later, where it is said."""
    return msgid


def translate(locale: str, msgid: str, /, **values: object) -> str:
    """The sentence in a language, with its `{name}` placeholders filled.

    Args:
        locale: `de`, `pt_BR`, `pt-BR`; one that is not there falls back to its language, then to English.
        msgid: The English sentence.
        values: The placeholders' values. A value that holds braces itself is never filled again.

    """
    return fill(_catalog(locale).sentences.get(msgid, msgid), values)


def translate_count(locale: str, one: str, many: str, count: int, /, **values: object) -> str:
    """The form of the sentence that `count` takes in the language; `{count}` is filled too."""
    catalog = _catalog(locale)
    forms = catalog.counted.get((one, many))
    if forms:
        index = catalog.form(count)
        text = forms[index] if index < len(forms) else forms[-1]
    else:
        text = one if count == 1 else many
    return fill(text, {"count": count, **values})


@dataclass(frozen=True, slots=True)
class Translator:
    """`translate` for one language."""

    locale: str

    def __call__(self, msgid: str, /, **values: object) -> str:
        """The sentence in this language."""
        return translate(self.locale, msgid, **values)

    def count(self, one: str, many: str, count: int, /, **values: object) -> str:
        """The form that `count` takes."""
        return translate_count(self.locale, one, many, count, **values)


def fill(text: str, values: Mapping[str, object]) -> str:
    """Put the values in, once: braces within a value stay as they are, and so does a placeholder without a value."""
    return _PLACEHOLDER.sub(lambda match: str(values.get(match[1], match[0])), text)


def placeholders(text: str) -> frozenset[str]:
    """The names of a sentence's placeholders."""
    return frozenset(_PLACEHOLDER.findall(text))


def available_locales() -> tuple[str, ...]:
    """The languages that the agent speaks, English first."""
    return (SOURCE_LOCALE, *sorted(item.name for item in _root().iterdir() if _file(item).is_file()))


def preload(locale: str) -> None:
    """Read a language's file now, in a thread where an event loop runs: reading it takes some milliseconds."""
    _catalog(locale)


@dataclass(frozen=True, slots=True)
class _Catalog:
    sentences: Mapping[str, str]
    counted: Mapping[tuple[str, str], tuple[str, ...]]
    form: Callable[[int], int]


_ENGLISH = _Catalog({}, {}, lambda count: int(count != 1))


@functools.lru_cache(maxsize=256)
def _catalog(locale: str) -> _Catalog:
    language, _, rest = locale.replace("-", "_").partition("_")
    names = [f"{language.lower()}_{rest.partition('.')[0].upper()}", language.lower()]
    found = next((name for name in names if name in _translated()), None)
    return _ENGLISH if found is None else _read(found)


@functools.cache
def _translated() -> frozenset[str]:
    return frozenset(available_locales()[1:])


@functools.cache
def _read(name: str) -> _Catalog:
    from babel.messages.pofile import read_po

    with _file(_root() / name).open("rb") as file:
        messages = read_po(file, locale=name)
    sentences: dict[str, str] = {}
    counted: dict[tuple[str, str], tuple[str, ...]] = {}
    for message in messages:
        if not message.id or message.fuzzy:
            continue
        if isinstance(message.id, str):
            if isinstance(message.string, str) and message.string:
                sentences[message.id] = message.string
        elif isinstance(message.string, (tuple, list)) and all(message.string):
            counted[message.id[0], message.id[1]] = tuple(message.string)
    return _Catalog(sentences, counted, gettext.c2py(messages.plural_expr))


def _root() -> Traversable:
    return resources.files("agent") / "locale"


def _file(directory: Traversable) -> Traversable:
    return directory / "LC_MESSAGES" / f"{DOMAIN}.po"
