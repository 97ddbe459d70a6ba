"""The cards that tell people what was learned, changed or forgotten (memory.md, Notices)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from agent.catalog import translate
from agent.contracts.cards import Card, CardKind, Subjects
from agent.contracts.memory import MemoryScope
from agent.privacy.hidden import NOBODY as NOBODY_HIDES
from agent.text import clean, one_line
from plugins.memory.card_actions import actions_of_changed, actions_of_deleted, actions_of_saved
from plugins.memory.content import NO_LABELS, fill
from plugins.memory.rendering import NOBODY

if TYPE_CHECKING:
    from agent.contracts.memory import MemoryWrite
    from agent.identity.mentions import Labels
    from agent.places import Audience
    from agent.privacy.hidden import HiddenNames
    from plugins.memory.memory import Memory
    from plugins.memory.repository import Added


WITHHELD: Final = ""
"""Stands for a forgotten text that may not be shown where it was forgotten."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How cards speak to people: whom `{user}` and `{bot}` mean, in which language."""

    about: str
    """The label of the person or server that the memory belongs to."""
    user: str = NOBODY
    bot: str = ""
    locale: str = "en"
    labels: Labels = NO_LABELS
    """What mentions become."""
    hidden: HiddenNames = NOBODY_HIDES.here
    """Whom no card may name."""

    def shown(self, content: str, user: str | None = None) -> str:
        """Return a memory's text as people read it; `user`: whom it is about, where that is somebody else."""
        return fill(clean(content), user=self.user if user is None else user, bot=self.bot, labels=self.labels)

    def told(self, content: str) -> tuple[str, ...]:
        """Return the line of a card that tells what a memory says; none where it names somebody who hides."""
        text = self.shown(content)
        return () if self.hidden.named_in(text) else (text,)

    def shown_forgotten(self, added: Added) -> str | None:
        """Return the text that an eviction removed, as people read it."""
        if added.forgotten_content is None:
            return None
        return self.shown(added.forgotten_content, added.forgotten_subject or NOBODY)


def saved_cards(write: MemoryWrite, added: Added, wording: Wording, *, untold: bool) -> tuple[Card, ...]:
    """Return the cards of a save: what was learned, and what an eviction removed; none for a near-duplicate."""
    if added.memory_id is None:
        return ()
    forgotten, locale = wording.shown_forgotten(added), wording.locale
    evicted = forgotten is not None
    title = (
        translate(locale, "Memory saved, and an old one forgotten") if evicted else translate(locale, "Memory saved")
    )
    lines = wording.told(write.content)
    if added.forgotten_id is not None:
        lines += (undo_hint(added.forgotten_id, locale),)
    card = Card(
        CardKind.EVICTED if evicted else CardKind.SAVED,
        title,
        lines,
        added.memory_id,
        one_line(wording.about),
        forgotten or None,
        write.audience,
        actions=actions_of_saved(write.scope, added.memory_id, write.audience, locale, forgotten_id=added.forgotten_id),
        subjects=_subjects_of_save(write, added),
    )
    if not untold:
        return (card,)
    return card, _disclosure(wording, write.audience, replace(card.subjects, memories=()))


def updated_card(memory: Memory, content: str, wording: Wording) -> Card:
    """Return the card of an update, with the new content."""
    title = translate(wording.locale, "Memory updated")
    lines = wording.told(content)
    return Card(
        CardKind.UPDATED,
        title,
        lines,
        memory.memory_id,
        one_line(wording.about),
        audience=memory.audience,
        actions=actions_of_changed(memory.scope, memory.memory_id, memory.version + 1, memory.audience, wording.locale),
        subjects=subjects_of(memory),
    )


def deleted_card(memory: Memory, forgotten: str, wording: Wording) -> Card:
    """Return the card of a deletion, with what was forgotten."""
    return Card(
        CardKind.DELETED,
        translate(wording.locale, "Memory deleted"),
        (undo_hint(memory.memory_id, wording.locale),),
        memory_id=memory.memory_id,
        about=one_line(wording.about),
        forgotten=wording.shown(forgotten) if forgotten else None,
        audience=memory.audience,
        actions=actions_of_deleted(memory.scope, memory.memory_id, wording.locale),
        subjects=subjects_of(memory),
    )


def undo_hint(memory_id: int, locale: str) -> str:
    """Return how to bring back what is gone."""
    return translate(locale, "Within 24 hours this brings it back: /memories undo {id}", id=memory_id)


def subjects_of(memory: Memory) -> Subjects:
    """Return whom the cards of a memory are about."""
    is_server = memory.scope is MemoryScope.SERVER
    user = memory.subject_user_id if is_server else memory.owner_id
    return _subjects(memory.memory_id, memory.subject_account_id, user)


def _subjects_of_save(write: MemoryWrite, added: Added) -> Subjects:
    user = write.subject_user_id if write.scope is MemoryScope.SERVER else write.user_id
    saved = _subjects(added.memory_id, write.subject_account_id, user)
    return saved if added.forgotten is None else saved | subjects_of(added.forgotten)


def _subjects(memory_id: int | None, account_id: int | None, user_id: int | None) -> Subjects:
    return Subjects(
        () if memory_id is None else (memory_id,),
        () if account_id is None else (account_id,),
        () if user_id is None else (user_id,),
    )


def disclosure_lines(name: str, locale: str) -> tuple[str, ...]:
    """Return what a person is told once."""
    return (
        translate(locale, "{name}: I keep what seems worth knowing about the people here.", name=name),
        translate(
            locale,
            "/personal memories list shows what I keep about you, /privacy set partial stops it, "
            "and /privacy forget-me deletes it.",
        ),
    )


def _disclosure(wording: Wording, audience: Audience, subjects: Subjects) -> Card:
    """Return what a person is told once, when something about them is kept for the first time."""
    name = one_line(wording.user)
    return Card(
        CardKind.DISCLOSURE,
        translate(wording.locale, "About memory"),
        disclosure_lines(name, wording.locale),
        about=name,
        audience=audience,
        subjects=subjects,
    )
