"""What somebody decides about proxying: which service, and which of their identities are forgotten."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from agent import logs
from agent.confirmations import Answer
from agent.identity.names import normalise
from agent.privacy.erase import erase_identities
from agent.store.notices import WITHDRAWN
from agent.turn.values import user_owner
from plugins.message_proxy.values import Failed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from agent.contracts.people import Account, Speaker
    from agent.core import Core
    from plugins.message_proxy.finding import Finder
    from plugins.message_proxy.registering import Registrar
    from plugins.message_proxy.repository import ProxyRepository
    from plugins.message_proxy.values import Instance
    from plugins.message_proxy.watching import Watching

CHECKED_EVERY: Final = timedelta(days=1)
MOST_CHECKED: Final = 20
"""Hosts that are asked about at once."""

log = logs.get_logger("plugins.message_proxy")


@dataclass(frozen=True, slots=True)
class Choosing:
    """Changes and tells what people have chosen."""

    core: Core
    repository: ProxyRepository
    registrar: Registrar
    watching: Watching
    instances: tuple[Instance, ...]
    finders: Mapping[int, Finder]
    announce: Callable[[], None]
    """Tells the other processes."""

    def find(self, name: str) -> Instance | None:
        """Return the instance of a name, however it is written."""
        wanted = normalise(name)
        return next((each for each in self.instances if each.name == wanted), None)

    def used_by(self, account: Account) -> tuple[Instance, ...]:
        """Return what an account uses."""
        chosen = self.watching.users.get(account.account_id, frozenset())
        return tuple(each for each in self.instances if each.instance_id in chosen)

    async def use(self, account: Account, instance: Instance) -> None:
        """Let an account use an instance, beside others."""
        await self.repository.choose(account.account_id, instance.instance_id, self.core.clock.now())
        self.announce()
        await self.watching.load_users()

    async def stop(self, account: Account) -> bool:
        """Let an account use none; tell whether it did. What is known of its identities stays."""
        changed = await self.repository.unchoose(account.account_id)
        self.announce()
        await self.watching.load_users()
        return changed

    async def probe(self, account_id: int, external_id: str, instance_id: int) -> None:
        """Ask which system an account has: whoever shares it counts as its host from then on, although unseen."""
        finder = self.finders.get(instance_id)
        if finder is None:
            return
        system = await finder.system(external_id)
        if isinstance(system, Failed):
            log.info("system_not_known", reason=system.reason)
            return
        await self.registrar.link(instance_id, system, account_id, self.core.clock.now())

    async def check_hosts(self) -> None:
        """Ask again which systems some hosts have: who has left one is its host no more."""
        before = self.core.clock.now() - CHECKED_EVERY
        for account_id, instance_id, external_id in await self.repository.hosts_to_check(
            before, list(self.finders), MOST_CHECKED
        ):
            await self.probe(account_id, external_id, instance_id)

    async def identities(self, account: Account) -> tuple[Speaker, ...]:
        """Return the members that an account hosts."""
        return await self.repository.identities_of(account.account_id)

    async def named(self, account: Account, name: str) -> tuple[Speaker, ...]:
        """Return the members of a name, or the one of a reference, that an account hosts."""
        wanted = normalise(name)
        found = await self.identities(account)
        return tuple(each for each in found if wanted in {normalise(each.display_name), normalise(each.key.id)})

    async def ask_back(self, account: Account, identities: Sequence[Speaker], now: datetime) -> str:
        """Return the code that confirms that exactly these are to be forgotten."""
        return await self.core.confirmations.ask(account.account_id, _action(identities), now)

    async def forget(
        self, account: Account, identities: Sequence[Speaker], code: str, now: datetime
    ) -> dict[str, int] | None:
        """Forget identities; return how much, or None when the code confirms nothing of the kind."""
        answer = await self.core.confirmations.answer(account.account_id, _action(identities), code, now)
        if answer is not Answer.CONFIRMED:
            return None
        core = self.core
        receipt = await erase_identities(core.store, core.hooks, account, identities, core.clock.now())
        owners = [user_owner(each.user_id) for each in identities if each.user_id is not None]
        core.revisions.announce(*owners, WITHDRAWN)
        return dict(receipt.counts)


def _action(identities: Sequence[Speaker]) -> str:
    """Return what is confirmed, so that a code never forgets others."""
    named = hashlib.sha256(",".join(sorted(each.key.id for each in identities)).encode()).hexdigest()
    return f"message_proxy forget {named}"
