"""Lorebooks as people see them in an answer: lines, and the same as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agent.catalog import translate, translate_count
from agent.text import clip, one_line

if TYPE_CHECKING:
    from plugins.lorebook.book import Book, Entry
    from plugins.lorebook.context import Scan
    from plugins.lorebook.library import Found
    from plugins.lorebook.repository import Listed
    from plugins.lorebook.rules import Hit

_KEYS_SHOWN = 80


def book_line(listed: Listed, locale: str) -> str:
    """Return one line of the list of lorebooks."""
    book = listed.book
    entries = translate_count(locale, "{count} entry", "{count} entries", listed.entries)
    return ", ".join([f"{one_line(book.name)}: {entries}", *_where(book, locale)])


def _where(book: Book, locale: str) -> list[str]:
    said: list[str] = []
    if not book.enabled:
        said.append(translate(locale, "off"))
    if book.scope.lineage_id is not None:
        said.append(translate(locale, "for one persona only"))
    if book.scope.channel_ids:
        said.append(translate_count(locale, "in {count} channel", "in {count} channels", len(book.scope.channel_ids)))
    return said


def book_data(book: Book, entries: int) -> dict[str, Any]:
    """Return a lorebook as data, without its entries."""
    return {
        "lorebook_id": book.book_id,
        "name": book.name,
        "description": book.description,
        "entries": entries,
        "enabled": book.enabled,
        "lineage_id": book.scope.lineage_id,
        "channels": list(book.scope.channel_ids),
        "depth": book.scan_depth,
        "budget": book.token_budget,
        "recursive": book.recursive,
    }


def entry_line(entry: Entry, locale: str) -> str:
    """Return one line of a list of entries."""
    keys = ", ".join(entry.keys) if not entry.constant else translate(locale, "always")
    off = "" if entry.enabled else f" ({translate(locale, 'off')})"
    return f"{entry.entry_id} {one_line(entry.label)}: {clip(keys, _KEYS_SHOWN)}{off}"


def entry_lines(found: Found, locale: str) -> list[str]:
    """Return everything about an entry; what is as usual is left out."""
    entry = found.entry
    facts = {
        "keys": ", ".join(entry.keys),
        "secondary": ", ".join(entry.secondary_keys),
        "logic": entry.logic.value if entry.secondary_keys else "",
        "selective": "" if entry.selective or not entry.secondary_keys else "off",
        "constant": "on" if entry.constant else "",
        "enabled": "" if entry.enabled else "off",
        "order": str(entry.order),
        "depth": _known(entry.scan_depth),
        "whole-words": _known(entry.whole_words),
        "case-sensitive": _known(entry.case_sensitive),
        "probability": str(entry.probability) if entry.probability != 100 else "",  # noqa: PLR2004 - per cent
        "exclude-recursion": "on" if entry.exclude_recursion else "",
        "prevent-recursion": "on" if entry.prevent_recursion else "",
        "delay-until-recursion": "on" if entry.delay_until_recursion else "",
    }
    title = translate(
        locale,
        "Entry {entry_id} of “{book}”: {name}",
        entry_id=entry.entry_id,
        book=found.book.name,
        name=one_line(entry.label),
    )
    return [title, *(f"{word}: {value}" for word, value in facts.items() if value), "", entry.content]


def _known(value: bool | int | None) -> str:  # noqa: FBT001 - a value, not a switch
    if isinstance(value, bool):
        return "on" if value else "off"
    return "" if value is None else str(value)


def entry_data(entry: Entry) -> dict[str, Any]:
    """Return an entry as data."""
    return {
        "entry_id": entry.entry_id,
        "name": entry.name,
        "content": entry.content,
        "keys": list(entry.keys),
        "secondary": list(entry.secondary_keys),
        "logic": entry.logic.value,
        "selective": entry.selective,
        "constant": entry.constant,
        "enabled": entry.enabled,
        "order": entry.order,
        "depth": entry.scan_depth,
        "whole_words": entry.whole_words,
        "case_sensitive": entry.case_sensitive,
        "probability": entry.probability,
        "exclude_recursion": entry.exclude_recursion,
        "prevent_recursion": entry.prevent_recursion,
        "delay_until_recursion": entry.delay_until_recursion,
        "extra": dict(entry.extra),
    }


def scan_lines(scan: Scan, locale: str) -> list[str]:
    """Return what a message calls up, and why."""
    found = scan.activation
    if not found.hits and not found.left_out:
        lines = [translate(locale, "This calls up nothing.")]
    else:
        count = len(found.hits)
        lines = [translate_count(locale, "{count} entry joins the prompt:", "{count} entries join the prompt:", count)]
    lines += [_hit_line(hit, locale) for hit in found.hits]
    if found.left_out:
        lines.append(translate(locale, "Left out, because the budget is spent:"))
        lines += [_hit_line(hit, locale) for hit in found.left_out]
    for pattern in scan.late:
        lines.append(translate(locale, "This pattern took too long: {pattern}", pattern=clip(pattern, _KEYS_SHOWN)))
    return lines


def _hit_line(hit: Hit, locale: str) -> str:
    what = f"{hit.entry.entry_id} {one_line(hit.entry.label)} ({one_line(hit.ready.book_name)})"
    if not hit.key:
        why = translate(locale, "always")
    elif hit.step:
        why = translate(locale, "“{key}”, in what another entry says", key=clip(hit.key, _KEYS_SHOWN))
    else:
        why = translate(locale, "“{key}”", key=clip(hit.key, _KEYS_SHOWN))
    often = f", {hit.entry.probability} %" if hit.entry.probability != 100 else ""  # noqa: PLR2004 - per cent
    return f"{what}: {why}{often}"


def scan_data(scan: Scan) -> dict[str, Any]:
    """Return the same as data."""
    return {
        "active": _hits(scan.activation.hits),
        "left_out": _hits(scan.activation.left_out),
        "late_patterns": list(scan.late),
    }


def _hits(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    return [
        {
            "entry_id": hit.entry.entry_id,
            "name": hit.entry.name,
            "lorebook": hit.ready.book_name,
            "key": hit.key,
            "step": hit.step,
            "tokens": hit.ready.cost,
        }
        for hit in hits
    ]
