from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.commands import Command, CommandReply, Invocation, Option, OptionKind, Step, StepKind
from agent.steps import LIMIT, StepLost, is_step, page_steps, read_step, step_id


async def _run(call: Invocation) -> CommandReply:
    return CommandReply(str(call))


LIST = Command(
    ("memories", "list"),
    "Show them.",
    _run,
    (
        Option("page", "Which.", OptionKind.INTEGER, required=False),
        Option("persona", "Whose.", required=False),
        Option("all", "All of them.", OptionKind.BOOLEAN, required=False),
        Option("who", "Of whom.", OptionKind.PERSON, required=False),
    ),
)


@given(page=st.integers(), persona=st.text(max_size=40), everything=st.booleans())
def test_a_step_comes_back_as_it_was_written_or_is_none(page: int, persona: str, everything: bool) -> None:
    options: dict[str, str | int | bool] = {"page": page, "persona": persona, "all": everything}
    written = step_id(Step("Next", LIST.path, options))
    if written is None:
        return
    assert len(written) <= LIMIT
    assert is_step(written)
    command, read = read_step(written, [LIST])
    assert command is LIST
    assert read == options
    assert [type(value) for value in read.values()] == [int, str, bool]


def test_options_that_do_not_fit_make_no_button() -> None:
    assert step_id(Step("Next", LIST.path, {"persona": "x" * LIMIT})) is None


@pytest.mark.parametrize(
    ("identifier", "reason"),
    [
        ("do:memories.gone?page=1", "a command that is gone"),
        ("do:", "a command that is gone"),
        ("do:memories.list?size=1", "older than the command"),
        ("do:memories.list?who=5", "older than the command"),
        ("do:memories.list?page=one", "damaged"),
        ("do:memories.list?all=maybe", "damaged"),
    ],
)
def test_an_id_that_no_command_answers_to_is_lost_calmly(identifier: str, reason: str) -> None:
    with pytest.raises(StepLost, match=reason):
        read_step(identifier, [LIST])


@given(st.text(max_size=120))
def test_whatever_comes_from_outside_is_read_or_lost(identifier: str) -> None:
    try:
        command, options = read_step(identifier, [LIST])
    except StepLost:
        return
    assert command is LIST
    assert set(options) <= {option.name for option in LIST.options}


@pytest.mark.parametrize(
    ("page", "pages", "shown"),
    [(1, 1, []), (1, 2, [("Next", 2)]), (2, 2, [("Back", 1)]), (2, 3, [("Back", 1), ("Next", 3)])],
)
def test_pages_have_steps_to_their_neighbours_with_everything_else_that_was_given(
    page: int, pages: int, shown: list[tuple[str, int]]
) -> None:
    call = cast(
        "Invocation", SimpleNamespace(command=LIST.path, locale="en", options={"persona": "Rosa", "who": object()})
    )
    steps = page_steps(call, page, pages)
    assert [(step.label, step.options["page"]) for step in steps] == shown
    assert all(step.path == LIST.path and step.options["persona"] == "Rosa" for step in steps)
    assert all((step.kind is StepKind.NEXT) is (step.label == "Next") for step in steps)
    assert all(step_id(step) is not None for step in steps)
