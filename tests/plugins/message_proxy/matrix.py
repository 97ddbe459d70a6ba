"""Every order of an original, its repost, its deletion and an edit, with every answer of the service and every host."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import permutations, product

from agent.app import Agent
from agent.events import Author, Event, MessageCreated, MessageDeleted, MessageEdited
from agent.identity.keys import ParticipantKind
from agent.places import ChannelRef, ServerRef
from plugins.message_proxy.values import Failed, Found, Lookup, Member, Miss


class Step(StrEnum):
    ORIGINAL = "original"
    REPOST = "repost"
    DELETE = "delete"
    UPDATE = "update"


class Answer(StrEnum):
    FOUND = "found"
    MISS = "miss"
    LATE = "late"
    LIMITED = "limited"
    TIME_OUT = "time-out"
    CONFLICT = "conflict"


class Host(StrEnum):
    ALLOWED = "allowed"
    FULL = "full"
    BLACKLISTED = "blacklisted"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Case:
    number: int
    order: tuple[Step, ...]
    answer: Answer
    host: Host

    @property
    def is_attested(self) -> bool:
        return self.answer in {Answer.FOUND, Answer.LATE}

    @property
    def original_id(self) -> str:
        return f"{self.number}0"

    @property
    def repost_id(self) -> str:
        return f"{self.number}1"

    @property
    def account(self) -> Author:
        name = f"host{self.number}"
        return Author(ParticipantKind.CONSOLE_USER, name, name, name)

    @property
    def deletes_while_it_waits(self) -> bool:
        """Whether the original is known when it is deleted."""
        return self.order.index(Step.ORIGINAL) < self.order.index(Step.DELETE)


def cases() -> Iterator[Case]:
    """All of them, numbered."""
    everything = product(permutations(Step), Answer, Host)
    for number, (order, answer, host) in enumerate(everything, 1000):
        yield Case(number, order, answer, host)


@dataclass
class Service:
    """One instance as the plugin asks it, told per message what to answer."""

    is_second: bool = False
    cases: dict[str, Case] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def find(self, message_id: str) -> Lookup:
        """Answer after a moment, or too late."""
        self.asked.append(message_id)
        case = self.cases[message_id]
        member = Member(f"member-{case.number}", "Wren")
        found = Found(
            message_id, case.original_id, case.account.external_id, channel(case).external_id, "s", "Lark", member
        )
        found = replace(found, system_key=f"system-{case.number}")
        match case.answer:
            case Answer.CONFLICT:
                return found
            case _ if self.is_second:
                return Miss()
            case Answer.FOUND:
                return found
            case Answer.LATE:
                await asyncio.sleep(0.25)
                return found
            case Answer.MISS:
                await asyncio.sleep(0.1)
                return Miss()
            case Answer.LIMITED:
                await asyncio.sleep(0.1)
                return Failed("it was asked too often", 0.1)
            case Answer.TIME_OUT:
                await asyncio.sleep(0.3)
                return Failed("it took too long", 0.1)

    async def close(self) -> None:
        """Nothing is open."""


def channel(case: Case) -> ChannelRef:
    return ChannelRef(f"home/c{case.number}", f"c{case.number}")


SERVER = ServerRef("fake", "home", "home")


def event(case: Case, step: Step, now: datetime) -> Event:
    """What the bridge brings at a step."""
    where = (SERVER, channel(case))
    original, repost = case.original_id, case.repost_id
    hook = Author(ParticipantKind.WEBHOOK, "77", "Wren", is_bot=True)
    match step:
        case Step.ORIGINAL:
            return MessageCreated("fake", original, original, *where, case.account, "w:hello", now, mentions_agent=True)
        case Step.REPOST:
            return MessageCreated(
                "fake",
                repost,
                repost,
                *where,
                hook,
                "hello",
                now,
                webhook_id="77",
                mentions_agent=True,
            )
        case Step.DELETE:
            return MessageDeleted("fake", f"delete:{original}", original, *where, now)
        case Step.UPDATE:
            return MessageEdited("fake", f"edit:{repost}", repost, *where, hook, "hello again", now)


async def play(agent: Agent, case: Case, gap: float = 0.02) -> None:
    """Bring the events of a case in its order."""
    for step in case.order:
        await agent.receive(event(case, step, datetime.now(UTC)))
        await asyncio.sleep(gap)
