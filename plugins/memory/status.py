"""What the memory tools answer: a fixed set, listed in docs/memory.md."""

from __future__ import annotations

from enum import StrEnum

from agent.contracts.people import Refusal


class Status(StrEnum):
    """The status of one call. What begins with `memory_saved` or is `memory_already_known` carries `memory_id`."""

    SAVED = "memory_saved_successfully"
    SAVED_WITH_EVICTION = "memory_saved_with_eviction"
    ALREADY_KNOWN = "memory_already_known"
    SAVE_INVALID_PARAMETERS = "memory_save_failed_invalid_parameters"
    SAVE_DISABLED = "memory_save_failed_disabled"
    SAVE_RATE_LIMITED = "memory_save_failed_rate_limited"
    SAVE_AMBIGUOUS_USER = "memory_save_failed_ambiguous_user"
    SAVE_USER_NOT_FOUND = "memory_save_failed_user_not_found"
    SAVE_TOO_LONG = "memory_save_failed_too_long"
    SAVE_PRIVACY_RESTRICTED = "memory_save_failed_privacy_restricted"
    SAVE_BLACKLISTED = "memory_save_failed_blacklisted"
    SAVE_HOST_PROTECTED = "memory_save_failed_host_protected"
    SAVE_FORGOTTEN = "memory_save_failed_forgotten"
    SAVE_REFUSED = "memory_save_failed_refused"
    SAVE_INVALID_LINEAGE = "memory_save_failed_invalid_lineage"
    SAVE_LIMIT_EXCEEDED = "memory_save_failed_limit_exceeded"
    SAVE_UNAVAILABLE = "memory_save_failed_unavailable"

    UPDATED = "memory_updated_successfully"
    DELETED = "memory_deleted_successfully"
    UPDATE_INVALID_PARAMETERS = "memory_update_failed_invalid_parameters"
    UPDATE_DISABLED = "memory_update_failed_disabled"
    UPDATE_AMBIGUOUS_USER = "memory_update_failed_ambiguous_user"
    UPDATE_USER_NOT_FOUND = "memory_update_failed_user_not_found"
    UPDATE_INVALID_TARGET = "memory_update_failed_invalid_target"
    UPDATE_NOT_FOUND = "memory_update_failed_not_found"
    UPDATE_TOO_LONG = "memory_update_failed_too_long"
    UPDATE_PRIVACY_RESTRICTED = "memory_update_failed_privacy_restricted"
    UPDATE_BLACKLISTED = "memory_update_failed_blacklisted"
    UPDATE_HOST_PROTECTED = "memory_update_failed_host_protected"
    UPDATE_FORGOTTEN = "memory_update_failed_forgotten"
    UPDATE_REFUSED = "memory_update_failed_refused"
    UPDATE_INVALID_LINEAGE = "memory_update_failed_invalid_lineage"
    UPDATE_CONFLICT = "memory_update_failed_conflict"
    UPDATE_UNAVAILABLE = "memory_update_failed_unavailable"


_REFUSED_SAVE = {
    Refusal.PRIVACY_RESTRICTED: Status.SAVE_PRIVACY_RESTRICTED,
    Refusal.BLACKLISTED: Status.SAVE_BLACKLISTED,
    Refusal.HOST_PROTECTED: Status.SAVE_HOST_PROTECTED,
    Refusal.FORGOTTEN: Status.SAVE_FORGOTTEN,
    Refusal.DISABLED: Status.SAVE_DISABLED,
    Refusal.NO_GUARD: Status.SAVE_HOST_PROTECTED,
    Refusal.GUARD_FAILED: Status.SAVE_REFUSED,
    Refusal.OTHER: Status.SAVE_REFUSED,
}
_REFUSED_UPDATE = {
    Refusal.PRIVACY_RESTRICTED: Status.UPDATE_PRIVACY_RESTRICTED,
    Refusal.BLACKLISTED: Status.UPDATE_BLACKLISTED,
    Refusal.HOST_PROTECTED: Status.UPDATE_HOST_PROTECTED,
    Refusal.FORGOTTEN: Status.UPDATE_FORGOTTEN,
    Refusal.DISABLED: Status.UPDATE_DISABLED,
    Refusal.NO_GUARD: Status.UPDATE_HOST_PROTECTED,
    Refusal.GUARD_FAILED: Status.UPDATE_REFUSED,
    Refusal.OTHER: Status.UPDATE_REFUSED,
}


def refused_save(code: Refusal) -> Status:
    """Return the status of a save that a guard refused.

    Only a proxied identity needs a guard to be loaded, so `NO_GUARD` means that its hosts could not be asked.
    """
    return _REFUSED_SAVE[code]


def refused_update(code: Refusal) -> Status:
    """Return the status of an update that a guard refused."""
    return _REFUSED_UPDATE[code]
