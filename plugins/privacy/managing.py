"""What those who manage a server decide: whom it does not want personalised, and the switches of its memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agent.catalog import N_, translate
from agent.commands import Command, CommandReply, Invocation, Option, OptionKind, Rights
from agent.contracts.people import Account
from agent.identity.keys import ParticipantKey
from agent.preferences import PreferenceError, resolve
from agent.preferences_repository import read_rows
from agent.privacy.levels import RULES
from agent.turn.values import server_owner, user_owner

if TYPE_CHECKING:
    from agent.core import Core
    from agent.preferences import Preference

SWITCHES: Final = {
    "self-teaching": "memory.self_teaching",
    "personal-memories": "privacy.personal_memories",
    "member-access": "privacy.member_access",
}
"""What can be switched, with the key of its preference."""


class ManagerCommands:
    """`/privacy blacklist add|remove|list` and `/privacy switch`."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def commands(self) -> tuple[Command, ...]:
        """Return the commands; they are for managers, and so are their answers."""
        person = Option("person", N_("Who is meant."), OptionKind.PERSON)
        name = Option("name", N_("What to switch; without it all are shown."), required=False, choices=tuple(SWITCHES))
        state = Option("state", N_("on or off; without it the state is shown."), OptionKind.BOOLEAN, required=False)
        return (
            _command(("blacklist", "add"), N_("Keep no memories about somebody here."), self.add, (person,)),
            _command(("blacklist", "remove"), N_("Take somebody off the blacklist."), self.remove, (person,)),
            _command(("blacklist", "list"), N_("Show about whom no memories are kept here."), self.list_blacklist),
            _command(("switch",), N_("Show or set what is remembered in this server."), self.switch, (name, state)),
        )

    async def add(self, call: Invocation) -> CommandReply:
        """Put somebody on the blacklist of this server."""
        account = await self._find(call)
        if account is None:
            return _unknown(call)
        server_id = call.place.server.server_id
        changed = await self._core.privacy.blacklist_add(server_id, account.account_id, call.now)
        self._announce(call, account)
        text = (
            translate(call.locale, "I keep and show no memories about {name} here.", name=_shown(account))
            if changed
            else translate(call.locale, "{name} is on the blacklist already.", name=_shown(account))
        )
        return CommandReply(text, private=True, data={"person": _as_data(account), "changed": changed})

    async def remove(self, call: Invocation) -> CommandReply:
        """Take somebody, linked accounts included, off the blacklist of this server."""
        account = await self._find(call)
        if account is None:
            return _unknown(call)
        changed = await self._core.privacy.blacklist_remove(call.place.server.server_id, account.account_id)
        self._announce(call, account)
        text = (
            translate(call.locale, "{name} is off the blacklist.", name=_shown(account))
            if changed
            else translate(call.locale, "{name} is not on the blacklist.", name=_shown(account))
        )
        return CommandReply(text, private=True, data={"person": _as_data(account), "changed": changed})

    async def list_blacklist(self, call: Invocation) -> CommandReply:
        """Show who is on the blacklist of this server."""
        accounts = await self._core.privacy.blacklist(call.place.server.server_id)
        lines = [f"{_shown(account)} ({account.platform}:{account.key.id})" for account in accounts]
        text = "\n".join(lines) if lines else translate(call.locale, "The blacklist is empty.")
        return CommandReply(text, private=True, data={"people": [_as_data(account) for account in accounts]})

    async def switch(self, call: Invocation) -> CommandReply:
        """Show all switches or one, or set one."""
        name, state = call.options.get("name"), call.options.get("state")
        if name is not None and name not in SWITCHES:
            text = translate(call.locale, "There is no such switch: {names}.", names=", ".join(SWITCHES))
            return CommandReply(text, private=True, ok=False)
        try:
            if name is not None and state is not None:
                await self._core.privacy.choose_for_server(
                    call.place.server.server_id, self._preference(name), bool(state)
                )
                self._core.revisions.announce(server_owner(call.place.server.server_id))
            return await self._states(call, self._known() if name is None else [name])
        except PreferenceError as error:
            return CommandReply(translate(call.locale, error.msgid, **error.values), private=True, ok=False)

    async def _states(self, call: Invocation, names: Any) -> CommandReply:
        async with self._core.store.connection() as conn:
            rows = await read_rows(conn, call.place.server.server_id, None)
        states = {name: bool(resolve(self._preference(name), rows.server, {}).value) for name in names}
        lines = [
            f"{name}: {translate(call.locale, 'on') if is_on else translate(call.locale, 'off')} - "
            f"{translate(call.locale, self._preference(name).description)}"
            for name, is_on in states.items()
        ]
        return CommandReply("\n".join(lines), private=True, data={"switches": states})

    def _known(self) -> list[str]:
        """Return the switches that there are; some belong to a plugin, which may be switched off."""
        keys = {preference.key for preference in self._core.preferences}
        return [name for name, key in SWITCHES.items() if key in keys]

    def _preference(self, name: str) -> Preference[Any]:
        return self._core.preferences.get(SWITCHES[name])

    async def _find(self, call: Invocation) -> Account | None:
        """Return the account of the person option, on this platform or on the one that its kind names."""
        key = call.options["person"]
        if not isinstance(key, ParticipantKey):
            return None
        for platform in dict.fromkeys((call.place.platform, key.kind.value.partition("_")[0])):
            for account in await self._core.people.find(platform, key.id):
                if account.key == key:
                    return account
        return None

    def _announce(self, call: Invocation, account: Account) -> None:
        self._core.revisions.announce(server_owner(call.place.server.server_id))
        if account.user_id is not None:
            self._core.revisions.announce(user_owner(account.user_id))


def _command(path: tuple[str, ...], description: str, run: Any, options: tuple[Option, ...] = ()) -> Command:
    return Command(("privacy", *path), description, run, options, Rights.MANAGE, private=True, owner="privacy")


def _shown(account: Account) -> str:
    """Return how somebody is called here; who hides is not named."""
    return account.display_name if RULES[account.privacy].names else f"{account.platform}:{account.key.id}"


def _as_data(account: Account) -> dict[str, Any]:
    return {
        "platform": account.platform,
        "id": account.key.id,
        "name": account.display_name if RULES[account.privacy].names else None,
    }


def _unknown(call: Invocation) -> CommandReply:
    text = translate(call.locale, "I have not met anybody with that id: they must have written something first.")
    return CommandReply(text, private=True, ok=False)
