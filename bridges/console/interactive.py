"""The front end for a person: a line to type on, answers above it, history, completion."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout
from rich.console import Console

from agent.printing import printable
from bridges.console.lines import LOCAL_COMMANDS
from bridges.console.rich_screen import RichScreen

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from prompt_toolkit.document import Document

    from bridges.console.conversation import Conversation

HISTORY_FILE = "chat-history"


class Commands(Completer):
    """Completes commands word by word."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
        """Offer the words that may stand at the cursor, once the line begins with `/`."""
        before = document.text_before_cursor
        if not before.startswith("/"):
            return
        *words, last = before[1:].split(" ")
        for word, description in sorted(self._next_words(tuple(words)).items()):
            if word.startswith(last.casefold()):
                yield Completion(word, -len(last), display_meta=description)

    def _next_words(self, words: tuple[str, ...]) -> dict[str, str]:
        found = {} if words else {name: command.description for name, command in LOCAL_COMMANDS.items()}
        for command in self._conversation.bridge.host.commands:
            depth = len(words)
            if len(command.path) > depth and command.path[:depth] == words:
                last = len(command.path) == depth + 1
                found.setdefault(command.path[depth], command.description if last else "…")
        return found


class Terminal:
    """The terminal of one person."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._conversation: Conversation | None = None
        self._session: PromptSession[str] | None = None
        # The file is looked up at each print: patch_stdout puts another one there.
        self.screen = RichScreen(Console(highlight=False, markup=False, emoji=False), self._place, self._refresh)

    async def talk(self, conversation: Conversation, greeting: str) -> None:
        """Take lines until the person leaves."""
        self._conversation = conversation
        session: PromptSession[str] = PromptSession(
            history=_history(self._data_dir / HISTORY_FILE),
            completer=Commands(conversation),
            complete_while_typing=True,
            key_bindings=_keys(),
            bottom_toolbar=self._toolbar,
            enable_history_search=False,
            enable_suspend=True,
        )
        self._session = session
        with patch_stdout(raw=True):
            self.screen.show_line(greeting)
            while True:
                try:
                    line = await session.prompt_async(self._prompt)
                except (EOFError, KeyboardInterrupt):
                    return
                for part in line.splitlines() if line.startswith("/") else [line]:
                    if not await conversation.take(part):
                        return

    def _place(self) -> str:
        return "" if self._conversation is None else str(self._conversation.where)

    def _prompt(self) -> FormattedText:
        if self._conversation is None:
            return FormattedText()
        where = self._conversation.where
        place = "" if where.direct else f"{printable(str(where))} "
        return FormattedText([("ansigray", place), ("bold ansigreen", printable(where.speaker)), ("", "> ")])

    def _toolbar(self) -> FormattedText | None:
        if self._conversation is None:
            return None
        writing = self._conversation.where.channel_ref.external_id in self.screen.writing
        return FormattedText([("noreverse ansigray", "writing …")]) if writing else None

    def _refresh(self) -> None:
        if self._session is not None:
            self._session.app.invalidate()


def _history(path: Path) -> History:
    """Return the lines typed before, kept in a file that only its owner can read; in memory where that fails."""
    try:
        path.touch(mode=0o600)
        path.chmod(0o600)
    except OSError as error:
        sys.stderr.write(f"what you type is not kept for next time: {path}: {error.strerror}\n")
        return InMemoryHistory()
    return FileHistory(str(path))


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("c-c")
    def _interrupt(event: KeyPressEvent) -> None:
        """Clear what is typed; leave when nothing is."""
        if event.current_buffer.text:
            event.current_buffer.reset()
            return
        with contextlib.suppress(Exception):
            event.app.exit(exception=KeyboardInterrupt())

    return keys
