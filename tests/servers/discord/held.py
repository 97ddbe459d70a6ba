"""Events kept back, to be told in another order, twice, or never."""

from collections.abc import Callable, Iterable

from tests.servers.discord.events import Event


class Held:
    """What `hold()` gives: the events that happened meanwhile, and how to let them go."""

    def __init__(self, tell: Callable[[Event], None], names: Iterable[str]) -> None:
        self._tell = tell
        self._names = frozenset(names)
        self.events: list[Event] = []
        self._let_go = False

    def takes(self, event: Event) -> bool:
        return not self._names or event.name in self._names

    def keep(self, event: Event) -> None:
        self.events.append(event)

    def release(self, order: Iterable[int] | None = None) -> None:
        """Tell the held events by their numbers: in any order, some twice, others not at all. At the end once."""
        self._let_go = True
        for number in range(len(self.events)) if order is None else order:
            self._tell(self.events[number])

    def finish(self) -> None:
        """Tell what was held, in its own order, unless `release` was asked before."""
        if not self._let_go:
            self.release()
