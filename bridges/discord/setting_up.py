"""`isthmus setup discord`: from a token to an agent that can be let into servers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from agent.setup import SetupFailed
from bridges.discord.checking import PERMISSIONS, PORTAL, Application, TokenRefused, Unreachable, application_of
from bridges.discord.settings import API_BASE

if TYPE_CHECKING:
    from agent.setup import Setup

TRIES: Final = 3
_SECRET: Final = "discord-token"  # noqa: S105  # the name of its file


def set_up(setup: Setup) -> None:
    """Ask for the token, check it, and write what the agent needs to start.

    Raises:
        SetupFailed: Discord took no token, or something could not be written.
        EOFError: nobody answers.
    """
    section = setup.section()
    api_base = str(section.get("api_base", API_BASE)).rstrip("/")
    setup.dialogue.say(f"Make an application at {PORTAL}, and copy its token: Bot, Reset Token.")
    token, application = _token(setup, api_base)
    setup.write({"enabled": True, "token": setup.keep_secret(_SECRET, token)})
    for line in _after(application, section.get("message_content", True), section.get("members", True)):
        setup.dialogue.say(line)
    setup.dialogue.say(f"Written: [bridges.discord] in {setup.config}. Next: isthmus doctor, then isthmus run.")


def _token(setup: Setup, api_base: str) -> tuple[str, Application]:
    for _ in range(TRIES):
        token = setup.dialogue.ask_secret("Token (it is not shown): ").strip().removeprefix("Bot ").strip()
        if not token or not token.isascii() or not token.isprintable():
            setup.dialogue.say("That is no token.")
            continue
        try:
            return token, asyncio.run(application_of(token, api_base))
        except TokenRefused:
            setup.dialogue.say("Discord does not take this token. Reset Token makes a new one.")
        except Unreachable as error:
            raise SetupFailed(f"{error}: check the network, or --api-base") from None
    raise SetupFailed("no token was taken: copy it once more from the developer portal, and run this again")


def _after(application: Application, wants_content: object, wants_members: object) -> list[str]:
    """Say what is left to be done, and where."""
    lines = [f"This is {application.name} ({application.application_id}).", ""]
    content = ("Message Content Intent", "it reads what does not mention it", "message_content")
    members = ("Server Members Intent", "it knows who is there before they speak", "members")
    for (name, why, key), is_wanted, is_on in (
        (content, wants_content, application.has_content),
        (members, wants_members, application.has_members),
    ):
        if is_on or not is_wanted:
            lines.append(f"{name}: {'on' if is_on else f'off, and not needed ({key} = false)'}.")
        else:
            lines.append(
                f"{name}: off. Switch it on at {application.intents_page} ({why}), "
                f"or set {key} = false in [bridges.discord]."
            )
    return [
        *lines,
        "",
        f"Let it into a server (with {', '.join(PERMISSIONS)}):",
        application.invite,
        "",
    ]
