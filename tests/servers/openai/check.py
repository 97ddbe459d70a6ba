"""Refuses what OpenAI's API refuses, so that a wrong request fails a test here and not a user there."""

import re
from typing import Any

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


class BadRequest(Exception):
    """The request is not valid; the message says why."""


def check_chat(data: Any) -> None:
    """Check the body of a request for a chat completion."""
    if not isinstance(data, dict):
        raise BadRequest("the body is not an object")
    if not isinstance(data.get("model"), str) or not data["model"]:
        raise BadRequest("you must provide a model parameter")
    messages = data.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequest("messages must be a list that is not empty")
    _check_tools(data)
    awaited: list[str] = []
    for index, message in enumerate(messages):
        awaited = _check_message(message, f"messages[{index}]", awaited)
    if awaited:
        raise BadRequest(f"tool_call_ids did not have response messages: {', '.join(awaited)}")


def _check_tools(data: dict[str, Any]) -> None:
    tools = data.get("tools")
    if tools is None:
        if data.get("tool_choice") not in {None, "none"}:
            raise BadRequest("tool_choice is only allowed when tools are specified")
        return
    if not isinstance(tools, list) or not tools:
        raise BadRequest("tools must not be empty")
    names = [tool["function"]["name"] for tool in tools]
    if len(set(names)) < len(names):
        raise BadRequest("tool names must be unique")
    for tool in tools:
        if tool["type"] != "function" or not _NAME.match(tool["function"]["name"]):
            raise BadRequest(f"invalid tool {tool['function']['name']!r}")
        if tool["function"]["parameters"].get("type") != "object":
            raise BadRequest(f"the parameters of {tool['function']['name']!r} are no object")


def _check_message(message: dict[str, Any], where: str, awaited: list[str]) -> list[str]:
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        if message.get("tool_call_id") not in awaited:
            raise BadRequest(f"{where}: role 'tool' must follow a message with that tool_call")
        if not isinstance(content, str):
            raise BadRequest(f"{where}: content of a tool must be text")
        return [call_id for call_id in awaited if call_id != message["tool_call_id"]]
    if awaited:
        raise BadRequest(f"{where}: an assistant message with tool_calls must be followed by its tool messages")
    if role in {"system", "developer", "user"}:
        _check_content(content, where)
        return []
    if role != "assistant":
        raise BadRequest(f"{where}: invalid role {role!r}")
    calls = message.get("tool_calls") or []
    if not calls:
        _check_content(content, where)
    return [_check_call(call, where) for call in calls]


def _check_content(content: Any, where: str) -> None:
    texts = [part.get("text") for part in content] if isinstance(content, list) else [content]
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise BadRequest(f"{where}: content must be text that is not empty")


def _check_call(call: dict[str, Any], where: str) -> str:
    call_id = call.get("id")
    if not isinstance(call_id, str) or not call_id or not isinstance(call["function"]["arguments"], str):
        raise BadRequest(f"{where}: a tool call needs an id and arguments as text")
    return call_id
