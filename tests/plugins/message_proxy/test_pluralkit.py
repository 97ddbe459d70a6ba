"""What PluralKit answers, as it is understood."""

from typing import Any

import pytest

from plugins.message_proxy.asking import Answer, NoAnswer
from plugins.message_proxy.pluralkit import read_message, read_system
from plugins.message_proxy.values import Failed, Found, Member, Miss
from tests.plugins.message_proxy.builders import SYSTEM, UUID


def body(**changes: Any) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "timestamp": "2026-01-01T00:00:00Z",
        "id": "200",
        "original": "100",
        "sender": "500",
        "channel": "10",
        "guild": "1",
        "system": {"id": "exmpl", "uuid": SYSTEM, "name": "Lark", "tag": "| Lark"},
        "member": member(),
    }
    return whole | changes


def member(**changes: Any) -> dict[str, Any]:
    whole = {"id": "abcde", "uuid": UUID, "name": "wren-real", "display_name": "Wren", "pronouns": "they/them"}
    return whole | changes


def read(**changes: Any) -> Found:
    found = read_message(Answer(200, body(**changes), is_empty=False))
    assert isinstance(found, Found)
    return found


def test_a_whole_answer() -> None:
    assert read() == Found("200", "100", "500", "10", SYSTEM, "Lark", Member(UUID, "Wren", "they/them", None))


@pytest.mark.parametrize(
    ("status", "answer", "expected"),
    [
        (404, {"message": "Message not found.", "code": 20006}, Miss()),
        (404, {"message": "System not found.", "code": 20001}, Failed("status 404")),
        (404, None, Failed("status 404")),  # an unknown route
        (404, {"code": "20006"}, Failed("status 404")),
        (400, None, Failed("status 400")),
        (403, {"message": "blocked", "code": 0}, Failed("status 403")),
        (410, None, Failed("status 410")),
        (302, None, Failed("status 302")),
        (500, {"code": 0}, Failed("status 500", 0.1)),
        (502, None, Failed("status 502", 0.1)),
        (429, {"retry_after": 250, "code": 0}, Failed("it was asked too often", 0.25)),
        (429, {"retry_after": 0, "code": 0}, Failed("it was asked too often", 0.1)),
        (429, {"retry_after": True}, Failed("it was asked too often", 0.1)),
        (429, None, Failed("it was asked too often", 0.1)),
        (200, None, Failed("the answer cannot be read", 0.1)),
        (200, [], Failed("the answer cannot be read", 0.1)),
        (200, {"id": "200"}, Failed("the answer cannot be read", 0.1)),
    ],
)
def test_only_one_answer_is_a_miss(status: int, answer: Any, expected: object) -> None:
    assert read_message(Answer(status, answer, is_empty=answer is None)) == expected


def test_no_answer_tells_nothing() -> None:
    assert read_message(NoAnswer("late")) == Failed("late", 0.1)
    assert read_system(NoAnswer("late")) == Failed("late", 0.1)


def test_a_header_of_something_in_front_is_in_seconds() -> None:
    assert read_message(Answer(429, {}, is_empty=False, retry_after=2.0)) == Failed("it was asked too often", 2.0)


def test_an_empty_original_is_none() -> None:
    assert read(original="").original_id is None
    assert read(original=None).original_id is None


@pytest.mark.parametrize("gone", [{"system": None}, {"member": None}, {"system": None, "member": None}])
def test_who_is_gone_is_nobody(gone: dict[str, Any]) -> None:
    found = read(**gone)
    assert found.system_key is None or found.member is None


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ({"name": "Wren", "display_name": None}, "Wren"),  # also what a hidden name with a display name looks like
        ({"name": "", "display_name": None}, "abcde"),
        ({"name": None, "display_name": "  "}, "abcde"),
        ({"name": None, "display_name": None, "id": None}, "somebody"),
        ({"display_name": "A\nB\x00"}, "A B"),
    ],
)
def test_a_cosmetic_defect_drops_nobody_and_a_hidden_name_stays_hidden(names: dict[str, Any], shown: str) -> None:
    found = read(member=member(**names))
    assert found.member is not None
    assert found.member.name == shown


def test_what_is_hidden_is_nothing() -> None:
    found = read(member=member(pronouns=None, description=None), system=body()["system"] | {"name": None})
    assert found.member is not None
    assert (found.member.pronouns, found.member.bio, found.system_name) == (None, None, "")


def test_a_key_that_is_no_uuid_is_refused() -> None:
    assert isinstance(read_message(Answer(200, body(member=member(uuid="../x")), is_empty=False)), Failed)


def test_systems() -> None:
    assert read_system(Answer(200, {"id": "exmpl", "uuid": SYSTEM}, is_empty=False)) == SYSTEM
    assert read_system(Answer(404, {"code": 20001}, is_empty=False)) is None
    assert read_system(Answer(404, None, is_empty=True)) == Failed("status 404")
