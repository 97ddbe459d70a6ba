"""The interactive chat in a pseudo-terminal: what a person sees, and the ways to leave."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator

import pytest

from tests.e2e.process import PATIENCE, Isthmus

pytestmark = pytest.mark.timeout(240)  # each test starts a process, and the machine may be busy

_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[()][AB0]|[=>78])")


class Terminal:
    """A person's terminal with the chat in it."""

    def __init__(self, isthmus: Isthmus, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))
        environ = isthmus.environ | {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.process = subprocess.Popen(
            isthmus.command("chat", *arguments),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=isthmus.folder,
            env=environ,
            start_new_session=True,
        )
        os.close(slave)
        self.raw = b""
        self._from = 0

    @property
    def seen(self) -> str:
        return _SEQUENCE.sub("", self.raw.decode(errors="replace"))

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def wait_for(self, text: str) -> None:
        """Read until the text is seen behind what was waited for before."""
        deadline = time.monotonic() + PATIENCE
        while (found := self.seen.find(text, self._from)) < 0:
            assert time.monotonic() < deadline, f"{text!r} was not seen in {self.seen[self._from :]!r}"
            assert self._read(), f"the chat ended before {text!r}: {self.seen[self._from :]!r}"
        self._from = found + len(text)

    def _read(self) -> bool:
        readable, _, _ = select.select([self._master], [], [], 0.2)
        if not readable:
            return True
        try:
            piece = os.read(self._master, 65536)
        except OSError:  # the other side has closed
            return False
        self.raw += piece
        return bool(piece)

    def end(self) -> int:
        deadline = time.monotonic() + PATIENCE
        pressed_again = time.monotonic() + 5
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read()
            if time.monotonic() > pressed_again:  # a key between two prompts is lost, and a person presses it again
                self.type("\x04")
                pressed_again += 5
        return self.process.wait(1)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)


@pytest.fixture
def terminal(isthmus: Isthmus) -> Iterator[Terminal]:
    opened = Terminal(isthmus, "--as", "ana")
    opened.wait_for("Ctrl-D leaves.")
    opened.wait_for("ana>")
    yield opened
    opened.close()


def test_a_person_talks_moves_and_leaves(terminal: Terminal, isthmus: Isthmus) -> None:
    terminal.type("hello\r")
    terminal.wait_for("Isthmus: Hello, ana!")
    terminal.type("/as ben\r")
    terminal.wait_for("home #general ben>")
    terminal.type("/dm\r")
    terminal.wait_for("ben>")
    terminal.type("cleo: hello\r")
    terminal.wait_for("Isthmus: Hello, cleo!")
    terminal.type("/nonsense\r")
    terminal.wait_for("error: no command /nonsense")
    terminal.type("/help\r")
    terminal.wait_for("Leave.")
    terminal.type("/quit\r")
    assert terminal.end() == 0
    history = isthmus.data / "chat-history"
    assert "+hello" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


def test_commands_are_completed(terminal: Terminal) -> None:
    terminal.type("/ser")
    terminal.wait_for("Go to another server.")
    terminal.type("\t")
    terminal.wait_for("ver")
    terminal.type(" work\r")
    terminal.wait_for("work #general ana>")


@pytest.mark.parametrize("keys", ["\x04", "\x03"], ids=["Ctrl-D", "Ctrl-C"])
def test_one_key_leaves(terminal: Terminal, keys: str) -> None:
    terminal.type(keys)
    assert terminal.end() == 0
    assert "Traceback" not in terminal.seen


def test_ctrl_c_first_clears_what_is_typed(terminal: Terminal) -> None:
    terminal.type("half a thou\x03")
    terminal.type("hello\r")
    terminal.wait_for("Hello, ana!")
    terminal.type("\x04")
    assert terminal.end() == 0


def test_what_is_pasted_does_not_reach_the_terminal_raw(terminal: Terminal) -> None:
    terminal.type("\x1b[200~what do you know about \x1b]0;owned\x07me\x1b[201~")
    time.sleep(0.5)
    terminal.type("\r")
    terminal.wait_for("Isthmus: ")
    assert b"\x1b]0;owned" not in terminal.raw
