"""`isthmus setup matrix`: from an account and its password to an agent that can be invited."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from agent.setup import SetupFailed
from bridges.matrix.checking import Refused, Unreachable, check_password, homeserver_of
from bridges.matrix.settings import USER

if TYPE_CHECKING:
    from agent.setup import Setup

TRIES: Final = 3
_SECRET: Final = "matrix-password"  # noqa: S105 - the name of its file


def set_up(setup: Setup) -> None:
    """Ask for the account, its password and who may invite it; check it, and write what the agent needs to start.

    Raises:
        SetupFailed: the homeserver took no password, or something could not be written.
        EOFError: nobody answers.
    """
    section = setup.section()
    setup.dialogue.say("Register an account for the agent at your homeserver, with any Matrix client.")
    user = _user(setup, str(section.get("user", "")))
    homeserver = str(section.get("api_base") or section.get("homeserver") or "").rstrip("/")
    if not homeserver:
        homeserver = asyncio.run(homeserver_of(user.partition(":")[2]))
    setup.dialogue.say(f"Its homeserver answers at {homeserver}.")
    password = _password(setup, homeserver, user)
    values: dict[str, Any] = {"enabled": True, "homeserver": homeserver, "user": user}
    values["password"] = setup.keep_secret(_SECRET, password)
    if "invitations" not in section:
        values["invitations"] = _invitations(setup)
    setup.write(values, leaving=("api_base",))
    setup.dialogue.say(f"Written: [bridges.matrix] in {setup.config}. Next: isthmus doctor, then isthmus run.")
    setup.dialogue.say(f"Then invite {user} into a room, or write to it.")


def _user(setup: Setup, default: str) -> str:
    shown = f" [{default}]" if default else ""
    for _ in range(TRIES):
        user = setup.dialogue.ask(f"Its Matrix id, as in @isthmus:example.org{shown}: ").strip() or default
        if USER.fullmatch(user):
            return user
        setup.dialogue.say("That is no Matrix id: it begins with @ and ends with :server.")
    raise SetupFailed("no Matrix id was given: run this again with the account's whole id")


def _password(setup: Setup, homeserver: str, user: str) -> str:
    for _ in range(TRIES):
        password = setup.dialogue.ask_secret("Password (it is not shown): ")
        try:
            asyncio.run(check_password(homeserver, user, password))
        except Refused as error:
            setup.dialogue.say(f"The homeserver does not take it: {error}")
        except Unreachable as error:
            raise SetupFailed(f"{error}: check the network, or name the homeserver with --api-base") from None
        else:
            return password
    raise SetupFailed("no password was taken: try it in a Matrix client first, and run this again")


def _invitations(setup: Setup) -> dict[str, Any]:
    question = "Who may invite it? Matrix ids or servers, with spaces between; * for everybody: "
    policy: dict[str, Any] = {}
    for word in setup.dialogue.ask(question).replace(",", " ").split():
        if word == "*":
            return {"everybody": True}
        key = "people" if word.startswith("@") else "rooms" if word.startswith("!") else "servers"
        policy.setdefault(key, []).append(word)
    if not policy:
        setup.dialogue.say("Nobody yet: name them later in [bridges.matrix.invitations].")
    return policy
