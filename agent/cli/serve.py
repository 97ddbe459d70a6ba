"""Keeps an agent running until it is told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING, Final

from agent.cli.errors import FAILED, OK

if TYPE_CHECKING:
    from agent.app import Agent
    from agent.settings import LoadedSettings

GRACE: Final = 10.0
"""Seconds in which running turns may finish after the first signal."""
CLOSING: Final = 10.0
"""Seconds in which what is committed may be sent, and everything be closed, after that."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


async def serve(loaded: LoadedSettings) -> int:
    """Start the agent, wait for a signal, stop the agent."""
    from agent.app import Agent

    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, _signalled, stopping, number)
    starting = asyncio.ensure_future(Agent.start(loaded))
    waiting = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait({starting, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            return await _give_up(starting)
        agent = await starting
        await waiting
        return await _stop(agent)
    finally:
        waiting.cancel()


async def _stop(agent: Agent) -> int:
    try:
        async with asyncio.timeout(GRACE + CLOSING):
            await agent.stop(GRACE)
    except TimeoutError:
        sys.stderr.write("isthmus: something did not close in time; what was under way is taken up at the next start\n")
        return FAILED
    return OK


async def _give_up(starting: asyncio.Future[Agent]) -> int:
    """End a start that is still under way."""
    starting.cancel()
    try:
        agent = await starting
    except asyncio.CancelledError:
        return OK
    await agent.stop(0.0)
    return OK


def _signalled(stopping: asyncio.Event, number: signal.Signals) -> None:
    if stopping.is_set():
        sys.stderr.write("isthmus: stopped at once; what was under way is taken up at the next start\n")
        sys.stderr.flush()
        os._exit(128 + number)
    sys.stderr.write("isthmus: stopping; a second signal stops at once\n")
    stopping.set()
