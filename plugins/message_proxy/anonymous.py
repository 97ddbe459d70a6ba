"""What services post that cannot say who speaks: answered where those who manage a server want that, as nobody's."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from agent.catalog import N_, translate
from agent.commands import Command, CommandReply, Option, OptionKind, Rights
from agent.contracts.people import Denial, Refusal, Speaker
from agent.hookspecs import Attested
from agent.preferences import Preference, resolve
from agent.turn.values import server_owner

if TYPE_CHECKING:
    from agent.commands import Invocation
    from agent.contracts.people import Account
    from agent.core import Core
    from agent.events import MessageCreated
    from plugins.message_proxy.repository import ProxyRepository

ANONYMOUS: Final = Preference(
    key="message_proxy.anonymous",
    default=False,
    description=N_("What services post that cannot say who speaks is answered, as somebody's whom nobody knows."),
)
LABEL: Final = "Anonymous"
"""Whoever it is: the name that a message bears proves nothing."""
REFUSED: Final = Denial(Refusal.OTHER, "Nothing is remembered or told of memories for a message that is anonymous.")


@dataclass(slots=True)
class Anonymous:
    """Lets servers decide, and keeps those messages away from memories."""

    core: Core
    repository: ProxyRepository
    accounts: set[int] = field(default_factory=set)
    """The webhooks that were answered; one for each channel of a service."""

    async def answer(self, event: MessageCreated, account: Account) -> Attested | None:
        """Return a webhook's message as anybody's, with the webhook as its account; None where nobody wants that."""
        chosen = await self.repository.server_choice(event.server, ANONYMOUS.key)
        if not resolve(ANONYMOUS, chosen, {}).value:
            return None
        self.accounts.add(account.account_id)
        author = replace(event.author, display_name="", is_bot=False, can_manage=False)
        return Attested(Speaker(account.key, None, LABEL), replace(event, author=author))

    def refuses(self, account_id: int | None) -> Denial | None:
        """Return why memories are no matter of an account: it is a webhook that anybody speaks through."""
        return REFUSED if account_id in self.accounts else None

    def command(self) -> Command:
        """Return the command that decides."""
        state = Option("state", N_("on or off; without it the state is shown."), OptionKind.BOOLEAN, required=False)
        return Command(
            ("proxy", "anonymous"),
            N_("Decide whether what services post that cannot say who speaks is answered here."),
            self.run,
            (state,),
            Rights.MANAGE,
            private=True,
            owner="message_proxy",
        )

    async def run(self, call: Invocation) -> CommandReply:
        """Set the switch of this server, or show it."""
        server, state = call.place.server, call.options.get("state")
        if state is not None:
            await self.core.privacy.choose_for_server(server.server_id, ANONYMOUS, bool(state))
            self.core.revisions.announce(server_owner(server.server_id))
        chosen = await self.repository.server_choice(server.ref, ANONYMOUS.key)
        is_on = bool(resolve(ANONYMOUS, chosen, {}).value)
        text = (
            N_("Here I answer what services such as Tupperbox post, without knowing whose it is or remembering it.")
            if is_on
            else N_("Here I ignore what services such as Tupperbox post, which cannot say who speaks.")
        )
        return CommandReply(translate(call.locale, text), private=True, data={"anonymous": is_on})
