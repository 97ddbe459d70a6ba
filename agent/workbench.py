"""Trying things without a conversation: the prompt that would be sent, a tool as the model would call it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.contracts.people import Speaker
from agent.events import MessageCreated
from agent.identity.directory import Scope
from agent.impersonation.asking import find_target
from agent.personas.calling import called_in, default_of
from agent.personas.rules import find
from agent.reception import cleaned
from agent.tool_runner import run_tool
from agent.turn.job import Job
from agent.turn.prepare import prepare
from agent.turn.values import Why

if TYPE_CHECKING:
    from agent.contracts.cards import Card
    from agent.contracts.context import Prompt
    from agent.contracts.people import Persona
    from agent.core import Core
    from agent.events import Author
    from agent.identity.people import Entrance
    from agent.places import ChannelRef, ServerRef
    from agent.tool_registry import ToolRegistry
    from agent.tools import Connection, ToolResult
    from agent.turn.flow import Flow
    from agent.turn.values import Turn


@dataclass(frozen=True, slots=True)
class Trial:
    """Where and as whom something is tried."""

    server: ServerRef
    channel: ChannelRef
    author: Author
    persona: str | None = None
    """The name of the persona that shall answer; None: whom the text calls, or the default one."""
    impersonate: str | None = None
    """In whose style the answer shall be."""


class Workbench:
    """Works in the place and for the person that the caller names; both are registered as if they had spoken."""

    def __init__(self, core: Core, flow: Flow, tools: ToolRegistry) -> None:
        self._core = core
        self._flow = flow
        self._tools = tools

    async def prompt(self, spot: Trial, text: str) -> Prompt:
        """Return the prompt that this message would get now, without what the platform knows of earlier messages.

        Raises:
            PersonaRefused: there is no persona of that name.
            ImpersonationRefused: nobody may be impersonated under the name that was given.
        """
        prompt, _ = await self._flow.prompt(await self._turn(spot, text))
        return prompt

    async def call_tool(self, name: str, arguments: str, spot: Trial) -> tuple[ToolResult, tuple[Card, ...]]:
        """Run a tool there; return its result and the cards that a conversation would have shown.

        Raises:
            LookupError: there is no such tool.
            PersonaRefused: there is no persona of that name.
        """
        tool = self._tools.get(name)
        if tool is None:
            raise LookupError(name)
        shown: list[Card] = []

        async def effect(conn: Connection, result: ToolResult, cards: tuple[Card, ...] = ()) -> None:
            del conn, result  # no turn goes on from here, so there is nothing to check point
            shown.extend(cards)

        turn = await self._turn(spot, "")
        context = self._flow.context(turn, name, effect)
        result = await run_tool(tool, arguments, context, ids=self._core.ids, deadline=self._flow.limits.tool_seconds)
        return result, tuple(shown)

    async def find_persona(self, spot: Trial) -> Persona:
        """Return the persona that a trial names, or the default one.

        Raises:
            PersonaRefused: there is no persona of that name.
        """
        entrance = await self._core.people.enter(spot.server, spot.channel, spot.author, self._core.clock.now())
        return await self._persona(spot, entrance, "")

    async def _persona(self, spot: Trial, entrance: Entrance, text: str) -> Persona:
        personas = await self._core.personas.for_server(entrance.place.server.server_id, entrance.revision)
        if spot.persona is not None:
            return find(personas, spot.persona)
        called = called_in(text, personas)
        return called.persona if called else default_of(personas)

    async def _turn(self, spot: Trial, text: str) -> Turn:
        now = self._core.clock.now()
        turn_id = self._core.ids.new()
        event = cleaned(
            MessageCreated(
                platform=spot.server.platform,
                event_id=turn_id,
                message_id=turn_id,
                server=spot.server,
                channel=spot.channel,
                author=spot.author,
                text=text,
                occurred_at=now,
                mentions_agent=True,
                persona=spot.persona,
            ),
            self._core.settings.limits.max_message_chars,
        )
        entrance = await self._core.people.enter(spot.server, spot.channel, event.author, now)
        account = entrance.account
        persona = await self._persona(spot, entrance, event.text)
        speaker = Speaker(account.key, account.user_id, account.display_name)
        job = Job(event, entrance.place, account, speaker, persona, Why.COMMAND)
        turn = await prepare(job, self._core, None, turn_id=turn_id, attempt=1)
        if spot.impersonate is None:
            return turn
        target = await find_target(self._core, Scope.of(turn), spot.impersonate, account, is_manager=True)
        return replace(turn, impersonating=target.account)
