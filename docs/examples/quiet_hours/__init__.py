"""Quiet hours: the agent answers nobody at night, except in direct messages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, Field

from agent.commands import Command, CommandReply, Invocation
from agent.contracts.context import ContextItem, Role, Tag
from agent.contracts.context import Section as Part
from agent.contracts.people import Denial, Refusal
from agent.hookspecs import hookimpl
from agent.settings import Section
from agent.tools import Tool, ToolContext, ToolResult
from agent.turn.values import Turn, Why

from .rules import QuietHours


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise ValueError('expected a time zone such as "Europe/Berlin"') from None
    return name


class CheckArguments(BaseModel):
    """What the model says when it calls the tool."""

    hours_from_now: float = Field(ge=0, le=168, description="0 is now, 24 the same time tomorrow.")


class Plugin:
    """Keeps quiet at night, and knows when that is."""

    name = "quiet_hours"

    class Settings(Section):
        """`[plugins.quiet_hours]`."""

        begins: int = Field(default=22, ge=0, le=23)
        ends: int = Field(default=7, ge=0, le=23)
        timezone: Annotated[str, AfterValidator(_known_zone)] = "UTC"

    def __init__(self, settings: Settings) -> None:
        self.hours = QuietHours(settings.begins, settings.ends, ZoneInfo(settings.timezone))

    @hookimpl
    def guard_turn(self, turn: Turn) -> Denial | None:
        """Refuse to answer at night."""
        if turn.why is Why.DIRECT or not self.hours.hold_at(turn.now):
            return None
        return Denial(Refusal.OTHER, "These are quiet hours.")

    @hookimpl
    def context_items(self) -> Sequence[ContextItem]:
        """Let the model know; it never changes, so it belongs into the cached part of the prompt."""
        text = f"You are asleep from {self.hours}: you answer nobody then, except in direct messages."
        return [ContextItem(Tag.RULES, Role.SYSTEM, Part.PREFIX, text)]

    @hookimpl
    def register_tools(self) -> Sequence[Tool]:
        """Let the model look up a moment, because it reckons badly with time zones."""
        description = "Tell whether you will be asleep at some time. Call it before you promise to be there."
        return [Tool("check_quiet_hours", description, CheckArguments, self.check)]

    async def check(self, context: ToolContext, arguments: CheckArguments) -> ToolResult:
        """Run the tool."""
        moment = context.now + timedelta(hours=arguments.hours_from_now)
        status = "asleep" if self.hours.hold_at(moment) else "awake"
        return ToolResult(status, {"local_time": moment.astimezone(self.hours.zone).isoformat(timespec="minutes")})

    @hookimpl
    def register_commands(self) -> Sequence[Command]:
        """Let people ask as well."""
        return [Command(("quiet", "hours"), "Tell when I sleep.", self.tell, private=True)]

    async def tell(self, invocation: Invocation) -> CommandReply:
        """Run the command."""
        state = "asleep" if self.hours.hold_at(invocation.now) else "awake"
        data = {"begins": self.hours.begins, "ends": self.hours.ends, "state": state}
        return CommandReply(f"I sleep from {self.hours}. Now I am {state}.", private=True, data=data)
