"""Polls as Discord keeps them. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.servers.discord.records import JSON


def opened(asked: Mapping[str, Any]) -> JSON:
    """The poll that a request asks for: answers numbered, nobody has voted."""
    answers = [
        {"answer_id": number, "poll_media": one["poll_media"]} for number, one in enumerate(asked["answers"], start=1)
    ]
    ends = datetime.now(UTC) + timedelta(hours=int(asked.get("duration") or 24))
    return {
        "question": asked["question"],
        "answers": answers,
        "expiry": ends.isoformat(),
        "allow_multiselect": bool(asked.get("allow_multiselect")),
        "layout_type": int(asked.get("layout_type") or 1),
        "results": {
            "is_finalized": False,
            "answer_counts": [{"id": one["answer_id"], "count": 0, "me_voted": False} for one in answers],
        },
    }
