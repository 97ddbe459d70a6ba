"""Asking until there is an answer: budgets, pauses and caches, by a clock that the test moves."""

import asyncio
import heapq
from dataclasses import dataclass, field

import pytest

from plugins.message_proxy.finding import Finder
from plugins.message_proxy.pace import Pace
from plugins.message_proxy.values import Failed, Found, Lookup, Miss
from tests.plugins.message_proxy.builders import found


@dataclass
class Time:
    """A clock that moves to whoever wakes next, when nobody has anything else to do."""

    now: float = 0.0
    sleeping: list[tuple[float, int, asyncio.Future[None]]] = field(default_factory=list)
    count: int = 0
    driver: asyncio.Task[None] | None = None

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.count += 1
        wakes: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self.sleeping, (self.now + seconds, self.count, wakes))
        if self.driver is None or self.driver.done():
            self.driver = asyncio.create_task(self.drive())
        await wakes

    async def drive(self) -> None:
        while self.sleeping:
            for _ in range(10):
                await asyncio.sleep(0)
            at, _, wakes = heapq.heappop(self.sleeping)
            self.now = max(self.now, at)
            if not wakes.done():
                wakes.set_result(None)
            for _ in range(10):
                await asyncio.sleep(0)


@dataclass
class Script:
    """A service that gives these answers, the last one for ever."""

    time: Time
    answers: list[Lookup]
    asked: list[float] = field(default_factory=list)
    takes: float = 0.0
    at_once: int = 0
    most_at_once: int = 0

    async def message(self, message_id: str) -> Lookup:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.asked.append(self.time.now)
        await asyncio.sleep(0)
        self.time.now += self.takes
        self.at_once -= 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    async def system(self, account_id: str) -> str | Failed | None:
        return "system"

    async def close(self) -> None:
        pass


def finder(*answers: Lookup, takes: float = 0.0, budget: float = 5.0) -> tuple[Finder, Script, Time]:
    time = Time()
    script = Script(time, list(answers), takes=takes)
    pace = Pace(8, time.monotonic, time.sleep)
    return Finder(script, pace, budget=budget, monotonic=time.monotonic, sleep=time.sleep), script, time


@pytest.mark.parametrize(
    ("answers", "expected", "times"),
    [
        ([found()], Found, 1),
        ([Miss(), found()], Found, 2),
        ([Miss(), Failed("again", 0.1), Failed("again", 0.0), found()], Found, 4),
        ([Failed("blocked")], Failed, 1),  # trying again does not help
        ([Miss()], Miss, 4),
        ([Failed("down", 0.1)], Failed, 5),
        ([Failed("down", 0.1), Miss()], Miss, 4),
        ([Failed("much", 60.0)], Failed, 1),
    ],
)
async def test_it_asks_as_long_as_the_budget_lasts(answers: list[Lookup], expected: type, times: int) -> None:
    finding, script, time = finder(*answers)
    assert isinstance(await finding.find("200"), expected)
    assert len(script.asked) == times
    assert time.now < 5.0


async def test_what_was_found_is_kept_a_miss_for_a_while_and_a_failure_never() -> None:
    finding, script, _ = finder(found())
    await finding.find("200")
    await finding.find("200")
    assert len(script.asked) == 1

    finding, script, time = finder(Miss())
    await finding.find("200")
    first = len(script.asked)
    await finding.find("200")
    assert len(script.asked) == first
    time.now += 60
    await finding.find("200")
    assert len(script.asked) == 2 * first

    finding, script, _ = finder(Failed("blocked"))
    await finding.find("200")
    await finding.find("200")
    assert len(script.asked) == 2


async def test_one_message_is_asked_about_once_at_a_time() -> None:
    finding, script, _ = finder(Miss(), found())
    answers = await asyncio.gather(*(finding.find("200") for _ in range(20)))
    assert all(isinstance(each, Found) for each in answers)
    assert len(script.asked) == 2
    assert script.most_at_once == 1


async def test_many_messages_keep_the_pace() -> None:
    finding, script, _ = finder(found())
    await asyncio.gather(*(finding.find(str(number)) for number in range(60)))
    for begin in script.asked:
        assert sum(begin <= at < begin + 1 - 1e-9 for at in script.asked) <= 8


async def test_what_cannot_be_asked_in_time_is_not_asked() -> None:
    finding, script, _ = finder(found())
    answers = await asyncio.gather(*(finding.find(str(number)) for number in range(100)))
    assert len(script.asked) == 40
    assert sum(isinstance(each, Failed) for each in answers) == 60


async def test_whoever_is_cancelled_takes_nobody_along() -> None:
    finding, _, _ = finder(Miss(), found())
    first, second = asyncio.create_task(finding.find("200")), asyncio.create_task(finding.find("200"))
    await asyncio.sleep(0)
    first.cancel()
    assert isinstance(await second, Found)
