from __future__ import annotations

import timeit
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.redaction import HIDDEN, MAX_REMEMBERED, forget_secrets, names_a_secret, redact, remember_secret


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    forget_secrets()
    yield
    forget_secrets()


DISCORD = "".join(("MTE4", "x" * 22, ".", "G4b-cd", ".", "z" * 38))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("POST /webhooks/123/ab-C_d?wait=1", f"POST /webhooks/123/{HIDDEN}?wait=1"),
        ("POST /interactions/12/ab-C_d/callback", f"POST /interactions/12/{HIDDEN}/callback"),
        ("Authorization: abcdef", f"Authorization: {HIDDEN}"),
        ("{'Authorization': 'Bot abcdefgh'}", f"{{'Authorization': '{HIDDEN}'}}"),
        ("sent Bearer abcdefgh.ijk", f"sent Bearer {HIDDEN}"),
        ("GET /sync?access_token=abc&x=1", f"GET /sync?access_token={HIDDEN}&x=1"),
        ("postgresql://app:pa55@db/app", f"postgresql://app:{HIDDEN}@db/app"),
        (f"token {DISCORD} used", f"token {HIDDEN} used"),
        ("key sk-abcdefghijklmnopqrst.", f"key {HIDDEN}."),
        ("syt_YW5h_abcdefghij_0abcde", HIDDEN),
        ("a robot bearing a bot named Bob, see /webhooks/", "a robot bearing a bot named Bob, see /webhooks/"),
    ],
)
def test_what_looks_like_a_secret_goes(text: str, shown: str) -> None:
    assert redact(text) == shown


def test_remembered_values_go_wherever_they_stand() -> None:
    remember_secret("correct horse")
    assert redact("x=correct horse;y") == f"x={HIDDEN};y"
    forget_secrets()
    assert redact("x=correct horse;y") == "x=correct horse;y"


def test_short_values_are_not_remembered_and_the_memory_is_bounded() -> None:
    remember_secret("short")
    assert redact("a short text") == "a short text"
    for number in range(MAX_REMEMBERED + 1):
        remember_secret(f"secret-{number:05}")
    assert redact("secret-00000") == "secret-00000"
    assert redact("secret-00001") == HIDDEN


@given(st.text(max_size=300))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@pytest.mark.parametrize(
    "piece",
    ["a", "sk-", "syt_", "M", "a.", "Bot ", "://", "a://b:", "/webhooks/1", "Authorization:", "token=", "-", "é"],
)
def test_time_grows_with_the_length_alone(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        return min(timeit.repeat(lambda: redact(text), number=1, repeat=3))

    # Quadratic time would be a factor of 64.
    assert seconds(80_000) < 24 * max(seconds(10_000), 0.000_5)


def test_which_names_mean_secrets() -> None:
    assert all(map(names_a_secret, ("token", "BOT_TOKEN", "api_key", "hs_token", "client_secret", "Authorization")))
    assert not any(map(names_a_secret, ("context_tokens", "turn_tokens", "name", "monkey", "keys")))
