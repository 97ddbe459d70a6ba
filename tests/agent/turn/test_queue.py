from __future__ import annotations

import asyncio
import random

from agent.turn.queue import ConversationQueue


class Recorder:
    """Runs jobs that take as long as they say, and writes down what happened."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.began: list[str] = []
        self.at_once: dict[str, int] = {}
        self.most_at_once: dict[str, int] = {}
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, job: str) -> None:
        conversation = job[0]
        self.began.append(job)
        self.at_once[conversation] = self.at_once.get(conversation, 0) + 1
        self.most_at_once[conversation] = max(self.most_at_once.get(conversation, 0), self.at_once[conversation])
        try:
            await self.gate.wait()
            await asyncio.sleep(0)
            if "!" in job:
                raise RuntimeError(job)
            self.done.append(job)
        finally:
            self.at_once[conversation] -= 1


async def test_a_conversation_keeps_its_order_and_others_do_not_wait() -> None:
    run = Recorder()
    queue = ConversationQueue(run, bound=100, at_once=8)
    queue.start()
    jobs = [f"{conversation}{number:02}" for number in range(20) for conversation in "abc"]
    random.Random(1).shuffle(jobs)
    for job in jobs:
        assert queue.put(job[0], job)
    await queue.idle()
    for conversation in "abc":
        assert [job for job in run.done if job[0] == conversation] == [job for job in jobs if job[0] == conversation]
    assert set(run.most_at_once.values()) == {1}


async def test_a_failing_job_does_not_stop_the_next() -> None:
    run = Recorder()
    queue = ConversationQueue(run, bound=10, at_once=2)
    queue.start()
    for job in ("a1", "a2!", "a3"):
        queue.put("a", job)
    await queue.idle()
    assert run.done == ["a1", "a3"]


async def test_what_waits_is_bounded() -> None:
    run = Recorder()
    run.gate.clear()
    queue = ConversationQueue(run, bound=2, at_once=1)
    queue.start()
    assert queue.put("a", "a1")
    await asyncio.sleep(0.01)
    assert queue.put("a", "a2")
    assert queue.put("a", "a3")
    assert not queue.put("a", "a4")
    run.gate.set()
    await queue.idle()
    assert run.done == ["a1", "a2", "a3"]


async def test_abort_cancels_what_runs_and_drops_what_waits() -> None:
    run = Recorder()
    run.gate.clear()
    queue = ConversationQueue(run, bound=10, at_once=4)
    queue.start()
    for job in ("a1", "a2", "b1"):
        queue.put(job[0], job)
    await asyncio.sleep(0.01)
    assert queue.running("a") == "a1"
    assert await queue.abort("a") == ("a1", "a2")
    assert queue.put("a", "a3")
    run.gate.set()
    await queue.idle()
    assert sorted(run.done) == ["a3", "b1"]
    assert await queue.abort("a") == ()


async def test_close_gives_grace_and_takes_nothing_more() -> None:
    run = Recorder()
    queue = ConversationQueue(run, bound=10, at_once=4)
    queue.start()
    queue.put("a", "a1")
    await asyncio.sleep(0)
    await queue.close(grace=1)
    assert run.done == ["a1"]
    assert not queue.put("a", "a2")


async def test_close_cancels_what_outlives_the_grace() -> None:
    run = Recorder()
    run.gate.clear()
    queue = ConversationQueue(run, bound=10, at_once=4)
    queue.start()
    queue.put("a", "a1")
    queue.put("a", "a2")
    await asyncio.sleep(0.01)
    await queue.close(grace=0.01)
    assert run.done == []
    assert run.began == ["a1"]


async def test_nothing_runs_before_the_start_and_then_in_order() -> None:
    run = Recorder()
    queue = ConversationQueue(run, bound=10, at_once=4)
    queue.put("a", "a1")
    await asyncio.sleep(0.01)
    queue.put("a", "a2")
    assert run.began == []
    queue.start()
    await queue.idle()
    assert run.done == ["a1", "a2"]


async def test_a_halted_job_goes_first_when_the_conversation_goes_on() -> None:
    run = Recorder()
    run.gate.clear()
    queue = ConversationQueue(run, bound=10, at_once=2)
    queue.start()
    for job in ("a1", "a2", "b1"):
        queue.put(job[0], job)
    await asyncio.sleep(0.01)
    assert run.began == ["a1", "b1"]
    assert await queue.halt("a", lambda job: job == "a2") is None
    assert await queue.halt("c", lambda _: True) is None
    assert await queue.halt("a", lambda job: job == "a1") == "a1"
    run.gate.set()
    await asyncio.sleep(0.01)
    assert run.done == ["b1"]
    queue.resume("a", "a1+")
    await queue.idle()
    assert run.done == ["b1", "a1+", "a2"]


async def test_a_halted_conversation_may_go_on_without_its_job() -> None:
    run = Recorder()
    run.gate.clear()
    queue = ConversationQueue(run, bound=10, at_once=2)
    queue.start()
    for job in ("a1", "a2"):
        queue.put("a", job)
    await asyncio.sleep(0.01)
    assert await queue.halt("a", lambda _: True) == "a1"
    run.gate.set()
    queue.resume("a", None)
    await queue.idle()
    assert run.done == ["a2"]


async def test_what_waits_can_be_changed() -> None:
    run = Recorder()
    queue = ConversationQueue(run, bound=10, at_once=2)
    for job in ("a1", "a2", "a3"):
        queue.put("a", job)
    queue.change("a", lambda job: job == "a2", lambda job: f"{job}+")
    queue.change("b", lambda _: True, lambda job: f"{job}+")
    queue.start()
    await queue.idle()
    assert run.done == ["a1", "a2+", "a3"]
