from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from hypothesis import given
from hypothesis import strategies as st

from agent import catalog, catalog_extract
from agent.catalog import N_, Translator, available_locales, fill, placeholders, translate, translate_count

LIMIT = "{key} can be at most {limit} here."
LIMIT_DE = "{key} darf hier höchstens {limit} sein."


def test_english_is_the_sentence_itself() -> None:
    assert translate("en", LIMIT, key="memory.max", limit=5) == "memory.max can be at most 5 here."
    assert N_("x") == "x"


@pytest.mark.parametrize("locale", ["de", "de_AT", "de-CH", "DE", "de_DE.UTF-8"])
def test_german(locale: str) -> None:
    assert translate(locale, LIMIT, key="memory.max", limit=5) == "memory.max darf hier höchstens 5 sein."
    assert Translator(locale)(LIMIT, key="k", limit=1) == "k darf hier höchstens 1 sein."


@pytest.mark.parametrize("locale", ["xx", "", "../../de", "/etc", "de/../de", "\0", "en_GB", "x" * 10_000])
def test_other_languages_are_answered_in_english(locale: str) -> None:
    assert translate(locale, LIMIT, key="k", limit=5) == "k can be at most 5 here."


def test_what_is_not_translated_is_said_in_english() -> None:
    assert translate("de", "Never translated {x}.", x=1) == "Never translated 1."


def test_counted_sentences(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pl/LC_MESSAGES").mkdir(parents=True)
    (tmp_path / "pl/LC_MESSAGES/messages.po").write_text(
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n'
        '"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);\\n"\n'
        '\nmsgid "{count} fact of {who}"\nmsgid_plural "{count} facts of {who}"\n'
        'msgstr[0] "{count} fakt {who}"\nmsgstr[1] "{count} fakty {who}"\nmsgstr[2] "{count} faktów {who}"\n'
        '\n#, fuzzy\nmsgid "Yes"\nmsgstr "Nie"\n'
    )
    monkeypatch.setattr(catalog, "_root", lambda: tmp_path)
    for cached in (catalog._catalog, catalog._translated, catalog._read):
        cached.cache_clear()
    forms = ("{count} fact of {who}", "{count} facts of {who}")
    assert [translate_count("pl", *forms, count, who="Ana") for count in (1, 2, 5, 22)] == [
        "1 fakt Ana",
        "2 fakty Ana",
        "5 faktów Ana",
        "22 fakty Ana",
    ]
    assert [Translator("en").count(*forms, count, who="Ana") for count in (0, 1, 2)] == [
        "0 facts of Ana",
        "1 fact of Ana",
        "2 facts of Ana",
    ]
    assert translate("pl", "Yes") == "Yes"
    assert available_locales() == ("en", "pl")
    for cached in (catalog._catalog, catalog._translated, catalog._read):
        cached.cache_clear()


def test_values_with_braces_are_not_filled_again() -> None:
    assert translate("en", "{name} wrote {text}", name="{text}", text="{name}") == "{text} wrote {name}"
    assert (
        translate("de", LIMIT, key="{limit}", limit="{0.__class__}")
        == "{limit} darf hier höchstens {0.__class__} sein."
    )


@given(st.text(), st.dictionaries(st.sampled_from(["name", "text"]), st.text()))
def test_filling_never_fails_and_leaves_other_braces_alone(value: str, values: dict[str, str]) -> None:
    assert fill(f"<{value}>", {}) == f"<{value}>"
    filled = fill("{name}|{text}|{", values)
    assert filled == f"{values.get('name', '{name}')}|{values.get('text', '{text}')}|{{"


def test_a_sentence_may_have_placeholders_of_any_name() -> None:
    assert translate("en", "{locale} {msgid} {self}", locale=1, msgid=2, self=3) == "1 2 3"


def test_the_template_holds_the_sentences_of_the_code() -> None:
    assert catalog_extract.sentences(catalog_extract.read(catalog_extract.TEMPLATE)).keys() == (
        catalog_extract.sentences(catalog_extract.extracted()).keys()
    ), "run: python -m agent.catalog_extract"


def strings(message: Message) -> list[str]:
    string = message.string
    return [text for text in ([string] if isinstance(string, str) else list(string or ())) if text]


def ids(message: Message) -> Sequence[str]:
    return [message.id] if isinstance(message.id, str) else message.id


def test_translations_have_the_placeholders_of_their_sentence() -> None:
    compared = 0
    for locale, path in catalog_extract.translations():
        for message in catalog_extract.read(path, locale):
            if not message.id:
                continue
            # A form for one may leave the number out.
            needed = frozenset.intersection(*map(placeholders, ids(message)))
            allowed = frozenset.union(*map(placeholders, ids(message)))
            for text in strings(message):
                compared += 1
                assert needed - {"count"} <= placeholders(text) <= allowed, f"{path}: {text}"
    assert compared


def test_no_sentence_has_braces_that_are_no_placeholder() -> None:
    for message in catalog_extract.extracted():
        for text in ids(message) if message.id else ():
            rest = re.sub(r"\{[a-z_][a-z0-9_]*\}", "", text)
            assert not set(rest) & set("{}%"), text


def test_the_translations_hold_no_sentence_that_the_code_has_not() -> None:
    known = catalog_extract.sentences(catalog_extract.read(catalog_extract.TEMPLATE)).keys()
    for locale, path in catalog_extract.translations():
        assert catalog_extract.sentences(catalog_extract.read(path, locale)).keys() <= known, path


def test_the_refreshed_files_are_read_again_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    german = tmp_path / "de/LC_MESSAGES/messages.po"
    german.parent.mkdir(parents=True)
    german.write_text('msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n')
    monkeypatch.setattr(catalog_extract, "LOCALES", tmp_path)
    monkeypatch.setattr(catalog_extract, "TEMPLATE", tmp_path / "messages.pot")
    monkeypatch.setattr(catalog_extract, "_shown", lambda path: path.name)
    first = catalog_extract.refresh()
    assert len(first) == 2
    assert first[1].startswith("messages.po: ")
    template = (tmp_path / "messages.pot").read_bytes()
    assert LIMIT in template.decode()
    assert LIMIT in german.read_text()
    again = catalog_extract.refresh()
    assert len(again) == 1
    assert (tmp_path / "messages.pot").read_bytes() == template


def test_babel_is_imported_only_for_other_languages() -> None:
    code = f"""
import sys
from agent.catalog import translate
translate("en", "x")
translate("fr", "x")
assert not any(name.startswith("babel") for name in sys.modules)
print(translate("de", {LIMIT!r}, key=1, limit=2))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1 darf hier höchstens 2 sein."


async def test_a_language_can_be_read_beside_the_loop() -> None:
    catalog._catalog.cache_clear()
    catalog._read.cache_clear()
    await asyncio.to_thread(catalog.preload, "de")
    assert catalog._read.cache_info().currsize == 1
