"""`/link` and `/unlink`: what a person does to be known as one on several platforms."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from agent.catalog import N_, translate
from agent.commands import Choice, Command, CommandReply, Invocation, Option, Step, StepKind
from agent.linking.repository import Linked, Unlinked
from agent.linking.requests import LinkRequests
from agent.linking.rules import VALID, LinkRefusal
from agent.privacy.levels import strictest
from agent.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.contracts.people import Account
    from agent.core import Core

_MINUTES: Final = VALID // timedelta(minutes=1)
_REFUSED: Final = {
    LinkRefusal.KIND: N_("Only a person's own account can be linked."),
    LinkRefusal.TOO_MANY_CODES: N_("You have asked for many codes. Please try again in an hour."),
    LinkRefusal.TOO_MANY_WRONG: N_("Too many wrong codes came from you. Please try again in an hour."),
    LinkRefusal.BUSY: N_("Too many codes are being tried just now. Please try again in ten minutes."),
    LinkRefusal.WRONG: N_(
        "No open request has this code: look at it again, or run /link on the other platform for a new one."
    ),
    LinkRefusal.OWN_CODE: N_("That is your own code: enter it with your account on the other platform."),
    LinkRefusal.LINKED: N_("These two accounts are linked already."),
    LinkRefusal.SAME_PLATFORM: N_(
        "Only accounts on different platforms can be linked, one of each: there are two of the same platform here."
    ),
    LinkRefusal.NOBODY_ASKS: N_("Nobody asks to be linked with you. Run /link for a code."),
}


class LinkCommands:
    """The commands; every answer is for the asker alone."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._requests = LinkRequests(core.store)

    def commands(self) -> tuple[Command, ...]:
        """Return the commands."""
        code = Option(
            "code",
            N_("The code that your other account was given; or confirm, or refuse. Left out: you get a code."),
            required=False,
        )
        platform = Option(
            "platform",
            N_("Of which platform the account is that leaves; left out: this one."),
            required=False,
            suggest=self.platforms,
        )
        return (
            Command(
                ("link",),
                N_("Link your accounts on two platforms, so that I know you as one person."),
                self.link,
                (code,),
                private=True,
            ),
            Command(
                ("unlink",),
                N_("Undo a link; what I have learned goes to the side it came from."),
                self.unlink,
                (platform,),
                private=True,
            ),
        )

    async def link(self, call: Invocation) -> CommandReply:
        """Give a code or say who has entered it, take a code, confirm or refuse."""
        word = str(call.options.get("code") or "").strip()
        match word.casefold():
            case "":
                return await self._ask(call)
            case "confirm":
                return await self._confirm(call)
            case "refuse":
                return await self._refuse(call)
            case _:
                return await self._enter(call, word)

    async def unlink(self, call: Invocation) -> CommandReply:
        """Part the account that asks, or that of another platform, from the others."""
        accounts = await self._core.links.accounts(call.account.account_id)
        if not accounts[1:]:
            return _failed(translate(call.locale, "This account is linked to no other one."))
        wanted = str(call.options.get("platform") or "").strip().casefold() or call.account.platform
        leaving = next((each for each in accounts if each.platform == wanted), None)
        if leaving is None:
            text = translate(
                call.locale,
                "You have no linked account there. Linked are: {accounts}.",
                accounts=_names(accounts),
            )
            return _failed(text)
        done = await self._core.links.unlink(leaving.account_id, call.now, actor=call.account)
        if done is None:
            return _failed(translate(call.locale, "This account is linked to no other one."))
        return CommandReply(unlinked_text(done, call.locale), private=True, data=unlinked_data(done))

    async def platforms(self, call: Invocation, typed: str) -> Sequence[Choice]:
        """Offer the platforms of the accounts that are linked."""
        accounts = await self._core.links.accounts(call.account.account_id)
        found = [each for each in accounts if each.platform.startswith(typed.strip().casefold())]
        return [Choice(each.platform, _names([each])) for each in found] if accounts[1:] else []

    async def _ask(self, call: Invocation) -> CommandReply:
        if (reply := await self._shown(call)) is not None:
            return reply
        code = await self._requests.ask(call.account, call.now)
        if isinstance(code, LinkRefusal):
            return _refused(code, call)
        text = translate(
            call.locale,
            "Your code is {code}. Within {minutes} minutes, run with your account on the other platform: /link {code}. "
            "Then come back here and confirm it. Show it to nobody: whoever enters it asks to be known as you.",
            code=code,
            minutes=_MINUTES,
        )
        data = {"code": code, "expires_at": (call.now + VALID).isoformat()}
        return CommandReply(text, private=True, data=data)

    async def _shown(self, call: Invocation) -> CommandReply | None:
        """Say who has entered the code of whoever asks; None when nobody has."""
        waiting = await self._requests.waiting(call.account.account_id, call.now, shows=True)
        if waiting is None:
            return None
        accounts = await self._core.links.accounts(waiting.other.account_id)
        level = strictest((call.account.privacy, *(account.privacy for account in accounts)))
        text = translate(
            call.locale,
            "{account} asks to be linked with you. If that is your own account, run: /link confirm. If it is not: "
            "/link refuse. Linked accounts are one person for me: what I remember about one I know of the other, "
            "blacklists of servers hold for both, and so does the stricter privacy level, {level}.",
            account=_names(accounts),
            level=level.value,
        )
        steps = (
            Step(translate(call.locale, "Link"), ("link",), {"code": "confirm"}, StepKind.CONFIRM),
            Step(translate(call.locale, "Refuse"), ("link",), {"code": "refuse"}),
        )
        return CommandReply(text, private=True, data={"asks": [_as_data(each) for each in accounts]}, steps=steps)

    async def _enter(self, call: Invocation, code: str) -> CommandReply:
        first = await self._requests.enter(call.account, code, call.now)
        if isinstance(first, LinkRefusal):
            return _refused(first, call)
        text = translate(
            call.locale,
            "Nothing is linked yet. Within {minutes} minutes, run /link again on {platform} with the account that was "
            "given the code: I show there who asks, and it is to confirm.",
            minutes=_MINUTES,
            platform=first.platform,
        )
        return CommandReply(text, private=True, data={"platform": first.platform})

    async def _confirm(self, call: Invocation) -> CommandReply:
        waiting = await self._requests.waiting(call.account.account_id, call.now)
        if waiting is not None and not waiting.is_shown and (reply := await self._shown(call)) is not None:
            return reply  # nobody confirms what they have not seen
        linked = await self._core.links.confirm(call.account.account_id, call.now)
        if isinstance(linked, LinkRefusal):
            return _refused(linked, call)
        text = translate(
            call.locale,
            "Linked: {accounts} are one person for me now. Your privacy level is {level}. /unlink undoes it.",
            accounts=_names(linked.accounts),
            level=linked.level.value,
        )
        return CommandReply(text, private=True, data=_linked_data(linked))

    async def _refuse(self, call: Invocation) -> CommandReply:
        if await self._requests.refuse(call.account.account_id):
            return CommandReply(translate(call.locale, "Nothing was linked, and the code is void."), private=True)
        return _refused(LinkRefusal.NOBODY_ASKS, call)


