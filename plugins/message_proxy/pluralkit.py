"""PluralKit's answers as values: pure. What it does in fact, not what its documentation says, is what counts here."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from agent.text import clean, clip, one_line
from plugins.message_proxy.asking import Answer, NoAnswer
from plugins.message_proxy.values import Failed, Found, Lookup, Member, Miss

MESSAGE_NOT_FOUND: Final = 20006
SYSTEM_NOT_FOUND: Final = 20001
_OK, _GONE, _TOO_MANY, _SERVER = 200, 404, 429, 500
LEAST_WAIT: Final = 0.1
"""Seconds: it says 0 although it goes on refusing."""
_NAME: Final = 100
_BIO: Final = 1_000


class _Shown(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Member(_Shown):
    uuid: str
    id: str | None = None
    name: str | None = None
    display_name: str | None = None
    pronouns: str | None = None
    description: str | None = None

    @field_validator("uuid")
    @classmethod
    def _known_form(cls, value: str) -> str:
        return _uuid(value)


class _System(_Shown):
    uuid: str
    name: str | None = None
    tag: str | None = None

    @field_validator("uuid")
    @classmethod
    def _known_form(cls, value: str) -> str:
        return _uuid(value)


class _Message(_Shown):
    id: str
    sender: str
    channel: str
    original: str | None = None
    system: _System | None = None
    member: _Member | None = None


def message_path(message_id: str) -> str:
    """Return where a message is asked for."""
    return f"/v2/messages/{message_id}"


def system_path(account_id: str) -> str:
    """Return where the system of an account is asked for."""
    return f"/v2/systems/{account_id}"


def read_message(answer: Answer | NoAnswer) -> Lookup:
    """Return what an answer says about a message. Only one code is a miss; every other failure tells nothing."""
    if (failed := _failed(answer, MESSAGE_NOT_FOUND)) is not None:
        return failed
    assert isinstance(answer, Answer)  # noqa: S101 - `_failed` has looked
    try:
        message = _Message.model_validate(answer.body)
    except ValidationError:
        return Failed("the answer cannot be read", LEAST_WAIT)
    return Found(
        message_id=message.id,
        original_id=message.original or None,  # old rows have an empty text
        sender_id=message.sender,
        channel_id=message.channel,
        system_key=None if message.system is None else message.system.uuid,
        system_name="" if message.system is None else _line(message.system.name or ""),
        member=None if message.member is None else _shown(message.member),
    )


def read_system(answer: Answer | NoAnswer) -> str | Failed | None:
    """Return the key of an account's system; None when it certainly has none."""
    failed = _failed(answer, SYSTEM_NOT_FOUND)
    if isinstance(failed, Miss):
        return None
    if failed is not None:
        return failed
    assert isinstance(answer, Answer)  # noqa: S101 - `_failed` has looked
    try:
        return _System.model_validate(answer.body).uuid
    except ValidationError:
        return Failed("the answer cannot be read")


def _failed(answer: Answer | NoAnswer, gone: int) -> Miss | Failed | None:
    if isinstance(answer, NoAnswer):
        return Failed(answer.reason, LEAST_WAIT)
    body: Any = answer.body
    if answer.status == _OK:
        return None if isinstance(body, dict) else Failed("the answer cannot be read", LEAST_WAIT)
    code = body.get("code") if isinstance(body, dict) else None
    if answer.status == _GONE and code == gone:
        return Miss()
    if answer.status == _TOO_MANY:
        return Failed("it was asked too often", _wait(answer))
    return Failed(f"status {answer.status}", LEAST_WAIT if answer.status >= _SERVER else None)


def _wait(answer: Answer) -> float:
    """Return the seconds to wait: in the body they are milliseconds, in the header of a proxy seconds."""
    told = answer.body.get("retry_after") if isinstance(answer.body, dict) else None
    milliseconds = told if isinstance(told, int | float) and not isinstance(told, bool) else 0
    return max(milliseconds / 1000, answer.retry_after or 0, LEAST_WAIT)


def _shown(member: _Member) -> Member:
    """Return a member as it is shown: a hidden name stays hidden, and nothing else is looked for in its place."""
    name = _line(member.display_name or "") or _line(member.name or "") or _line(member.id or "")
    bio = clip(one_line(clean(member.description or "")), _BIO)
    return Member(member.uuid, name or "somebody", _line(member.pronouns or "") or None, bio or None)


def _line(text: str) -> str:
    return clip(one_line(clean(text)), _NAME)


def _uuid(value: str) -> str:
    from uuid import UUID

    return str(UUID(value))
