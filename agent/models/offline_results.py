"""What the offline model says of a tool's result: one plain sentence for each status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from agent.models.offline_sight import SeenResult

_REASONS: Final[Mapping[str, str]] = {
    "invalid_parameters": "the request was not complete",
    "invalid_arguments": "the request was not complete",
    "disabled": "learning is switched off here",
    "rate_limited": "too much was saved in the last hour",
    "ambiguous_user": "more than one person could be meant",
    "user_not_found": "I do not know anybody of that name here",
    "invalid_target": "there are no personal memories for that name",
    "too_long": "the text is too long",
    "privacy_restricted": "that person does not want to be remembered",
    "blacklisted": "that person is not to be remembered on this server",
    "host_protected": "the account behind that name does not allow it",
    "forgotten": "that person asked to be forgotten",
    "invalid_lineage": "such memories cannot be changed from here",
    "limit_exceeded": "there is no room for more memories",
    "not_found": "there is no memory with that number here",
    "conflict": "somebody changed it in the meantime",
    "unavailable": "the memory cannot be reached now",
    "refused": "it is not allowed",
}
_NAME_KEYS: Final = ("handle", "label", "name")


def report(result: SeenResult) -> str:
    """Return one sentence that says what happened."""
    data, status = result.result, result.status
    number = f" (ID {data['memory_id']})" if data.get("memory_id") is not None else ""
    match status:
        case "memory_saved_successfully":
            return f"I will remember that{number}."
        case "memory_saved_with_eviction":
            gone = data.get("content_forgotten")
            what = f"I forgot: {_short(gone)}" if gone else "an older memory went."
            return f"I will remember that{number}; to make room {what}"
        case "memory_already_known":
            return f"I knew that already{number}."
        case "memory_updated_successfully":
            return f"I changed that{number}."
        case "memory_deleted_successfully":
            return f"I forgot that{number}."
        case "tool_failed":
            return f"That did not work (error {data.get('error_id', 'unknown')})."
    return _refusal(result)


def _refusal(result: SeenResult) -> str:
    what, _, code = result.status.partition("_failed_")
    update = "change" if str(result.arguments.get("memory_content", "")).strip() else "forget"
    verb = {"memory_save": "remember", "memory_update": update}.get(what, "do")
    reason = _REASONS.get(code or result.status) or (result.status.replace("_", " ") or "no reason was given")
    names = list(_names(result.result)) if code in {"ambiguous_user", "user_not_found"} else []
    choice = f" Do you mean {' or '.join(names)}?" if names else ""
    return f"I did not {verb} that: {reason}.{choice}"


def _names(data: Mapping[str, Any]) -> Iterable[str]:
    """Return the people whom a refusal offers, however it lists them."""
    for value in data.values():
        for entry in value if isinstance(value, list) else ():
            if isinstance(entry, Mapping) and (
                name := next((entry[key] for key in _NAME_KEYS if entry.get(key)), None)
            ):
                yield str(name)


def _short(text: object) -> str:
    return f"“{str(text or '')[:200]}”"
