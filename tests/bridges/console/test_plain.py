import io
import json
from dataclasses import replace
from datetime import UTC, datetime

from rich.console import Console

from agent.contracts.cards import ActionKind, Card, CardAction, CardKind
from agent.fitting import card_text
from agent.terminal import Whereabouts
from bridges.console.plain import JsonScreen, TextScreen
from bridges.console.rich_screen import RichScreen
from bridges.console.transcript import Record, RecordType, card_data

HERE = Whereabouts("Ana")
SAID = Record(
    RecordType.MESSAGE,
    datetime(2026, 3, 1, 12, tzinfo=UTC),
    HERE.server_ref,
    HERE.channel_ref,
    "Ana",
    "hello\nthere",
    {"message_id": "m1"},
)
CARD = Card(CardKind.SAVED, "Saved", ("[red]game night[/red] \x1b[2J",), memory_id=7, about="Ana", forgotten="tea")
NOTICE = replace(SAID, type=RecordType.NOTICE, text=card_text(CARD), data=card_data(CARD), card=CARD)
CALL = replace(SAID, type=RecordType.TOOL_CALL, speaker="Isthmus", text="save", data={"arguments": {"a": "ä"}})
RESULT = replace(CALL, type=RecordType.TOOL_RESULT, data={"result": {"status": "ok"}})


def text_of(record: Record) -> str:
    out = io.StringIO()
    TextScreen(out).show(record)
    return out.getvalue()


def rich_of(*records: Record, place: str = "home #general") -> str:
    out = io.StringIO()
    screen = RichScreen(Console(file=out, width=60, markup=False, highlight=False), lambda: place, lambda: None)
    for record in records:
        screen.show(record)
    return out.getvalue()


def test_text_names_place_and_speaker_and_indents_further_lines() -> None:
    assert text_of(SAID) == "[home #general] Ana: hello\n    there\n"
    assert text_of(CALL) == '[home #general]   save {"a": "ä"}\n'
    assert text_of(RESULT) == '[home #general]   save = {"status": "ok"}\n'
    assert text_of(NOTICE) == "[home #general] * Saved\n    [red]game night[/red] [2J\n    - tea\n    (Ana · ID 7)\n"
    assert text_of(replace(SAID, type=RecordType.ERROR, text="no")) == "[home #general] error: no\n"


def test_nobody_can_forge_a_line_of_the_transcript() -> None:
    forged = replace(SAID, speaker="Ana\n[home #general] Isthmus: yes", text="x\r\n[home #general] Isthmus: yes")
    lines = text_of(forged).splitlines()
    assert [line for line in lines if line.startswith("[home")] == [lines[0]]


def test_json_holds_what_the_documentation_says() -> None:
    out = io.StringIO()
    JsonScreen(out).show(replace(SAID, text="a\x1b[2J\u202eb\ud800"))
    assert out.getvalue().count("\n") == 1
    assert json.loads(out.getvalue()) == {
        "type": "message",
        "time": "2026-03-01T12:00:00+00:00",
        "server": "home",
        "channel": "general",
        "speaker": "Ana",
        "text": "a\x1b[2J\u202eb\ud800",
        "data": {"message_id": "m1"},
    }
    assert not {"\x1b", "\u202e", "\ud800"} & set(out.getvalue())


def test_a_persons_own_line_is_not_shown_again() -> None:
    assert rich_of(SAID) == ""
    assert rich_of(replace(SAID, type=RecordType.REPLY, speaker="Isthmus")) == "Isthmus: hello\nthere\n"


def test_what_happens_elsewhere_is_shown_with_its_place() -> None:
    reply = replace(SAID, type=RecordType.REPLY)
    assert rich_of(reply, place="home #random").splitlines()[0] == "home #general"


def test_a_card_is_a_panel_and_its_text_is_no_markup() -> None:
    shown = rich_of(NOTICE)
    assert "[red]game night[/red] [2J" in shown
    assert "\x1b" not in shown
    assert "Ana · ID 7" in shown
    assert "tea" in shown
    assert shown.splitlines()[0].startswith("╭─ Saved")


def test_a_card_without_lines_is_a_line() -> None:
    card = Card(CardKind.INFO, "Nothing to undo", about="Ana")
    assert rich_of(replace(NOTICE, card=card, text=card_text(card))) == "Nothing to undo Ana\n"


def test_a_huge_reply_is_cut_on_the_screen() -> None:
    assert len(rich_of(replace(SAID, type=RecordType.REPLY, text="x" * 1_000_000))) < 25_000


def test_an_answer_ends_the_sign_that_one_is_being_written() -> None:
    changes: list[int] = []
    screen = RichScreen(Console(file=io.StringIO()), lambda: "home #general", lambda: changes.append(1))
    screen.typing("home/general")
    assert screen.writing == {"home/general"}
    screen.show(replace(SAID, type=RecordType.REPLY))
    assert screen.writing == set()
    assert len(changes) == 2


def test_a_panel_shows_what_can_be_done_unless_a_line_says_it() -> None:
    undo = CardAction(ActionKind.UNDO, "Undo", ("memories", "undo"), {"id": 7}, "/memories undo 7")
    edit = CardAction(ActionKind.EDIT, "Edit", ("memories", "edit"), {"id": 7}, "/memories edit 7 TEXT")
    card = replace(CARD, actions=(undo, edit))
    shown = " ".join(rich_of(replace(NOTICE, card=card)).split())
    assert "Undo: /memories undo 7 · Edit: /memories edit 7 TEXT" in shown
    told = replace(card, lines=("bring it back: /memories undo 7",))
    assert "Undo:" not in rich_of(replace(NOTICE, card=told))
