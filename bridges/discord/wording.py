"""Discord's forms for channels and emojis in a text, in words that a reader and a model understand: pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from agent.places import Visibility
from bridges.discord.places import visibility_of

if TYPE_CHECKING:
    import nextcord

_FORM: Final = re.compile(r"<#(?P<channel>\d{15,20})>|<a?:(?P<emoji>\w{2,32}):\d{15,20}>", re.ASCII)


def in_words(text: str, guild: nextcord.Guild | None) -> str:
    """Return a text with the names of channels and emojis in place of their ids; people and roles stay ids.

    A channel is named only where everybody can read it: nobody shall learn what a hidden one is called.
    """

    def named(form: re.Match[str]) -> str:
        if form["emoji"] is not None:
            return f":{form['emoji']}:"
        channel = guild.get_channel_or_thread(int(form["channel"])) if guild is not None else None
        if channel is None or visibility_of(channel) is not Visibility.EVERYONE:
            return form[0]
        return f"#{channel.name}"

    return _FORM.sub(named, text)
