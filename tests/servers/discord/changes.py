"""Waiting for something to become true, woken by each change instead of asking again and again."""

import asyncio
from collections.abc import Callable


class Changes:
    """Everything that happens on the server calls `notify`; who waits looks again then."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def notify(self) -> None:
        for one in self._waiting:
            if not one.done():
                one.set_result(None)
        self._waiting.clear()

    async def until[T](self, look: Callable[[], T], timeout: float, what: str = "") -> T:
        """What `look` gives, as soon as that is true.

        Raises:
            TimeoutError: it did not become true within `timeout` seconds.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        while not (found := look()):
            waiting: asyncio.Future[None] = loop.create_future()
            self._waiting.add(waiting)
            try:
                async with asyncio.timeout_at(deadline):
                    await waiting
            except TimeoutError:
                raise TimeoutError(f"within {timeout} s there was no {what or 'such change'}") from None
            finally:
                self._waiting.discard(waiting)
        return found
