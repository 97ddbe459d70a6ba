import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.errors import RETRYABLE, EmptyReply, Failure, FailureKind, ModelFailed, classify
from agent.models.retry import Retries, RetryPolicy, wait_before_retry

POLICY = RetryPolicy()


@given(st.integers(1, 50), st.floats(0, 1))
def test_waits_double_up_to_the_longest_and_are_spread(attempt: int, chance: float) -> None:
    wait = wait_before_retry(POLICY, attempt, Failure(FailureKind.UNAVAILABLE), chance)
    whole = min(POLICY.first_wait * 2 ** (attempt - 1), POLICY.longest_wait)
    assert whole / 2 <= wait <= whole


@given(st.floats(-10, 10_000), st.floats(0, 1))
def test_a_provider_that_says_how_long_gets_at_least_that(asked: float, chance: float) -> None:
    wait = wait_before_retry(POLICY, 1, Failure(FailureKind.RATE_LIMITED, retry_after=asked), chance)
    assert max(asked, 0) <= wait <= max(asked, 0) * 1.1 + 1e-9


class Script:
    def __init__(self, *errors: Exception, seconds: float = 100.0) -> None:
        self.errors = list(errors)
        self.left = seconds
        self.asked: list[float] = []

    async def request(self, seconds: float) -> str:
        self.asked.append(seconds)
        if self.errors:
            raise self.errors.pop(0)
        return "answer"

    async def sleep(self, seconds: float) -> None:
        self.left -= seconds

    async def run(self) -> str:
        return await Retries(sleep=self.sleep, chance=lambda: 1.0).run(self.request, lambda: self.left)


async def failure(script: Script) -> FailureKind:
    with pytest.raises(ModelFailed) as failed:
        await script.run()
    return failed.value.failure.kind


async def test_the_time_that_is_left_is_given_to_each_request() -> None:
    script = Script(ConnectionError(), ConnectionError())
    assert await script.run() == "answer"
    assert script.asked == [100.0, 99.5, 98.5]


async def test_no_wait_goes_beyond_the_time_that_is_left() -> None:
    script = Script(ConnectionError(), ConnectionError(), seconds=0.75)
    assert await failure(script) is FailureKind.CONNECTION
    assert len(script.asked) == 2


async def test_no_request_is_made_without_time() -> None:
    script = Script(seconds=0)
    assert await failure(script) is FailureKind.TIME_LIMIT
    assert script.asked == []


async def test_what_nobody_knows_is_not_tried_again() -> None:
    script = Script(KeyError("a mistake of ours"))
    assert await failure(script) is FailureKind.UNKNOWN
    assert len(script.asked) == 1


def test_only_what_may_get_better_is_tried_again() -> None:
    never = {FailureKind.REJECTED, FailureKind.AUTHENTICATION, FailureKind.QUOTA, FailureKind.UNKNOWN}
    assert not never & RETRYABLE
    assert classify(EmptyReply()).retryable
    assert classify(ModelFailed(Failure(FailureKind.QUOTA, code="x"))) == Failure(FailureKind.QUOTA, code="x")
