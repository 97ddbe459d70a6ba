"""The errors that Discord answers with: an HTTP status, a code of its own and a sentence."""

from typing import Any

UNKNOWN = {
    "account": 10001,
    "application": 10002,
    "channel": 10003,
    "guild": 10004,
    "member": 10007,
    "message": 10008,
    "role": 10011,
    "user": 10013,
    "emoji": 10014,
    "webhook": 10015,
    "ban": 10026,
    "sticker": 10060,
    "interaction": 10062,
    "application command": 10063,
}


class DiscordError(Exception):
    """A request that Discord refuses."""

    def __init__(self, status: int, code: int, message: str, errors: dict[str, Any] | None = None) -> None:
        super().__init__(f"{status} {code}: {message} {errors or ''}")
        self.status = status
        self.body: dict[str, Any] = {"message": message, "code": code}
        if errors is not None:
            self.body["errors"] = errors


def unknown(what: str) -> DiscordError:
    return DiscordError(404, UNKNOWN[what], f"Unknown {what.title()}")


def unauthorized() -> DiscordError:
    return DiscordError(401, 0, "401: Unauthorized")


def no_access() -> DiscordError:
    return DiscordError(403, 50001, "Missing Access")


def no_permission() -> DiscordError:
    return DiscordError(403, 50013, "Missing Permissions")


def bad_form(field: str, code: str, message: str) -> DiscordError:
    """An invalid form body; `field` is a path with dots, such as `embeds.0.title`."""
    errors: dict[str, Any] = {"_errors": [{"code": code, "message": message}]}
    for part in reversed(field.split(".")):
        errors = {part: errors}
    return DiscordError(400, 50035, "Invalid Form Body", errors)
