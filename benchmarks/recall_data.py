"""Weaves the scripts of the recall benchmark into conversations: `python -m benchmarks.recall_data` writes the files.

A script is written by hand: short threads of a chat, each in the order in which it was said, with the questions that
some of its turns answer. What a busy chat does to them is done here: threads overlap, and small talk falls in anywhere.
The same script always gives the same conversation.

A script begins with `title:`, `language:`, `seed:` and maybe `held_out:`, and `person A: LABEL` for each person. Then
threads follow: `--- TITLE` begins one; below `--- then TITLE` it begins only when all before it are over, and below
`--- chatter TITLE` it may fall in anywhere. `A: TEXT` is a turn, `A [TAG]: TEXT` one that answers a question, and
`? A > B: QUESTION = TAG TAG` a question that A asks and that names B; `? A: QUESTION = TAG` one that names nobody.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.recall_form import DATA

SCRIPTS: Final = DATA / "scripts"
AT_ONCE: Final = 3
"""Threads that may be open at a time."""
STAY: Final = 0.6
"""How likely the next turn belongs to the same thread as the last."""
OPEN: Final = 0.25
"""How likely a thread begins while another is going on."""

_TURN: Final = re.compile(r"(?P<who>[A-Z])(?: \[(?P<tag>\w+)\])?: (?P<text>.+)")
_QUESTION: Final = re.compile(r"\? (?P<asker>[A-Z])(?: > (?P<about>[A-Z]))?: (?P<text>.+\S) = (?P<tags>[\w ]+)")
_PERSON: Final = re.compile(r"person (?P<who>[A-Z]): (?P<label>.+)")


class ScriptError(ValueError):
    """A script cannot be read; the message names file, line and what is wrong."""


@dataclass(frozen=True, slots=True)
class Line:
    """A turn that is not yet placed."""

    who: str
    text: str
    tag: str | None = None


@dataclass(slots=True)
class Thread:
    """Turns that answer each other."""

    title: str
    lines: list[Line] = field(default_factory=list)

    @property
    def waits(self) -> bool:
        """Whether it begins only when everything before it is over."""
        return self.title.startswith("then ")

    @property
    def floats(self) -> bool:
        """Whether it may fall in anywhere."""
        return self.title.startswith("chatter ")


@dataclass(slots=True)
class Script:
    """One script as it is read."""

    name: str
    about: dict[str, str] = field(default_factory=dict)
    people: dict[str, str] = field(default_factory=dict)
    threads: list[Thread] = field(default_factory=list)
    questions: list[dict[str, str | None]] = field(default_factory=list)


def parse(name: str, text: str) -> Script:
    """Read a script.

    Raises:
        ScriptError: a line is none of those that a script has.
    """
    script = Script(name)
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("--- "):
            script.threads.append(Thread(line.removeprefix("--- ")))
        elif line.strip() and not _take(script, line):
            raise ScriptError(f"{name}, line {number}, is no line of a script: {line!r}")
    return script


def _take(script: Script, line: str) -> bool:
    if turn := _TURN.fullmatch(line):
        script.threads[-1].lines.append(Line(turn["who"], turn["text"], turn["tag"]))
    elif question := _QUESTION.fullmatch(line):
        script.questions.append(question.groupdict())
    elif person := _PERSON.fullmatch(line):
        script.people[person["who"]] = person["label"]
    elif not script.threads and ": " in line:
        key, _, value = line.partition(": ")
        script.about[key] = value
    else:
        return False
    return True


def weave(script: Script) -> list[Line]:
    """Return all turns in the order in which the chat shows them."""
    chance = random.Random(int(script.about["seed"]))  # noqa: S311 - the same script must give the same conversation
    waiting = [thread for thread in script.threads if thread.lines and not thread.floats]
    for thread in script.threads:
        if thread.floats:
            waiting.insert(chance.randrange(len(waiting)), thread)
    running: list[list[Line]] = []
    woven: list[Line] = []
    last: list[Line] = []
    while waiting or running:
        is_next = waiting and len(running) < AT_ONCE and not (waiting[0].waits and running)
        if is_next and (not running or chance.random() < OPEN):
            running.append(list(waiting.pop(0).lines))
            last = running[-1]
        elif last not in running or chance.random() > STAY:
            last = chance.choice(running)
        woven.append(last.pop(0))
        running = [each for each in running if each]
    return woven


def conversation(script: Script) -> dict[str, Any]:
    """Return the conversation of a script, in the benchmark's form.

    Raises:
        ScriptError: a question has a tag that no turn has, or two turns have one tag.
    """
    woven = weave(script)
    ids = [f"{script.name}-{number:03}" for number in range(1, len(woven) + 1)]
    tags = [line.tag for line in woven if line.tag is not None]
    if len(set(tags)) != len(tags):
        raise ScriptError(f"{script.name}: two turns are tagged {next(tag for tag in tags if tags.count(tag) > 1)!r}")
    tagged = {line.tag: turn_id for line, turn_id in zip(woven, ids, strict=True) if line.tag is not None}
    people = script.people
    try:
        turns = [
            {"id": turn_id, "speaker": people[line.who], "text": line.text}
            for line, turn_id in zip(woven, ids, strict=True)
        ]
        questions = [
            {
                "text": question["text"],
                "evidence": sorted(tagged[tag] for tag in str(question["tags"]).split()),
                "about": people[question["about"]] if question["about"] else None,
                "asker": people[str(question["asker"])],
            }
            for question in script.questions
        ]
    except KeyError as error:
        raise ScriptError(f"{script.name}: there is no person and no tag {error}") from None
    return {
        "name": script.name,
        "title": script.about["title"],
        "language": script.about["language"],
        "held_out": script.about.get("held_out") == "yes",
        "turns": turns,
        "questions": questions,
    }


def rendered(made: dict[str, Any]) -> str:
    """Return the file of a conversation: JSON with a line for each turn and each question."""

    def compact(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    parts = []
    for key, value in made.items():
        if isinstance(value, list):
            rows = ",\n".join(f"      {compact(each)}" for each in value)
            parts.append(f"    {compact(key)}: [\n{rows}\n    ]")
        else:
            parts.append(f"    {compact(key)}: {compact(value)}")
    body = ",\n".join(parts)
    return f'{{"conversations": [\n  {{\n{body}\n  }}\n]}}\n'


def files() -> dict[Path, str]:
    """Return what each file of the data must hold, by its path."""
    scripts = [parse(file.stem, file.read_text("utf-8")) for file in sorted(SCRIPTS.glob("*.txt"))]
    return {DATA / f"{script.name}.json": rendered(conversation(script)) for script in scripts}


def main() -> None:
    """Write the files."""
    for file, text in files().items():
        file.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
