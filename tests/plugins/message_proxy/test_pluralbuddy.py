"""What PluralBuddy answers, as it is understood."""

import json
from typing import Any

import pytest

from plugins.message_proxy.asking import Answer, NoAnswer
from plugins.message_proxy.pluralbuddy import read_message
from plugins.message_proxy.values import Failed, Found, Miss

TEXT = '{"message": {"messageId": "200", "systemId": "500", "alterId": 1480000000000002200, "channelId": "10"}}'


def test_an_alter_is_its_digits() -> None:
    found = read_message(Answer(200, json.loads(TEXT), is_empty=False))
    assert isinstance(found, Found)
    assert found.member is not None
    assert found.member.key == "1480000000000002200"
    assert (found.original_id, found.sender_id, found.system_key) == (None, "500", "500")


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, {"message": None}, Miss()),
        (200, {}, Failed("the answer cannot be read")),
        (200, {"message": {"messageId": "1"}}, Failed("the answer cannot be read")),
        (401, None, Failed("status 401")),
        (404, None, Failed("status 404")),
        (503, None, Failed("status 503", 0.1)),
        (429, None, Failed("status 429", 0.1)),
    ],
)
def test_only_a_null_is_a_miss(status: int, body: Any, expected: object) -> None:
    assert read_message(Answer(status, body, is_empty=body is None)) == expected
    assert read_message(NoAnswer("late")) == Failed("late", 0.1)
