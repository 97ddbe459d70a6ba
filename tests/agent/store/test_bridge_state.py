"""What bridges keep, on a real database."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from agent.secrets import SecretBox, drop_old_keys, open_box, rotate_key
from agent.settings.errors import SecretError
from agent.store.bridge_state import BridgeState, rotate_secrets
from agent.store.pool import Store
from tests.clocks import ManualClock

CLOCK = ManualClock(datetime(2026, 3, 1, tzinfo=UTC))


def _box() -> SecretBox:
    return SecretBox((Fernet.generate_key().decode(),), "test")


def _unasked() -> SecretBox:
    raise AssertionError("the key is not needed for what is no secret")


async def _raw(store: Store) -> str:
    async with store.connection() as conn:
        return str(await conn.fetchval("SELECT string_agg(t::text, ' ') FROM bridge_state t"))


async def test_values_are_kept_by_bridge_and_key(store: Store) -> None:
    here, there = (BridgeState(store, CLOCK, name, _unasked) for name in ("here", "there"))
    await here.put({"sync": "s1", "channel:1": "10", "channel:2": "20"})
    await here.put({"sync": "s2"})
    await here.put({})
    assert await here.get("sync") == "s2"
    assert await here.below("channel:") == {"channel:1": "10", "channel:2": "20"}
    assert (await there.get("sync"), await there.below("")) == (None, {})
    await here.remove("channel:1", "channel:9")
    assert await here.below("channel:") == {"channel:2": "20"}


async def test_a_secret_is_nowhere_in_the_clear(store: Store) -> None:
    box = _box()
    state = BridgeState(store, CLOCK, "here", lambda: box)
    await state.put({"token": "canary-token"}, secret=True)
    assert "canary" not in await _raw(store)
    assert await state.get("token") == "canary-token"
    assert await state.below("tok") == {"token": "canary-token"}
    await state.put({"token": "plain"})
    assert await BridgeState(store, CLOCK, "here", _unasked).get("token") == "plain"


async def test_a_lost_key_is_said(store: Store) -> None:
    first, second = _box(), _box()
    await BridgeState(store, CLOCK, "here", lambda: first).put({"token": "canary"}, secret=True)
    with pytest.raises(SecretError, match="a key that test does not hold"):
        await BridgeState(store, CLOCK, "here", lambda: second).get("token")
    with pytest.raises(SecretError):
        await rotate_secrets(store, second)


async def test_after_a_rotation_the_new_key_alone_reads_them(store: Store, tmp_path: Path) -> None:
    box = open_box(tmp_path)
    state = BridgeState(store, CLOCK, "here", lambda: box)
    await state.put({"a": "one", "b": "two"}, secret=True)
    await state.put({"c": "three"})
    assert await rotate_secrets(store, rotate_key(tmp_path)) == 2
    drop_old_keys(tmp_path)
    renewed = BridgeState(store, CLOCK, "here", lambda: open_box(tmp_path))
    assert await renewed.below("") == {"a": "one", "b": "two", "c": "three"}
    with pytest.raises(SecretError):
        await state.get("a")
