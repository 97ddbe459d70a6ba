"""Who said a message: originals wait for their repost, and reposts are attested or nobody's."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from agent import logs
from agent.contracts.people import Registration
from agent.events import Reply
from agent.hookspecs import Attested, Hold, SpeakerAnswer, Unavailable
from agent.store.own_messages import own_messages
from plugins.message_proxy.counting import count, delayed
from plugins.message_proxy.repository import speaker_of
from plugins.message_proxy.rules import answered_in, is_live, may_have_posted, merged, settle
from plugins.message_proxy.values import Claim, Found, Known, Outcome
from plugins.message_proxy.watching import Where, where

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from agent.contracts.people import Account
    from agent.core import Core
    from agent.events import MessageCreated
    from plugins.message_proxy.anonymous import Anonymous
    from plugins.message_proxy.finding import Finder
    from plugins.message_proxy.registering import Registrar
    from plugins.message_proxy.repository import ProxyRepository
    from plugins.message_proxy.settings import MessageProxySettings
    from plugins.message_proxy.values import Expectation, Instance, Lookup
    from plugins.message_proxy.watching import Original, Watching

log = logs.get_logger("plugins.message_proxy")

MOST_VERDICTS: Final = 2_000
SLACK: Final = 1.0
"""Seconds beyond the budget until a message is asked about again although nobody has released it."""

type Verdict = Outcome | Attested
type Answering = Coroutine[None, None, SpeakerAnswer | None] | None


@dataclass(slots=True)
class Routing:
    """Answers `resolve_speaker`; what takes time goes on beside it, and releases the message when it is done."""

    core: Core
    settings: MessageProxySettings
    repository: ProxyRepository
    registrar: Registrar
    watching: Watching
    instances: tuple[Instance, ...]
    finders: Mapping[int, Finder]
    anonymous: Anonymous
    _verdicts: OrderedDict[tuple[str, str], Verdict] = field(default_factory=OrderedDict)
    _deciding: set[tuple[str, str]] = field(default_factory=set)
    _asking: Counter[Where] = field(default_factory=Counter)
    """Lookups that are under way, by channel."""
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def stop(self) -> None:
        """End what goes on; held messages stay, so that the next start goes on with them."""
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def resolve(self, event: MessageCreated, account: Account) -> Answering:
        """Answer who said a message. For everybody who uses no service that is one look into memory."""
        if event.webhook_id is not None:
            return self._repost(event, account)
        chosen = self.watching.users.get(account.account_id)
        return None if chosen is None or event.corrects is not None else self._original(event, account, chosen)

    # Originals ------------------------------------------------------------------------------------------------

    async def _original(self, event: MessageCreated, account: Account, chosen: frozenset[int]) -> SpeakerAnswer | None:
        instances = [each for each in self.instances if each.instance_id in chosen]
        if not instances:
            return None
        if (waiting := self.watching.waits(event)) is not None:
            return self._still_waiting(event, waiting)
        ids = frozenset(each.instance_id for each in instances)
        if attesting := [each for each in instances if each.descriptor.attests]:
            await self.repository.expect(event, account, attesting)
            for each in attesting:
                await self.watching.note_expected(event, each.instance_id)
        if not self.watching.is_seen(event, ids):
            self.watching.tell(event)
            return None
        self.watching.begin(event, ids)
        self.watching.tell(event)
        return self._hold(self.settings.wait, "may be reposted")

    def _still_waiting(self, event: MessageCreated, waiting: Original) -> SpeakerAnswer | None:
        """Go on waiting while somebody is asked about a repost in this channel, or the time is not over."""
        waited = self.core.clock.monotonic() - waiting.began
        longest = self.settings.wait + self.settings.lookup_seconds + SLACK
        if self._asking[where(event)] and waited < longest:
            return self._hold(self.settings.lookup_seconds + SLACK, "a repost is being looked up")
        if waited < self.settings.wait:
            return self._hold(self.settings.wait - waited, "may be reposted")
        self.watching.end(event.platform, event.message_id)
        delayed(waited)
        return None

    # Reposts --------------------------------------------------------------------------------------------------

    async def _repost(self, event: MessageCreated, account: Account) -> SpeakerAnswer | None:
        key = (event.platform, event.message_id)
        if (verdict := self._verdicts.get(key)) is not None:
            return self._answer(verdict, event)
        possible = may_have_posted(event.application_id, self.instances)
        for each in possible:
            if event.application_id is not None and event.application_id in {each.application_id, each.learned}:
                await self.watching.note_seen(event, each)
        attesting = [each for each in possible if each.descriptor.attests]
        if possible and not attesting:
            count(Outcome.UNSUPPORTED)
            certain = any(event.application_id in {each.application_id, each.learned} for each in possible)
            return await self.anonymous.answer(event, account) if event.application_id and certain else None
        expecting = [each for each in attesting if (*where(event), each.instance_id) in self.watching.expecting]
        if not expecting:
            return None
        if key not in self._deciding:
            self._deciding.add(key)
            self._start(self._decide(event, expecting))
        return self._hold(self.settings.wait + self.settings.lookup_seconds + SLACK, "who said it is being looked up")

    @staticmethod
    def _answer(verdict: Verdict, event: MessageCreated) -> SpeakerAnswer | None:
        if isinstance(verdict, Attested):
            return verdict if verdict.event is None else Attested(verdict.speaker, merged(event, verdict.event))
        return Unavailable("an outage of the service") if verdict is Outcome.UNAVAILABLE else None

    async def _decide(self, event: MessageCreated, instances: Sequence[Instance]) -> None:
        """Find out who said a message, remember it, and release everybody who waits for that."""
        key = (event.platform, event.message_id)
        verdict: Verdict = Outcome.UNAVAILABLE
        try:
            async with asyncio.timeout(self.settings.wait + self.settings.lookup_seconds + SLACK):
                verdict = await self._verdict(event, instances)
        except TimeoutError:
            log.warning("repost_not_decided_in_time")
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing is known and nobody is guessed
            log.warning("repost_not_decided", error=type(error).__name__)
        finally:
            self._deciding.discard(key)
            self._verdicts[key] = verdict
            while len(self._verdicts) > MOST_VERDICTS:
                self._verdicts.popitem(last=False)
            if isinstance(verdict, Outcome):
                count(verdict)
            self._release(event)

    async def _verdict(self, event: MessageCreated, instances: Sequence[Instance]) -> Verdict:
        if (indexed := await self._indexed(event)) is not None:
            return indexed
        expectations = await self._expectations(event, instances)
        wanted = [each for each in instances if any(e.instance_id == each.instance_id for e in expectations)]
        if not wanted:
            return Outcome.UNMATCHED
        self._asking[where(event)] += 1
        try:
            answers = await asyncio.gather(*(self.finders[each.instance_id].find(event.message_id) for each in wanted))
            lookups: dict[Instance, Lookup] = dict(zip(wanted, answers, strict=True))
            settled = settle(lookups, event, await self.repository.expected(event))
            if not isinstance(settled, Outcome):
                return await self._attest(settled, event)
            for instance, found in lookups.items():
                # Whoever it is: a sender that a service names shares that system, and protects it from now on.
                if settled is Outcome.UNMATCHED and isinstance(found, Found) and found.message_id == event.message_id:
                    await self.registrar.note_sender(instance.instance_id, found, event.platform, self.core.clock.now())
            return settled
        finally:
            self._asking[where(event)] -= 1
            if not self._asking[where(event)]:
                del self._asking[where(event)]

    async def _expectations(self, event: MessageCreated, instances: Sequence[Instance]) -> Sequence[Expectation]:
        """Return what may have been reposted; a repost may come before its original, so it is waited for."""
        ids = {each.instance_id for each in instances}
        ends = self.core.clock.monotonic() + self.settings.wait
        while True:
            found = [each for each in await self.repository.expected(event) if each.instance_id in ids]
            left = ends - self.core.clock.monotonic()
            if found or left <= 0:
                return [each for each in found if is_live(each, event)]
            await self.watching.news(event, left)

    async def _attest(self, claim: Claim, event: MessageCreated) -> Verdict:
        known = await self.registrar.register(claim, event, self.core.clock.now())
        if known is None:
            return Outcome.UNMATCHED
        if event.application_id is not None and claim.instance.application_id is None:
            await self._learn(claim.instance, event.application_id)
        await self.watching.note_seen(event, claim.instance)
        self._tell(known, claim, event)
        original = claim.expectation.event
        waiting = self.watching.end(original.platform, original.message_id)
        if waiting is not None and known.triggers:
            delayed(self.core.clock.monotonic() - waiting.began)
        self.core.holds.release(original.platform, original.event_id)
        if not known.triggers:
            return Outcome.MATCHED_IDENTITY
        count(Outcome.MATCHED_TRIGGER)
        return Attested(speaker_of(known), await self._with_reply(original, event, claim.instance.name))

    async def _with_reply(self, original: MessageCreated, repost: MessageCreated, name: str) -> MessageCreated:
        """Return an original with what its repost is an answer to, where it is not known to answer anything itself."""
        instance = next((each for each in self.instances if each.name == name), None)
        if original.reply is not None or repost.reply is not None or instance is None:
            return original
        if (message_id := answered_in(repost, instance)) is None:
            return original
        own = await own_messages(self.core.store, repost.platform, [message_id])
        return replace(original, reply=Reply(message_id, message_id in own, own.get(message_id)))

    async def _learn(self, instance: Instance, application_id: str) -> None:
        """Keep which application posts for an instance, for its next messages to be known by."""
        await self.repository.learn(instance.instance_id, application_id, self.core.clock.now())
        learned = replace(instance, learned=application_id)
        self.instances = tuple(learned if each.instance_id == instance.instance_id else each for each in self.instances)

    def _tell(self, known: Known, claim: Claim, event: MessageCreated) -> None:
        """Tell plugins of the identity, without delaying its message."""

        async def tell() -> None:
            entrance = await self.core.people.enter(
                event.server, event.channel, claim.expectation.event.author, self.core.clock.now()
            )
            self.watching.servers.add(entrance.place.server.server_id)
            registration = Registration(
                speaker=speaker_of(known),
                is_new=known.is_new,
                bio=claim.member.bio,
                account_id=known.account_id,
                platform=event.platform,
                server_id=entrance.place.server.server_id,
                channel_external_id=event.channel.external_id,
                message_id=event.message_id,
                occurred_at=event.occurred_at,
            )
            await self.core.hooks.collect("identity_registered", registration=registration)

        self._start(tell())

    async def _indexed(self, event: MessageCreated) -> Verdict | None:
        """Return what was found out before a restart."""
        found = await self.repository.indexed(event.platform, event.message_id)
        if found is None:
            return None
        known, original_id = found
        expectations = await self.repository.expected(event)
        original = next((each.event for each in expectations if each.event.message_id == original_id), None)
        if not known.triggers or original is None:
            return Outcome.MATCHED_IDENTITY
        return Attested(speaker_of(known), await self._with_reply(original, event, known.key.partition(":")[0]))

    def _release(self, event: MessageCreated) -> None:
        self.core.holds.release(event.platform, event.event_id)
        for waiting in list(self.watching.originals.values()):
            if where(waiting.event) == where(event):
                self.core.holds.release(waiting.event.platform, waiting.event.event_id)

    def _hold(self, seconds: float, reason: str) -> Hold:
        return Hold(self.core.clock.now() + timedelta(seconds=seconds), reason)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("proxy_task_failed", error=type(error).__name__)
