"""Our own form of file, version 1: read with every fault and every unknown field named. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.contracts.memory import MemoryScope
from agent.json_file import Fields, kind_of
from agent.places import Audience
from agent.text import clean, clip, one_line
from plugins.memory.transfer.collecting import Collected, content_of, moment_of, name_of, tags_of
from plugins.memory.transfer.entries import (
    FORMAT,
    MAX_NAME,
    VERSION,
    Entry,
    ImportRefused,
    LineageKind,
    LineageRef,
    Parsed,
    Person,
    Source,
    Spot,
)

DEFAULT_LABEL: Final = "default"
GLOBAL_LABEL: Final = "global"
_TOP: Final = ("format", "version", "exported_at", "server", "lineages", "server_memories", "personal_memories")
_USED: Final = ("content", "lineage", "audience", "place", "tags", "created_at")
_INFORMS: Final = ("id", "origin", "manually_written", "updated_at", "last_reinforced_at")
ENTRY_FIELDS: Final = (*_USED, *_INFORMS)
"""The fields of an entry of either kind."""
_PERSON_KEY: Final = {MemoryScope.SERVER: "about", MemoryScope.PERSONAL: "person"}
_PERSON: Final = ("platform", "id", "name")
_PLACE: Final = ("platform", "server", "channel")


def read_own(data: Mapping[str, Any], name: str) -> Parsed:
    """Return the memories of a file of ours.

    Raises:
        ImportRefused: another version, or faults, a line each.
    """
    check_version(data, name)
    collected = Collected(Source.ISTHMUS)
    collected.unknown(data, _TOP)
    lineages = _lineages(collected, data.get("lineages"))
    for scope in MemoryScope:
        where = f"{scope}_memories"
        for number, place, fields in collected.objects(data.get(where), where):
            collected.entries.append(_entry(collected, scope, (number, place), fields, lineages))
    if collected.report.errors:
        raise ImportRefused(*collected.report.errors)
    return collected.parsed()


def check_version(data: Mapping[str, Any], name: str) -> None:
    """Refuse what is no file of ours, or one of another version.

    Raises:
        ImportRefused: with what to do.
    """
    form, version = data.get("format"), data.get("version")
    if form != FORMAT:
        raise ImportRefused(f"{name}: format {_shown(form)} is not known; {FORMAT!r} is what isthmus writes")
    if isinstance(version, bool) or not isinstance(version, int):
        raise ImportRefused(f"{name}: version: {VERSION} is expected, this is {_shown(version)}")
    if version > VERSION:
        raise ImportRefused(
            f"{name}: version {_shown(version)} was written by a newer isthmus; this one reads version {VERSION}: "
            "update isthmus, then import it again"
        )
    if version < VERSION:
        raise ImportRefused(
            f"{name}: version {_shown(version)} is not read any more; this isthmus reads version {VERSION}: "
            "export the memories again where they come from"
        )


def _shown(value: object) -> str:
    if isinstance(value, str):
        return repr(clip(value, 40))
    return str(value)[:20] if isinstance(value, int) and not isinstance(value, bool) else kind_of(value)


def _lineages(collected: Collected, value: Any) -> dict[str, LineageRef]:
    """Return the lineages by their label in the file."""
    known = {
        DEFAULT_LABEL: LineageRef(LineageKind.DEFAULT, DEFAULT_LABEL),
        GLOBAL_LABEL: LineageRef(LineageKind.GLOBAL, GLOBAL_LABEL),
    }
    if value is None:
        return known
    if not isinstance(value, Mapping):
        collected.report.errors.append(f"lineages: an object is expected, this is {kind_of(value)}")
        return known
    for key, item in value.items():
        label = clip(one_line(clean(key)), MAX_NAME)
        where = f"lineages: {clip(label, 80)}"
        if not isinstance(item, Mapping):
            collected.report.errors.append(f"{where}: an object is expected, this is {kind_of(item)}")
            continue
        fields = Fields(item, where, collected.report)
        collected.unknown(item, ("personas",), where)
        names = fields.texts("personas", most=1000, longest=MAX_NAME)
        kind = known[label].kind if label in known else LineageKind.NAMED
        known[label] = LineageRef(kind, label, names)
    return known


def _entry(
    collected: Collected,
    scope: MemoryScope,
    at: tuple[int, str],
    fields: Fields,
    lineages: Mapping[str, LineageRef],
) -> Entry:
    person_key = _PERSON_KEY[scope]
    collected.leave_out(at[0], sorted(fields.unknown((*ENTRY_FIELDS, person_key))))
    for key in ("updated_at", "last_reinforced_at"):
        moment_of(fields, key)
    return Entry(
        number=at[0],
        where=at[1],
        scope=scope,
        content=content_of(fields, "content"),
        lineage=_lineage(scope, fields, lineages),
        person=_person(collected, at[0], fields, person_key),
        audience=_audience(fields),
        spot=_spot(collected, at[0], fields),
        tags=tags_of(fields),
        created_at=moment_of(fields, "created_at"),
    )


def _lineage(scope: MemoryScope, fields: Fields, lineages: Mapping[str, LineageRef]) -> LineageRef:
    label = one_line(fields.text("lineage", longest=MAX_NAME))
    if not label:
        return LineageRef()
    found = lineages.get(label)
    if found is None:
        fields.fault("lineage", f"{clip(label, 80)!r} does not stand in the file's lineages")
        return LineageRef()
    if found.kind is LineageKind.GLOBAL and scope is MemoryScope.SERVER:
        fields.fault("lineage", "only personal memories can be global")
    return found


def _object(fields: Fields, key: str) -> Fields | None:
    value = fields.data.get(key)
    if value is None:
        return None
    if not isinstance(value, Mapping):
        fields.fault(key, f"an object is expected, this is {kind_of(value)}")
        return None
    return fields.inside(key, value)


def _person(collected: Collected, number: int, fields: Fields, key: str) -> Person | None:
    inner = _object(fields, key)
    if inner is None:
        return None
    collected.leave_out(number, (f"{key}.{name}" for name in sorted(inner.unknown(_PERSON))))
    person = Person(name_of(inner, "id"), name_of(inner, "platform") or None, name_of(inner, "name"))
    if not person.external_id:
        inner.fault("id", "a text is expected, this is missing or empty")
    return person


def _spot(collected: Collected, number: int, fields: Fields) -> Spot | None:
    inner = _object(fields, "place")
    if inner is None:
        return None
    collected.leave_out(number, (f"place.{name}" for name in sorted(inner.unknown(_PLACE))))
    return Spot(name_of(inner, "platform"), name_of(inner, "server") or None, name_of(inner, "channel") or None)


def _audience(fields: Fields) -> Audience | None:
    text = fields.text("audience")
    if not text:
        return None
    if text not in set(Audience):
        fields.fault("audience", f"{', '.join(Audience)} are expected, this is {clip(text, 40)!r}")
        return None
    return Audience(text)
