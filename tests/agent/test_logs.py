from __future__ import annotations

import asyncio
import io
import json
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import structlog
from pydantic import BaseModel

from agent import logs
from agent.redaction import HIDDEN, forget_secrets, remember_secret
from agent.settings import SecretError

CANARY = "canary-7f3a9"


class Output:
    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    quiet = {name: logging.getLogger(name).level for name in logs._QUIET}
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, number in quiet.items():
        logging.getLogger(name).setLevel(number)
    logging.captureWarnings(capture=False)
    logs._configure_ours("console", "info", None)
    structlog.contextvars.clear_contextvars()
    forget_secrets()


@pytest.fixture
def output() -> Output:
    return Output()


@dataclass
class Person:
    display: str = CANARY


class Model(BaseModel):
    anything: str = CANARY


def _raise(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as raised:  # noqa: BLE001 - the test wants any exception with its trace
        return raised


def _chained() -> BaseException:
    try:
        try:
            raise ValueError(CANARY)
        except ValueError as error:
            raise RuntimeError(CANARY) from error
    except RuntimeError as error:
        return error


LEAKS: dict[str, Callable[[Any], object]] = {
    "text": lambda log: log.info("e", text=CANARY),
    "display name": lambda log: log.warning("e", display_name=CANARY),
    "capital key": lambda log: log.info("e", Content=CANARY),
    "nested": lambda log: log.error("e", event_data={"deep": [{"prompt": CANARY}]}),
    "dataclass": lambda log: log.info("e", person=Person()),
    "model": lambda log: log.info("e", value=Model()),
    "list of dataclasses": lambda log: log.info("e", people=[Person()]),
    "exception as a value": lambda log: log.info("e", cause=ValueError(CANARY)),
    "exception": lambda log: log.error("e", exc_info=_raise(ValueError(CANARY))),
    "key error": lambda log: log.error("e", exc_info=_raise(KeyError(CANARY))),
    "chained": lambda log: log.error("e", exc_info=_chained()),
    "group": lambda log: log.error("e", exc_info=_raise(ExceptionGroup(CANARY, [ValueError(CANARY)]))),
    "bound": lambda log: log.bind(name=CANARY).info("e"),
    "file name": lambda log: log.error("e", exc_info=_raise(FileNotFoundError(2, "No such file", CANARY))),
    "a standard logger's exception": lambda log: logging.getLogger("x").error("e", exc_info=_raise(ValueError(CANARY))),
    "what asyncio prints": lambda log: logging.getLogger("asyncio").error("e\nfuture: <Task %r>", ValueError(CANARY)),
}


@pytest.mark.parametrize("form", ["json", "console"])
@pytest.mark.parametrize("way", LEAKS)
def test_no_text_and_no_name_above_debug_level(way: str, form: logs.Format, output: Output) -> None:
    logs.configure(form, "info", output.stream)
    LEAKS[way](logs.get_logger("t"))
    assert output.text.strip()
    assert CANARY not in output.text


@pytest.mark.parametrize("way", LEAKS)
def test_with_debug_on_only_debug_lines_hold_them(way: str, output: Output) -> None:
    logs.configure("json", "debug", output.stream)
    LEAKS[way](logs.get_logger("t"))
    assert [line["level"] for line in output.lines if CANARY in json.dumps(line) and line["level"] != "debug"] == []


def test_debug_lines_show_texts_and_messages(output: Output) -> None:
    logs.configure("json", "debug", output.stream)
    logs.get_logger("t").debug("received", text="hello")
    logs.get_logger("t").error("failed", exc_info=_raise(ValueError("because")))
    received, detail, failed = output.lines
    assert received["text"] == "hello"
    assert (detail["event"], detail["of"]) == ("exception_detail", "failed")
    assert "ValueError: because" in detail["exception"]
    assert "because" not in failed["exception"]


def test_a_trace_shows_type_place_and_facts(output: Output) -> None:
    class ProviderError(Exception):
        status_code = 429

    logs.configure("json", "info", output.stream)
    logs.get_logger("t").error("failed", exc_info=_raise(ProviderError("slow down")))
    (line,) = output.lines
    assert line["error"].endswith("ProviderError")
    assert line["error_facts"] == {"status_code": 429}
    assert "test_logs.py" in line["exception"]
    assert line["exception"].endswith("(its message is shown at level debug)")


def test_our_own_errors_and_the_systems_keep_their_message(output: Output) -> None:
    logs.configure("json", "info", output.stream)
    log = logs.get_logger("t")
    log.error("failed", exc_info=_raise(SecretError("secret env:X is not set")))
    log.error("failed", exc_info=_raise(ConnectionRefusedError(111, "Connection refused")))
    ours, system = output.lines
    assert ours["exception"].endswith("SecretError: secret env:X is not set")
    assert system["exception"].endswith("ConnectionRefusedError: Connection refused")
    assert system["error_facts"] == {"errno": 111}


def test_a_huge_value_is_cut(output: Output) -> None:
    logs.configure("json", "info", output.stream)
    logs.get_logger("t").info("e", note="x" * 1_000_000)
    assert len(output.text) < 20_000


def test_counts_under_private_keys_stay(output: Output) -> None:
    logs.configure("json", "info", output.stream)
    logs.get_logger("t").info("e", messages=12, text=None)
    (line,) = output.lines
    assert line["messages"] == 12
    assert "text" not in line


@pytest.mark.parametrize("level", ["debug", "info"])
def test_secrets_go_at_every_level(output: Output, level: logs.Level) -> None:
    remember_secret("correct horse")
    logs.configure("json", "debug", output.stream)
    getattr(logs.get_logger("t"), level)(
        "call /webhooks/1/abc",
        url="postgresql://u:abc@h/d",
        headers={"Authorization": "abc", "X": ["Bearer abcabcabc"]},
        api_key="abc",
        note="correct horse",
        count=3,
        error=OSError("Bearer abcabcabc"),
    )
    (line,) = output.lines
    assert "abc" not in output.text
    assert "horse" not in output.text
    assert line["event"] == f"call /webhooks/1/{HIDDEN}"
    assert line["count"] == 3


async def test_each_line_of_a_turn_carries_its_id(output: Output) -> None:
    logs.configure("json", "info", output.stream)
    log = logs.get_logger("t")

    async def turn(number: int) -> None:
        with logs.bound(turn=f"t{number}"):
            log.info("begun")
            await asyncio.sleep(0)
            await asyncio.create_task(later())
            logging.getLogger("asyncpg").warning("slow")

    async def later() -> None:
        await asyncio.sleep(0)
        log.info("ended")

    await asyncio.gather(turn(1), turn(2))
    log.info("outside")
    of_turns = [line.get("turn") for line in output.lines]
    assert sorted(map(str, of_turns[:-1])) == ["t1"] * 3 + ["t2"] * 3
    assert of_turns[-1] is None


def test_standard_loggers_go_the_same_way(output: Output) -> None:
    logging.getLogger().handlers.clear()  # pytest's own would fail for the broken record
    logs.configure("json", "info", output.stream)
    logging.getLogger("asyncpg.pool").warning("token=%s", "abcdef")
    logging.getLogger("some.library").info("hello")
    logging.getLogger("nextcord.http").info("not wanted")
    logging.getLogger("broken").warning("%d", "no number")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    first, second, third, fourth = output.lines
    assert (first["event"], first["logger"], first["level"]) == (f"token={HIDDEN}", "asyncpg.pool", "warning")
    assert second["event"] == "hello"
    assert third["event"] == "%d"
    assert fourth["logger"] == "py.warnings"


def test_levels(output: Output) -> None:
    logs.configure("json", "warning", output.stream)
    logs.get_logger("t").info("no")
    logging.getLogger("t").info("no")
    logs.get_logger("t").warning("yes")
    assert [line["event"] for line in output.lines] == ["yes"]


def test_configuring_twice_writes_each_line_once(output: Output) -> None:
    logs.configure("json", "info", io.StringIO())
    logs.configure("json", "info", output.stream)
    logging.getLogger("x").warning("e")
    logs.get_logger("t").warning("e")
    assert len(output.lines) == 2


def test_a_value_cannot_forge_a_line_on_the_console(output: Output) -> None:
    logs.configure("console", "info", output.stream)
    logs.get_logger("t").warning("e", reason="a\n2026-01-01 [error] forged\x1b[2J")
    assert output.text.count("\n") == 1
    assert "\x1b" not in output.text


@pytest.mark.parametrize("form", ["json", "console"])
def test_no_value_can_fail_the_caller(output: Output, form: logs.Format) -> None:
    class Bad:
        def __repr__(self) -> str:
            raise RuntimeError(CANARY)

    loop: list[object] = []
    loop.append(loop)
    logs.configure(form, "debug", output.stream)
    log = logs.get_logger("t")
    log.info("bad", value=Bad())
    log.info("loop", value=loop)
    log.info("surrogate", value="\ud800")
    log.info("bytes", value=b"\xff")
    log.info("keys", value={1: 2, None: 3})
    log.info("after")
    assert "after" in output.text
    assert CANARY not in output.text


def test_a_stream_that_is_gone_cannot_fail_the_caller() -> None:
    stream = io.StringIO()
    logs.configure("json", "info", stream)
    stream.close()
    logs.get_logger("t").warning("e")
    logging.getLogger("x").warning("e")


def test_a_narrow_stream_gets_escapes() -> None:
    raw = io.BytesIO()
    logs.configure("json", "info", io.TextIOWrapper(raw, encoding="ascii"))
    logs.get_logger("t").warning("e", place="Köln")
    assert b"K\\xf6ln" in raw.getvalue()


def test_unconfigured_lines_keep_off_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    logs.get_logger("t").warning("e")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "e" in captured.err


async def test_what_nobody_awaited_is_logged_without_its_repr(output: Output) -> None:
    logs.configure("json", "info", output.stream)
    context = {
        "message": "Task exception was never retrieved",
        "exception": _raise(ValueError(CANARY)),
        "future": asyncio.current_task(),
    }
    logs.loop_exception_handler(asyncio.get_running_loop(), context)
    (line,) = output.lines
    assert line["event"] == "unhandled_in_loop"
    assert line["error"] == "ValueError"
    assert CANARY not in output.text
