"""Message proxies: people who share an account and speak through a service (docs/message-proxies.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from agent import logs
from agent.hookspecs import Attribution, Health, hookimpl
from agent.identity.keys import ParticipantKind
from agent.store.errors import StoreError
from plugins.message_proxy.settings import MessageProxySettings

if TYPE_CHECKING:
    from agent.commands import Command, Invocation
    from agent.contracts.cards import Card
    from agent.contracts.memory import MemoryRead, MemoryWrite
    from agent.contracts.people import Account, Denial, Speaker
    from agent.core import Core
    from agent.events import MessageCreated, MessageDeleted
    from agent.tools import Connection, Json
    from plugins.message_proxy.finding import Finder
    from plugins.message_proxy.services import Approved

_log = logs.get_logger("plugins.message_proxy")
SWEEP_EVERY: Final = 300.0
"""Seconds between two looks at what is too old, and at what other processes have changed."""


class MessageProxyPlugin:
    """The plugin: who said a message, and the leave of the hosts for what is remembered."""

    name = "message_proxy"
    requires = ()
    covers = frozenset({"proxy_identity"})
    Settings = MessageProxySettings
    migrations = "plugins.message_proxy.migrations"

    def __init__(self, settings: MessageProxySettings) -> None:
        self._settings = settings

    @hookimpl
    async def start(self, core: Core) -> None:
        """Put the parts together and read who uses which service."""
        from plugins.message_proxy.anonymous import ANONYMOUS, Anonymous
        from plugins.message_proxy.choosing import Choosing
        from plugins.message_proxy.protection import Protection
        from plugins.message_proxy.registering import Registrar
        from plugins.message_proxy.repository import ProxyRepository
        from plugins.message_proxy.routing import Routing
        from plugins.message_proxy.services import approved
        from plugins.message_proxy.watching import Watching

        self._core = core
        self.repository = ProxyRepository(core.store)
        core.preferences.register(ANONYMOUS)
        self.anonymous = Anonymous(core, self.repository)
        self.protection = Protection(core.store)
        self.registrar = Registrar(core.store)
        found = approved(self._settings)
        self.instances = await self.repository.use(found)
        self.finders = {
            instance.instance_id: self._finder(one)
            for instance, one in zip(self.instances, found, strict=True)
            if one.descriptor.attests
        }
        self.watching = Watching(self.repository, core.clock)
        await self.watching.load()
        core.revisions.listen(self._hear)
        self._probes: set[asyncio.Task[None]] = set()
        self.choosing = Choosing(
            core,
            self.repository,
            self.registrar,
            self.watching,
            self.instances,
            self.finders,
            lambda: core.revisions.announce(CHOICES),
        )
        self._routing = Routing(
            core=core,
            settings=self._settings,
            repository=self.repository,
            registrar=self.registrar,
            watching=self.watching,
            instances=self.instances,
            finders=self.finders,
            anonymous=self.anonymous,
        )
        self._sweeper = asyncio.create_task(self._sweep(), name="message_proxy sweep")

    def _probe(self, call: Invocation, instance_id: int) -> None:
        """Ask beside the command which system the account has."""
        work = self.choosing.probe(call.account.account_id, call.account.key.id, instance_id)
        task = asyncio.create_task(work, name="message_proxy probe")
        self._probes.add(task)
        task.add_done_callback(self._probes.discard)

    @hookimpl
    def register_commands(self) -> Sequence[Command]:
        """Return `/personal proxy …` for everybody, and what those who manage a server decide."""
        from plugins.message_proxy.commands import ProxyCommands

        return (*ProxyCommands(self.choosing, self._probe).commands(), self.anonymous.command())

    def _finder(self, approved: Approved) -> Finder:
        from importlib.metadata import version

        from plugins.message_proxy.adapters import adapter_for
        from plugins.message_proxy.asking import Asker, user_agent
        from plugins.message_proxy.finding import Finder
        from plugins.message_proxy.pace import Pace

        monotonic = self._core.clock.monotonic
        asker = Asker(approved, user_agent(version("isthmus"), self._settings.contact))
        pace = Pace(self._settings.requests_per_second, monotonic, asyncio.sleep)
        adapter = adapter_for(approved.descriptor.service, asker)
        return Finder(adapter, pace, budget=self._settings.lookup_seconds, monotonic=monotonic, sleep=asyncio.sleep)

    @hookimpl
    async def stop(self) -> None:
        """End what goes on."""
        self._sweeper.cancel()
        for probe in self._probes:
            probe.cancel()
        await asyncio.gather(self._sweeper, *self._probes, return_exceptions=True)
        await self._routing.stop()
        for finder in self.finders.values():
            await finder.close()

    @hookimpl
    def resolve_speaker(self, event: MessageCreated, account: Account) -> Any:
        """Tell who said a message."""
        return self._routing.resolve(event, account)

    @hookimpl
    async def attribute_messages(self, platform: str, message_ids: Sequence[str]) -> Mapping[str, Attribution]:
        """Tell who said earlier messages, from the index alone."""
        return await self.repository.attributions(platform, message_ids)

    @hookimpl
    async def identities_here(self, server_id: int) -> Sequence[Attribution]:
        """Return the members that have spoken in a server."""
        if server_id not in self.watching.servers:
            return ()
        return await self.repository.identities_here(server_id)

    @hookimpl
    async def own_identities(self, account: Account) -> Sequence[Speaker]:
        """Return the members of the systems that an account hosts."""
        return await self.repository.identities_of(account.account_id)

    @hookimpl
    async def guard_memory_write(self, write: MemoryWrite) -> Denial | None:
        """Ask the hosts of an identity, early; nothing is kept for a message that is anybody's."""
        return self.anonymous.refuses(write.source.author_account_id) or await self.protection.check_write(write)

    @hookimpl
    async def recheck_memory_write(self, conn: Connection, write: MemoryWrite) -> Denial | None:
        """Ask the hosts of an identity within the writing transaction."""
        return await self.protection.recheck_write(conn, write)

    @hookimpl
    async def guard_memory_read(self, read: MemoryRead) -> Denial | None:
        """Let memories of an identity be told only where its hosts allow it, and never to its siblings."""
        return self.anonymous.refuses(read.reader_account_id) or await self.protection.check_read(read)

    @hookimpl
    async def message_deleted(self, event: MessageDeleted) -> Sequence[Card]:
        """Forget who said a message that is gone."""
        await self.repository.forget_message(event.platform, event.message_id)
        return ()

    @hookimpl
    async def export_person(self, account: Account) -> dict[str, Json]:
        """Return what an account uses, and whom it hosts."""
        identities = await self.repository.identities_of(account.account_id)
        return {
            "services": await self.repository.export(account.account_id),
            "identities": [
                {"name": each.display_name, "system": each.system, "reference": each.key.id} for each in identities
            ],
        }

    @hookimpl
    async def erase_person(self, conn: Connection, account: Account) -> dict[str, int]:
        """Let go of an account; an identity goes with its user row."""
        if account.key.kind is ParticipantKind.PROXY_IDENTITY:
            return {}
        self.watching.users.pop(account.account_id, None)
        return await self.repository.erase(conn, account.account_id)

    @hookimpl
    async def health(self) -> Sequence[Health]:
        """Tell which instances may be asked, and whether they are told whom to ask."""
        names = ", ".join(each.name for each in self.instances)
        asked = Health("message_proxy", "ok", f"instances: {names}; {len(self.watching.users)} accounts use one")
        if self._settings.contact is not None:
            return (asked,)
        text = "the services are not told whom to ask when something is wrong, and may refuse this agent"
        return asked, Health("message_proxy contact", "warn", text, REMEDY)

    def _hear(self, owner: str) -> None:
        """Read anew who uses which service, when another process has changed it."""
        if owner == CHOICES:
            self._reload = asyncio.create_task(self.watching.load_users())

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_EVERY)
            try:
                await self.sweep()
            except StoreError as error:
                _log.warning("sweep_put_off", reason=str(error))

    async def sweep(self) -> None:
        """Forget what is too old, hear what other processes have changed, and ask about hosts again."""
        await self.repository.sweep(self._core.clock.now())
        await self.watching.load()
        await self.choosing.check_hosts()


REMEDY: Final = 'set contact under [plugins.message_proxy], e.g. contact = "https://example.org"'
CHOICES: Final = "message_proxy:choices"
"""The owner that is announced when somebody begins or ends to use a service."""
