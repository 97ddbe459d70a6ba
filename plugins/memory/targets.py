"""What the resolver's five answers mean for the memory tools (memory.md, step 2): pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from agent.contracts.memory import MemoryScope
from agent.identity.results import Ambiguous, BridgeUser, NotFound, Resolution, Resolved, Self
from agent.tools import ToolResult
from plugins.memory.status import Status

if TYPE_CHECKING:
    from agent.contracts.people import Account, Speaker
    from agent.tools import Json, ToolContext

BOT_NOTE = "The target is you yourself, so it was kept as a memory of this server."
BRIDGE_NOTE = "This person has no account that can own memories, so it was kept as a memory of this server about them."


@dataclass(frozen=True, slots=True)
class Target:
    """Whose memory it becomes and whom it is about."""

    scope: MemoryScope
    about: str
    """The label of the person or server, for the card."""
    user_id: int | None = None
    """The owner of a personal memory."""
    subject_account_id: int | None = None
    subject_user_id: int | None = None
    user_name: str | None = None
    """What takes the place of `{user}` at once: a bridge user's name."""
    host_account_ids: tuple[int, ...] = ()
    proxied: bool = False
    note: str = ""
    """Why another scope took effect than the one asked for."""


def server_target(context: ToolContext, note: str = "") -> Target:
    """Return the target of a memory about the server."""
    return Target(MemoryScope.SERVER, context.place.server.ref.name, note=note)


def with_speaker(target: Target, context: ToolContext) -> Target:
    """Return the target with the speaker as subject, for content that says `{user}` and is about nobody else yet."""
    if target.scope is not MemoryScope.SERVER or target.subject_account_id or target.subject_user_id:
        return target
    person = _subject(context.account, context.speaker)
    return Target(
        target.scope,
        target.about,
        subject_account_id=person.subject_account_id,
        subject_user_id=person.subject_user_id,
        host_account_ids=person.host_account_ids,
        proxied=person.proxied,
        note=target.note,
    )


def target_of_save(resolution: Resolution, context: ToolContext) -> Target | ToolResult:
    """Return whose memory a save becomes, or why there is none."""
    match resolution:
        case Resolved():
            return _personal(resolution, Status.SAVE_REFUSED)
        case Self():
            return server_target(context, BOT_NOTE)
        case BridgeUser(account=account, display_name=name):
            # The fallback is read by the whole server: it never makes public what this person has restricted.
            if account.privacy.restricts:
                return ToolResult(Status.SAVE_PRIVACY_RESTRICTED, {"note": "This person lets nothing be kept."})
            return Target(
                MemoryScope.SERVER,
                name,
                subject_account_id=account.account_id,
                user_name=name,
                note=BRIDGE_NOTE,
            )
        case Ambiguous():
            return _ambiguous(resolution, Status.SAVE_AMBIGUOUS_USER)
        case NotFound():
            return _not_found(resolution, Status.SAVE_USER_NOT_FOUND)
        case unknown:
            assert_never(unknown)


def target_of_update(resolution: Resolution) -> Target | ToolResult:
    """Return whose personal memory is meant, or why there is none."""
    match resolution:
        case Resolved():
            return _personal(resolution, Status.UPDATE_REFUSED)
        case Self():
            note = "You have no personal memories of your own: leave target_user out for a memory of this server."
            return ToolResult(Status.UPDATE_INVALID_TARGET, {"note": note})
        case BridgeUser():
            note = "This person has no personal memories: leave target_user out for a memory of this server."
            return ToolResult(Status.UPDATE_INVALID_TARGET, {"note": note})
        case Ambiguous():
            return _ambiguous(resolution, Status.UPDATE_AMBIGUOUS_USER)
        case NotFound():
            return _not_found(resolution, Status.UPDATE_USER_NOT_FOUND)
        case unknown:
            assert_never(unknown)


def _subject(account: Account, speaker: Speaker) -> Target:
    """Return somebody as subject: an account, or a proxied identity whose hosts are to be asked."""
    if speaker.is_proxied:
        hosts = tuple(sorted({account.account_id, *speaker.host_account_ids}))
        return Target(
            MemoryScope.PERSONAL,
            speaker.display_name,
            speaker.user_id,
            subject_user_id=speaker.user_id,
            host_account_ids=hosts,
            proxied=True,
        )
    return Target(
        MemoryScope.PERSONAL,
        account.display_name,
        account.user_id,
        subject_account_id=account.account_id,
        subject_user_id=account.user_id,
    )


def _personal(resolved: Resolved, nobody: Status) -> Target | ToolResult:
    target = _subject(resolved.account, resolved.speaker)
    if target.user_id is None:
        return ToolResult(nobody, {"note": "This person cannot own memories yet."})
    return target


def _ambiguous(answer: Ambiguous, status: Status) -> ToolResult:
    candidates: list[Json] = [
        {"name": one.label, "distinction": one.distinction, "handle": one.handle, "target_user": one.reference}
        for one in answer.candidates
    ]
    note = (
        "Several people bear this name, or one that looks like it: ask who is meant, or call again with a target_user."
    )
    return ToolResult(status, {"name": answer.name, "candidates": candidates, "note": note})


def _not_found(answer: NotFound, status: Status) -> ToolResult:
    near: list[Json] = [one.label for one in answer.suggestions]
    note = "Nobody of this name is here. A near name is a question to ask back, not an answer."
    return ToolResult(status, {"name": answer.name, "near_names": near, "note": note})
