"""Webhook names: legal, and as the persona looks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridges.discord.names import NEUTRAL, webhook_name
from tests.servers.discord.hooks import check_name

HAIR = "\u200a"


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        ("Iris", "Iris"),
        ("  Iris\n of   the sea ", "Iris of the sea"),
        ("Clyde", f"C{HAIR}lyde"),
        ("CLYDEsdale and Discordia", f"C{HAIR}LYDEsdale and D{HAIR}iscordia"),
        ("clydediscord", f"c{HAIR}lyded{HAIR}iscord"),
        ("Everyone", f"E{HAIR}veryone"),
        ("here", f"h{HAIR}ere"),
        ("Where everyone is", "Where everyone is"),
        ("not @everyone", f"not @{HAIR}everyone"),
        ("```code```", f"`{HAIR}`{HAIR}`code`{HAIR}`{HAIR}`"),
        ("a" * 90, "a" * 79 + "…"),
        ("x" * 75 + "discord", "x" * 75 + f"d{HAIR}is…"),
        ("👩‍👩‍👧" * 40, "👩‍👩‍👧" * 15 + "…"),
        ("\u202egnorw", "gnorw"),
        ("", NEUTRAL),
        (" \x00 ", NEUTRAL),
        ("界", "界"),
    ],
)
def test_names(name: str, legal: str) -> None:
    assert webhook_name(name) == legal
    assert check_name(legal) == legal


@given(
    st.lists(
        st.sampled_from(["clyde", "Discord", "di\u017fcord", "everyone", "@here", "`", " ", "\u200a"]) | st.text()
    ).map("".join)
)
def test_every_name_becomes_one_that_discord_takes(name: str) -> None:
    legal = webhook_name(name)
    assert check_name(legal) == legal
