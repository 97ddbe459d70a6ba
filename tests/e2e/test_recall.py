"""Time passes by `--now`: what nobody needed is withheld, and called back by a message that it fits."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.e2e.conftest import Deploy
from tests.e2e.process import Isthmus

FACT = "the boiler code is stored behind the green cupboard"
LATER = (datetime.now(UTC) + timedelta(days=40)).isoformat()
MUCH_LATER = (datetime.now(UTC) + timedelta(days=60)).isoformat()
BLOCK, RECALL = "KNOWLEDGE_SERVER_MEMORIES", "RECALL"
PATIENCE = 60.0


def where_is_it(isthmus: Isthmus, text: str, now: str) -> list[str]:
    """Return the tags of the items that show the fact."""
    items: list[dict[str, Any]] = isthmus("prompt", "--json", "--text", text, "--now", now).json["items"]
    return [item["tag"] for item in items if FACT in item["text"]]


def embeddings(isthmus: Isthmus) -> dict[str, Any]:
    """Return the doctor's line about the vectors of memories."""
    lines: list[dict[str, Any]] = isthmus("doctor", "--json").json
    return next(line for line in lines if line["name"] == "memory: memories embeddings")


def wait_for_vectors(isthmus: Isthmus) -> None:
    """Return when no memory waits for its vector: each process embeds in the background, as long as it lives."""
    until = time.monotonic() + PATIENCE
    while (line := embeddings(isthmus))["text"] != "all by local":
        assert time.monotonic() < until, line


def test_a_dormant_memory_is_withheld_called_back_and_fresh_again(deploy: Deploy) -> None:
    isthmus = deploy()
    assert isthmus.chat(f"ana: remember that {FACT}").code == 0
    wait_for_vectors(isthmus)
    assert where_is_it(isthmus, "hello", datetime.now(UTC).isoformat()) == [BLOCK]
    assert where_is_it(isthmus, "good morning everybody", LATER) == []
    assert where_is_it(isthmus, "where is the boiler code?", LATER) == [RECALL]
    assert where_is_it(isthmus, "good morning everybody", LATER) == [], "a prompt that is only shown changes nothing"
    asked = isthmus("chat", "--script", "-", "--json", "--now", LATER, stdin="ben: where is the boiler code?\n")
    assert asked.code == 0
    assert where_is_it(isthmus, "good morning everybody", MUCH_LATER) == [BLOCK]


def test_without_embeddings_nothing_is_withheld(deploy: Deploy) -> None:
    isthmus = deploy('[agent]\nembeddings = "off"\n')
    assert isthmus.chat(f"ana: remember that {FACT}").code == 0
    assert where_is_it(isthmus, "good morning everybody", LATER) == [BLOCK]
    line = embeddings(isthmus)
    assert line["state"] == "warn"
    assert "embeddings are off" in line["text"]
