"""Trying things without a conversation: the prompt that would be sent, a tool as the model would call it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.contracts.people import Speaker
from agent.events import MessageCreated
from agent.reception import cleaned
from agent.tool_runner import run_tool
from agent.turn.job import Job
from agent.turn.prepare import prepare
from agent.turn.values import Why

if TYPE_CHECKING:
    from agent.contracts.cards import Card
    from agent.contracts.context import Prompt
    from agent.core import Core
    from agent.events import Author
    from agent.places import ChannelRef, ServerRef
    from agent.tool_registry import ToolRegistry
    from agent.tools import Connection, ToolResult
    from agent.turn.flow import Flow
    from agent.turn.values import Turn


class Workbench:
    """Works in the place and for the person that the caller names; both are registered as if they had spoken."""

    def __init__(self, core: Core, flow: Flow, tools: ToolRegistry) -> None:
        self._core = core
        self._flow = flow
        self._tools = tools

    async def prompt(self, server: ServerRef, channel: ChannelRef, author: Author, text: str) -> Prompt:
        """Return the prompt that this message would get now, without what the platform knows of earlier messages."""
        prompt, _ = await self._flow.prompt(await self._turn(server, channel, author, text))
        return prompt

    async def call_tool(
        self, name: str, arguments: str, server: ServerRef, channel: ChannelRef, author: Author
    ) -> tuple[ToolResult, tuple[Card, ...]]:
        """Run a tool there; return its result and the cards that a conversation would have shown.

        Raises:
            LookupError: there is no such tool.
        """
        tool = self._tools.get(name)
        if tool is None:
            raise LookupError(name)
        shown: list[Card] = []

        async def effect(conn: Connection, result: ToolResult, cards: tuple[Card, ...] = ()) -> None:
            del conn, result  # no turn goes on from here, so there is nothing to check point
            shown.extend(cards)

        turn = await self._turn(server, channel, author, "")
        context = self._flow.context(turn, name, effect)
        result = await run_tool(tool, arguments, context, ids=self._core.ids, deadline=self._flow.limits.tool_seconds)
        return result, tuple(shown)

    async def _turn(self, server: ServerRef, channel: ChannelRef, author: Author, text: str) -> Turn:
        now = self._core.clock.now()
        turn_id = self._core.ids.new()
        event = cleaned(
            MessageCreated(
                platform=server.platform,
                event_id=turn_id,
                message_id=turn_id,
                server=server,
                channel=channel,
                author=author,
                text=text,
                occurred_at=now,
                mentions_agent=True,
            ),
            self._core.settings.limits.max_message_chars,
        )
        entrance = await self._core.people.enter(server, channel, event.author, now)
        account = entrance.account
        personas = await self._core.personas.for_server(entrance.place.server.server_id)
        persona = next(persona for persona in personas if persona.is_default)
        speaker = Speaker(account.key, account.user_id, account.display_name)
        job = Job(event, entrance.place, account, speaker, persona, Why.COMMAND)
        return await prepare(job, self._core, None, turn_id=turn_id, attempt=1)