def unlinked_text(done: Unlinked, locale: str) -> str:
    """Return what became of an unlinking: which memories stay where, and what still holds."""
    account, others = _names([done.account]), _names(done.others)
    if done.owned_apart:
        stays = translate(
            locale,
            "Unlinked: {went} personal memories, learned there, go with {account}; {stayed} stay with {others}.",
            went=done.went,
            account=account,
            stayed=done.stayed,
            others=others,
        )
    else:
        owner, other = (account, others) if done.leaver_keeps else (others, account)
        stays = translate(
            locale,
            "Unlinked: all {stayed} personal memories stay with {owner}, because {other} has none of its own. What is "
            "about {other} is deleted and exported there, too.",
            stayed=done.stayed,
            owner=owner,
            other=other,
        )
    keeps = translate(
        locale, "Each account keeps the privacy level {level} and the blacklists of both.", level=done.level.value
    )
    return f"{stays} {keeps}"


def unlinked_data(done: Unlinked) -> dict[str, Any]:
    """Return the same as data."""
    return {
        "account": _as_data(done.account),
        "others": [_as_data(account) for account in done.others],
        "went": done.went,
        "stayed": done.stayed,
        "stayed_with": [_as_data(each) for each in ((done.account,) if done.leaver_keeps else done.others)],
        "level": done.level.value,
    }


def _linked_data(linked: Linked) -> dict[str, Any]:
    return {"accounts": [_as_data(account) for account in linked.accounts], "level": linked.level.value}


def _as_data(account: Account) -> dict[str, Any]:
    return {"platform": account.platform, "id": account.key.id, "name": account.display_name}


def _names(accounts: Iterable[Account]) -> str:
    """Return accounts so that nobody passes for another: the name, and the platform with its id."""
    return ", ".join(one_line(f"{each.display_name} ({each.platform}:{each.key.id})") for each in accounts)


def _refused(refusal: LinkRefusal, call: Invocation) -> CommandReply:
    return _failed(translate(call.locale, _REFUSED[refusal]), refusal.value)


def _failed(text: str, reason: str | None = None) -> CommandReply:
    return CommandReply(text, private=True, ok=False, data=None if reason is None else {"refused": reason})
