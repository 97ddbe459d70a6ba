from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.extensions.repeats import MOST_KEYS, SECONDS, Repeats


class Ticks:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_once_then_at_most_once_a_minute_with_the_count() -> None:
    ticks = Ticks()
    repeats: Repeats[str] = Repeats(ticks)
    assert [repeats.happened("a"), repeats.happened("a"), repeats.happened("b")] == [1, 0, 1]
    ticks.now = SECONDS - 1
    assert repeats.happened("a") == 0
    ticks.now = SECONDS
    assert repeats.happened("a") == 3
    assert repeats.happened("a") == 0
    assert repeats.take_untold() == [("a", 1)]
    assert repeats.take_untold() == []


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 200))))
def test_every_happening_is_told_exactly_once(happenings: list[tuple[str, float]]) -> None:
    ticks = Ticks()
    repeats: Repeats[str] = Repeats(ticks)
    told = dict.fromkeys("abc", 0)
    for key, passed in happenings:
        ticks.now += passed
        told[key] += repeats.happened(key)
    for key, count in repeats.take_untold():
        told[key] += count
    assert told == {key: sum(happened == key for happened, _ in happenings) for key in "abc"}


def test_it_does_not_grow_without_end() -> None:
    repeats: Repeats[int] = Repeats(Ticks())
    for key in range(MOST_KEYS + 50):
        assert repeats.happened(key) == 1
    assert len(repeats._seen) == MOST_KEYS
