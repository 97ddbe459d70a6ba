"""How a name becomes a person, exactly; pure, and the order of the directory never matters (identity.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, assert_never

from agent.contracts.people import Account, Speaker
from agent.identity.affixes import peelings
from agent.identity.directory import Directory, Scope, is_hidden
from agent.identity.handles import RESERVED, SELF_WORD, base_handle, explicit_handle
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.names import fallback_label, label, normalise, skeletons
from agent.identity.owners import (
    Owner,
    account_speaker,
    entry_owner,
    looks_of,
    owners_of,
    participant_owner,
    twins_of,
    wanted_form,
)
from agent.identity.results import (
    Ambiguous,
    BridgeUser,
    Candidate,
    NotFound,
    Resolution,
    Resolved,
    Self,
    Step,
    rests_on_a_name,
)

CANDIDATES: Final = 10
"""At most so many are listed where a name is ambiguous."""
BOT_WORD: Final = "{bot}"
_MENTION: Final = re.compile(
    r"<@!?(?P<id>[^<>\s]{1,255})>|(?P<user>@[^@\s:]{1,255}:[^\s]{1,255})"
    rf"|(?P<kind>{'|'.join(ParticipantKind)}):(?P<key>[^\s]{{1,255}})"
)


def mentioned_id(text: str) -> str | None:
    """Return the platform's id when the whole text is an explicit mention.

    That is `<@id>`, `<@!id>`, `@user:server`, or a key as the command line shows it: `discord_user:id`.
    """
    found = _mention(text)
    return found[1] if found else None


def _mention(text: str) -> tuple[str | None, str] | None:
    """Return the kind, where it is said, and the id of an explicit mention."""
    match = _MENTION.fullmatch(text.strip())
    return (match["kind"], match["id"] or match["user"] or match["key"]) if match else None


def resolve(name: str, scope: Scope, directory: Directory) -> Resolution:
    """Return who is meant by `name` here.

    Args:
        name: As somebody has written it.
        scope: Where it was said, and by whom.
        directory: At least everybody of this server who bears that name (or what `peelings` leave of it), everybody who
            bears a name that looks like it or like a name so borne, and for a mention everybody with that id.

    """
    name = name.strip()
    result = _resolve(name, scope, directory)
    if not isinstance(result, NotFound) and not rests_on_a_name(result):
        return result
    further = [_resolve(each, scope, directory) for each in peelings(name, scope.persona.affixes)]
    found = [each for each in (result, *further) if not isinstance(each, NotFound)]
    if not found or found == [result]:
        return result
    # Nobody captures what is meant for Ana by the name of `(Ana)` or `master Ana`.
    return _renamed(_one_of(name, found, scope), name) if found[0] is not result else _one_of(name, found, scope)


def _resolve(name: str, scope: Scope, directory: Directory) -> Resolution:
    if (mention := _mention(name)) is not None:
        return _by_id(name, *mention, scope, directory)
    return _by_handle(name, scope) or _by_name(name, scope, directory)


def _renamed(result: Resolution, name: str) -> Resolution:
    """Return the answer to a second try as one to the name that was written."""
    match result:
        case Resolved() | BridgeUser() | Self():
            return replace(result, step=Step.AFFIX)
        case Ambiguous() | NotFound():
            return replace(result, name=name)
        case unknown:
            assert_never(unknown)


def _by_id(name: str, kind: str | None, identifier: str, scope: Scope, directory: Directory) -> Resolution:
    def is_meant(key: ParticipantKey) -> bool:
        return key.id == identifier and kind in {None, key.kind}

    if any(map(is_meant, scope.bot_keys)):
        return Self(Step.MENTION)
    owners = {
        **{entry.key: entry_owner(entry) for entry in directory.entries},
        **{person.speaker.key: participant_owner(person) for person in scope.participants},
    }
    found = [owner for key, owner in sorted(owners.items(), key=lambda each: str(each[0])) if is_meant(key)]
    if len(found) > 1:  # the same digits of two kinds
        return _ambiguous(name, found, scope, step=Step.MENTION)
    return _person(found[0], scope, Step.MENTION) if found else NotFound(name)


def _by_handle(name: str, scope: Scope) -> Resolution | None:
    """Resolve what can be nothing but a handle, and what always means the speaker."""
    if name == BOT_WORD:
        return Self(Step.BOT)
    handle = explicit_handle(name)
    for person in scope.participants:
        if person.handle == handle:
            return _person(participant_owner(person), scope, Step.HANDLE)
    if scope.speaker is not None and normalise(name) in {SELF_WORD, scope.speaker.handle}:
        return _person(participant_owner(scope.speaker), scope, Step.SPEAKER)
    return None


def _by_name(name: str, scope: Scope, directory: Directory) -> Resolution:
    if not (wanted := wanted_form(name)):
        return NotFound(name)
    owners = owners_of(wanted, scope, directory)
    if wanted in _names_of_agent(scope):
        if owners:
            return _ambiguous(name, owners, scope, with_bot=True)
        likenesses = twins_of(name, None, scope, directory)
        return _ambiguous(name, likenesses, scope, with_bot=True, step=Step.LOOK) if likenesses else Self(Step.BOT)
    if not owners:
        return NotFound(name)
    if wanted in RESERVED:  # whoever writes `everyone` hardly means somebody of that name
        return _ambiguous(name, owners, scope)
    shown = [owner for owner in owners if owner.is_shown and (owner.participant or is_hidden(owner.account))]
    if len(owners) == 1:
        chosen, step = owners[0], Step.NAME
    elif len(shown) == 1 and shown[0].participant is not None:
        chosen, step = shown[0], Step.LABEL
    else:
        return _ambiguous(name, owners, scope)
    twins = twins_of(name, chosen, scope, directory)
    looks = looks_of(name, scope, directory)
    like_agent = any(not looks.isdisjoint(skeletons(each)) for each in (scope.bot_name, scope.persona.nickname))
    if twins or like_agent:
        others = [twin for twin in twins if twin.identity not in {owner.identity for owner in owners}]
        return _ambiguous(name, [*owners, *others], scope, with_bot=like_agent, step=Step.LOOK)
    return _person(chosen, scope, step)


def _names_of_agent(scope: Scope) -> set[str]:
    names = (scope.bot_name, scope.persona.nickname)
    return {normalise(name) for name in names} | {base_handle(name) for name in names}


def _person(owner: Owner, scope: Scope, step: Step) -> Resolved | BridgeUser:
    if owner.speaker.user_id is None:
        return BridgeUser(owner.account, owner.label, _bridge(owner.account.key, scope), step, owner.handle)
    return Resolved(owner.account, owner.speaker, owner.label, owner.handle, step)


def _bridge(key: ParticipantKey, scope: Scope) -> str | None:
    """Return what brought somebody here from another platform; None for who is in a native room."""
    if key.kind is ParticipantKind.WEBHOOK:
        return "webhook"
    return None if key.kind.value.startswith(f"{scope.place.platform}_") else "relay"


def _one_of(name: str, results: Sequence[Resolution], scope: Scope) -> Resolution:
    """Return the first of some results when all mean the same one; otherwise it is ambiguous."""
    if len({_who(result) for result in results}) == 1:
        return results[0]
    candidates: dict[ParticipantKey, Candidate] = {}
    for result in results:
        match result:
            case Resolved(account=account, speaker=speaker, label=shown, handle=handle):
                found = [] if is_hidden(account) else [_candidate(account, speaker, shown, handle)]
            case BridgeUser(account=account, display_name=shown, handle=handle):
                found = [] if is_hidden(account) else [_candidate(account, account_speaker(account), shown, handle)]
            case Self():
                found = [_agent(scope)]
            case Ambiguous():
                found = list(result.candidates)
            case NotFound():
                found = []
            case unknown:
                assert_never(unknown)
        candidates |= {each.key: each for each in found}
    return Ambiguous(name, tuple(candidates.values())[:CANDIDATES], Step.AFFIX)


def _who(result: Resolution) -> object:
    """Return who it is: equal for linked accounts, and never for two ambiguous names."""
    match result:
        case Resolved(user_id=int() as user):
            return ("user", user)
        case Resolved(account=account) | BridgeUser(account=account):
            return ("account", account.account_id)
        case Self():
            return "self"
        case _:
            return result


def _ambiguous(
    name: str, owners: Iterable[Owner], scope: Scope, *, with_bot: bool = False, step: Step = Step.NAME
) -> Ambiguous:
    candidates = [
        _candidate(each.account, each.speaker, each.label, each.handle, by_key=step is Step.MENTION)
        for each in owners
        if not is_hidden(each.account)
    ][:CANDIDATES]
    return Ambiguous(name, (_agent(scope), *candidates) if with_bot else tuple(candidates), step)


def _agent(scope: Scope) -> Candidate:
    key = ParticipantKey(ParticipantKind.PERSONA, str(scope.persona.persona_id))
    return Candidate(key, scope.bot_name, "the agent itself", BOT_WORD, BOT_WORD)


def _candidate(
    account: Account, speaker: Speaker, shown: str, handle: str | None, *, by_key: bool = False
) -> Candidate:
    username = label(account.username, account.key) if account.username else ""
    distinction = f"username {username}" if username else f"id {fallback_label(account.key)}"
    if speaker.is_proxied:
        distinction = f"proxied by {distinction}"
    written = f"@{{{handle}}}" if handle else None
    return Candidate(speaker.key, shown, distinction, written, written or _mention_of(speaker.key, by_key=by_key))


def _mention_of(key: ParticipantKey, *, by_key: bool) -> str:
    """Return how somebody without a handle is meant and nobody else."""
    if by_key:
        return str(key)
    return key.id if _MENTION.fullmatch(key.id) else f"<@{key.id}>"
