"""Runs memory commands on a stage as a bridge would."""

from typing import Any

from agent.commands import Command, CommandReply, Invocation
from agent.confirmations import Confirmations
from agent.personas.repository import Personas
from agent.plugin_host import PluginHost
from agent.privacy.audit import Audit
from agent.settings.model import AgentSettings
from plugins.memory.commands import Desk, memory_commands
from plugins.memory.commands.rows import CommandRows
from plugins.memory.finding import Finder
from plugins.memory.scope_rows import ScopeRows
from plugins.memory.undo import UndoRows
from tests.plugins.memory.stage import Stage, author

ANA, BEN = author("Ana"), author("Ben")


class Counter:
    """A stage with its commands; what somebody was shown is kept from one call to the next."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        store = stage.store
        self.desk = Desk(
            writing=stage.toolbox.writing,
            rows=CommandRows(store),
            scopes=ScopeRows(store),
            undo=UndoRows(store),
            audit=Audit(store),
            personas=Personas(store, AgentSettings(), stage.clock),
            confirmations=Confirmations(store, lambda: "ABCD2345"),
            privacy=stage.privacy,
            finder=Finder(stage.search, stage.embedder),
            people=stage.people,
            hooks=PluginHost(),
        )

    @property
    def commands(self) -> dict[tuple[str, ...], Command]:
        return {command.path: command for command in memory_commands(self.desk)}

    async def invocation(self, path: str, *, who: Any = ANA, **options: Any) -> Invocation:
        context = await self.stage.context(who)
        place, account, persona = context.place, context.account, context.persona
        return Invocation(tuple(path.split()), options, place, account, persona, can_manage=True, now=context.now)

    async def run(
        self, path: str, *, who: Any = ANA, manages: bool = True, place: Any = None, locale: str = "en", **options: Any
    ) -> CommandReply:
        words = tuple(path.split())
        context = await self.stage.context(who, **(place or {}))
        call = Invocation(
            words,
            options,
            context.place,
            context.account,
            context.persona,
            can_manage=manages,
            now=context.now,
            locale=locale,
        )
        return await self.commands[words].run(call)

    async def memory(self, text: str, path: str = "memories add", **more: Any) -> int:
        reply = await self.run(path, text=text, **more)
        assert reply.ok, reply.text
        assert reply.data is not None
        memory_id = reply.data["memory_id"]
        assert isinstance(memory_id, int)
        return memory_id

    async def row(self, memory_id: int) -> dict[str, Any]:
        for kind in ("server", "personal"):
            rows = await self.stage.rows(f"SELECT * FROM {kind}_memories WHERE {kind}_memory_id = $1", memory_id)  # noqa: S608
            if rows:
                return rows[0]
        raise AssertionError(memory_id)


async def learned(stage: Stage, text: str, target: str | None = None, who: Any = ANA, **place: Any) -> int:
    """Have the model save something; return its id."""
    memory_id = (await stage.create(await stage.context(who, **place), text, target)).data["memory_id"]
    assert isinstance(memory_id, int)
    return memory_id
