from typing import Any

import pytest
from pydantic import BaseModel

from agent.tool_registry import ToolError, ToolRegistry
from agent.tools import Tool, ToolContext, ToolResult


class Parameters(BaseModel):
    pass


async def run(context: ToolContext, arguments: Any) -> ToolResult:
    return ToolResult("done")


def tool(name: str, owner: str = "core", description: str = "Does it.", parameters: Any = Parameters) -> Tool:
    return Tool(name, description, parameters, run, owner=owner)


def test_tools_are_found_by_name_and_keep_their_order() -> None:
    registry = ToolRegistry([tool("b"), tool("a")])
    assert [each.name for each in registry] == ["b", "a"]
    assert (len(registry), "a" in registry, registry.get("a") is not None, registry.get("c")) == (2, True, True, None)


def test_the_nearest_name_is_suggested() -> None:
    registry = ToolRegistry([tool("create_long_term_memory"), tool("roll")])
    assert registry.nearest("create_longterm_memory") == "create_long_term_memory"
    assert registry.nearest("quux") is None


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ToolError, match=r"'add' is registered twice, by plugins 'one' and 'two'"):
        ToolRegistry([tool("add", "one"), tool("add", "two")])


@pytest.mark.parametrize("name", ["", "1add", "add it", "ädd", "a" * 65, "add\n"])
def test_a_name_that_a_provider_refuses_is_refused(name: str) -> None:
    with pytest.raises(ToolError, match="not usable"):
        ToolRegistry([tool(name)])


def test_a_tool_without_description_or_parameters_is_refused() -> None:
    with pytest.raises(ToolError, match="no description"):
        ToolRegistry([tool("add", description=" ")])
    with pytest.raises(ToolError, match="not a pydantic model"):
        ToolRegistry([tool("add", parameters=dict)])
