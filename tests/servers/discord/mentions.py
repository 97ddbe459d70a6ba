"""Whom a text mentions, of those whom its sender allows. Pure."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

USER = re.compile(r"<@!?(\d+)>")
ROLE = re.compile(r"<@&(\d+)>")
EVERYONE = re.compile(r"@(everyone|here)\b")


class Mentions(NamedTuple):
    users: tuple[int, ...]
    roles: tuple[int, ...]
    everyone: bool


def mentioned(text: str, allowed: Mapping[str, Any] | None, *, everyone: bool, answered: int | None = None) -> Mentions:
    """The people and roles that `text` mentions.

    Args:
        text: What is said.
        allowed: The `allowed_mentions` of the request; without it all are allowed.
        everyone: Whether the sender may mention everyone.
        answered: Who wrote the message that this one answers.
    """
    users = _unique(USER.findall(text))
    roles = _unique(ROLE.findall(text))
    calls = bool(EVERYONE.search(text))
    if allowed is not None:
        parse = allowed.get("parse") or ()
        users = users if "users" in parse else _only(users, allowed.get("users"))
        roles = roles if "roles" in parse else _only(roles, allowed.get("roles"))
        calls = calls and "everyone" in parse
    pings = answered is not None and (allowed is None or bool(allowed.get("replied_user")))
    if answered is not None and pings and answered not in users:
        users = (*users, answered)
    return Mentions(users, roles, calls and everyone)


def _unique(found: list[str]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(one) for one in found))


def _only(found: tuple[int, ...], allowed: list[Any] | None) -> tuple[int, ...]:
    listed = {int(one) for one in allowed or ()}
    return tuple(one for one in found if one in listed)
