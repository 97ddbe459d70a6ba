"""What everybody may decide and see about themselves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from agent.catalog import N_, translate
from agent.commands import Command, CommandReply, Invocation, Option, Step, StepKind
from agent.confirmations import VALID, Answer
from agent.contracts.people import PrivacyLevel
from agent.files import ReplyFile
from agent.printing import safe_json
from agent.privacy.erase import erase_identities, erase_person
from agent.privacy.export import export_person
from agent.privacy.levels import RULES, strictest
from agent.store.notices import WITHDRAWN
from agent.text import one_line
from agent.turn.values import server_owner, user_owner
from plugins.privacy.sentences import LEVELS, act_line, acts_as_data, counted

if TYPE_CHECKING:
    from agent.contracts.people import Speaker
    from agent.core import Core

FORGET: Final = "forget"
KEEP: Final = "keep"
FORGET_ME: Final = "privacy forget-me"
"""The action that is asked back about."""
SHOWN: Final = 20
"""Lines of the trail in one answer; the data holds more."""
_REFUSED: Final = {
    Answer.WRONG: N_("That is not the code. Nothing was deleted; look at it again."),
    Answer.VOID: N_("No open question has this code. Nothing was deleted; begin with /privacy forget-me."),
}
_MINUTE: Final = timedelta(minutes=1)


class PersonalCommands:
    """`/privacy show`, `set`, `export`, `forget-me` and `audit`."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def commands(self) -> tuple[Command, ...]:
        """Return the commands; every answer is for the asker alone."""
        levels = tuple(level.value for level in PrivacyLevel)
        code = Option("code", N_("The code of my question, to confirm."), required=False)
        identities = Option(
            "identities",
            N_("Whether those whom your account alone hosts are forgotten too."),
            required=False,
            choices=(FORGET, KEEP),
            named_only=True,
        )
        level = Option("level", N_("none, partial or full."), choices=levels)
        return (
            _command("show", N_("Show what I may keep about you."), self.show),
            _command("set", N_("Set what I may keep about you."), self.set_level, (level,)),
            _command("export", N_("Get everything that I hold about you, as a file."), self.export),
            _command("forget-me", N_("Delete everything that I hold about you."), self.forget_me, (code, identities)),
            _command("audit", N_("Show who looked at what I remember about you."), self.audit),
        )

    async def show(self, call: Invocation) -> CommandReply:
        """Tell the level, what it means, and what the server adds to it."""
        facts = await self._core.privacy.facts_of_account(call.account.account_id, call.place.server.server_id)
        level = strictest(person.privacy for person in facts)
        lines = [
            translate(call.locale, "Your privacy level is {level}.", level=level.value),
            translate(call.locale, LEVELS[level]),
        ]
        blacklisted = any(person.blacklisted for person in facts)
        personal_off = any(person.personal_off for person in facts)
        if blacklisted:
            lines.append(translate(call.locale, "This server wants no memories about you."))
        if personal_off:
            lines.append(translate(call.locale, "This server wants no personal memories of anybody."))
        lines.append(translate(call.locale, "To change it: /privacy set none, partial or full."))
        data = {
            "level": level.value,
            "keeps_memories": RULES[level].keeps_memories,
            "shows_memories": RULES[level].shows_memories,
            "names": RULES[level].names,
            "reads_messages": RULES[level].reads_messages,
            "blacklisted": blacklisted,
            "personal_memories": not personal_off,
        }
        return CommandReply("\n".join(lines), private=True, data=data, steps=_others(level, call.locale))

    async def set_level(self, call: Invocation) -> CommandReply:
        """Set the level of whoever asks, linked accounts included."""
        word = str(call.options["level"]).strip().lower()
        if word not in list(PrivacyLevel):
            text = translate(call.locale, "There is no such level: choose none, partial or full.")
            return CommandReply(text, private=True, ok=False)
        level = PrivacyLevel(word)
        before = await self._core.privacy.set_level(call.account.account_id, level)
        self._announce(call)
        lines = [
            translate(call.locale, "Your privacy level is {level}.", level=level.value),
            translate(call.locale, LEVELS[level]),
        ]
        if level.restricts and not before.restricts:
            lines.append(
                translate(
                    call.locale, "What I have kept until now is not shown any more; /privacy forget-me deletes it."
                )
            )
        return CommandReply("\n".join(lines), private=True, data={"level": level.value, "before": before.value})

    async def export(self, call: Invocation) -> CommandReply:
        """Answer with everything that is held about whoever asks."""
        core = self._core
        held = await export_person(core.store, core.hooks, call.account.account_id, core.clock.now())
        content = safe_json(held, indent=2).encode("utf-8")
        missing = held["missing"]
        if isinstance(missing, list) and missing:
            names = ", ".join(map(str, missing))
            text = translate(
                call.locale, "Here is what I hold about you, but for what could not be read: {names}.", names=names
            )
        else:
            text = translate(call.locale, "Here is everything that I hold about you.")
        return CommandReply(text, private=True, file=ReplyFile("isthmus-export.json", content))

    async def forget_me(self, call: Invocation) -> CommandReply:
        """Ask back; with the code of that question, forget whoever asks."""
        core, account_id = self._core, call.account.account_id
        code = str(call.options.get("code") or "").strip()
        if not code:
            return await self._ask_back(call)
        alone, choice = await self._hosted_alone(call), call.options.get("identities")
        if alone and choice not in {FORGET, KEEP}:
            return CommandReply(_what_of(call, alone), private=True, ok=False)
        answer = await core.confirmations.answer(account_id, FORGET_ME, code, call.now)
        if answer is not Answer.CONFIRMED:
            return CommandReply(translate(call.locale, _REFUSED[answer]), private=True, ok=False)
        if choice == FORGET and alone:
            await erase_identities(core.store, core.hooks, call.account, alone, core.clock.now())
            core.revisions.announce(*(user_owner(each.user_id) for each in alone if each.user_id is not None))
        receipt = await erase_person(core.store, core.hooks, account_id, core.clock.now())
        self._announce(call)
        core.revisions.announce(*map(server_owner, receipt.servers), WITHDRAWN)
        moment = f"{receipt.at:%Y-%m-%d %H:%M}"
        text = translate(
            call.locale,
            "Forgotten at {time} UTC: {counts}. Your privacy level and blacklists stay as they were.",
            time=moment,
            counts=counted(receipt.counts, call.locale),
        )
        data = {"at": receipt.at.isoformat(), "counts": dict(receipt.counts)}
        return CommandReply(text, private=True, data=data)

    async def audit(self, call: Invocation) -> CommandReply:
        """Show who looked at or changed what is about whoever asks."""
        acts = await self._core.audit.about(call.account.account_id)
        if not acts:
            text = translate(call.locale, "Nobody has looked at what I remember about you.")
            return CommandReply(text, private=True, data={"acts": []})
        lines = [act_line(seen, call.locale) for seen in acts[:SHOWN]]
        if len(acts) > SHOWN:
            lines.append(translate(call.locale, "{count} earlier ones are not shown.", count=len(acts) - SHOWN))
        return CommandReply("\n".join(lines), private=True, data={"acts": acts_as_data(acts)})

    async def _ask_back(self, call: Invocation) -> CommandReply:
        code = await self._core.confirmations.ask(call.account.account_id, FORGET_ME, call.now)
        text = translate(
            call.locale,
            "This deletes everything that I hold about you, in every server, and cannot be undone. "
            "To go on, run within {minutes} minutes: /privacy forget-me {code}",
            minutes=VALID // _MINUTE,
            code=code,
        )
        accounts = await self._core.links.accounts(call.account.account_id)
        linked = [f"{each.platform}:{each.key.id}" for each in accounts if each.account_id != call.account.account_id]
        if linked:
            also = translate(
                call.locale,
                "Your linked accounts are forgotten and unlinked too: {accounts}.",
                accounts=", ".join(linked),
            )
            text = f"{also} {text}"
        alone = await self._hosted_alone(call)
        if alone:
            text = f"{text} {_what_of(call, alone)}"
        data = {"code": code, "expires_at": (call.now + VALID).isoformat(), "linked": linked}
        step = Step(translate(call.locale, "Forget me"), ("privacy", "forget-me"), {"code": code}, StepKind.CONFIRM)
        return CommandReply(text, private=True, data=data, steps=(step,))

    async def _hosted_alone(self, call: Invocation) -> list[Speaker]:
        """Return the proxied identities that nobody but this person hosts."""
        own = {each.account_id for each in await self._core.links.accounts(call.account.account_id)}
        own.add(call.account.account_id)
        given = await self._core.hooks.collect("own_identities", account=call.account)
        return [each for speakers in given for each in speakers if own.issuperset(each.host_account_ids)]

    def _announce(self, call: Invocation) -> None:
        if call.account.user_id is not None:
            self._core.revisions.announce(user_owner(call.account.user_id))


def _others(level: PrivacyLevel, locale: str) -> tuple[Step, ...]:
    """Return steps to the levels that are not chosen."""
    return tuple(
        Step(translate(locale, "Set to {level}", level=each.value), ("privacy", "set"), {"level": each.value})
        for each in PrivacyLevel
        if each is not level
    )


def _what_of(call: Invocation, alone: Sequence[Speaker]) -> str:
    """Return the question what becomes of identities that are left without an account."""
    return translate(
        call.locale,
        "Your account alone hosts {names}. Say with identities={forget} that they are forgotten too, or with "
        "identities={keep} that what I know of them stays; nobody is shown it while no account stands for them.",
        names=", ".join(one_line(each.display_name) for each in alone),
        forget=FORGET,
        keep=KEEP,
    )


def _command(
    name: str,
    description: str,
    run: Callable[[Invocation], Awaitable[CommandReply]],
    options: tuple[Option, ...] = (),
) -> Command:
    return Command(("privacy", name), description, run, options, private=True, owner="privacy")
