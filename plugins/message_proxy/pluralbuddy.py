"""PluralBuddy's answers as values: pure."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from plugins.message_proxy.asking import Answer, NoAnswer
from plugins.message_proxy.values import Failed, Found, Lookup, Member, Miss

_OK, _TOO_MANY, _SERVER = 200, 429, 500
LEAST_WAIT: Final = 0.1


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    messageId: str | int  # noqa: N815 - the service's own name
    systemId: str | int  # noqa: N815 - the service's own name
    alterId: int | str  # noqa: N815 - the service's own name; its digits are the key, beyond what a float can hold
    channelId: str | int  # noqa: N815 - the service's own name


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    message: _Message | None


def message_path(message_id: str) -> str:
    """Return where a message is asked for."""
    return f"/api/v1/messages/{message_id}"


def read_message(answer: Answer | NoAnswer) -> Lookup:
    """Return what an answer says: `{"message": null}` is a miss; a system is the account that made it.

    Names are not told, so a member is called by its number.
    """
    if isinstance(answer, NoAnswer):
        return Failed(answer.reason, LEAST_WAIT)
    if answer.status != _OK:
        again = answer.status == _TOO_MANY or answer.status >= _SERVER
        return Failed(f"status {answer.status}", max(answer.retry_after or 0, LEAST_WAIT) if again else None)
    if not isinstance(answer.body, dict) or "message" not in answer.body:
        return Failed("the answer cannot be read")
    try:
        message = _Body.model_validate(answer.body).message
    except ValidationError:
        return Failed("the answer cannot be read")
    if message is None:
        return Miss()
    alter, system = str(message.alterId), str(message.systemId)
    return Found(
        str(message.messageId), None, system, str(message.channelId), system, "", Member(alter, f"member {alter[-4:]}")
    )
