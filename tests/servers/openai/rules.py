"""Answers by the rules of the offline model, read from what stands on the wire."""

from collections.abc import Iterable
from typing import Any

from agent.models.offline_rules import Call, answer
from agent.models.offline_sight import SeenResult, look, read_object
from tests.servers.openai.answers import Answer, ToolCall


def answer_by_rules(data: dict[str, Any]) -> Answer:
    """What the offline model would answer to this request."""
    messages: list[dict[str, Any]] = data["messages"]
    asked = [index for index, message in enumerate(messages) if message["role"] in {"system", "developer", "user"}]
    texts = [text for index in asked for text in _texts(messages[index]["content"])]
    tools = [] if data.get("tool_choice") == "none" else [tool["function"]["name"] for tool in data.get("tools") or ()]
    what = answer(look(texts, list(_results(messages[max(asked) :])), tools))
    if isinstance(what, Call):
        return Answer(calls=(ToolCall(what.tool, what.arguments),))
    return Answer(what.text)


def _texts(content: Any) -> Iterable[str]:
    return [content] if isinstance(content, str) else [part["text"] for part in content]


def _results(messages: Iterable[dict[str, Any]]) -> Iterable[SeenResult]:
    calls: dict[str, dict[str, Any]] = {}
    for message in messages:
        calls |= {call["id"]: call["function"] for call in message.get("tool_calls") or ()}
        if message["role"] == "tool" and (call := calls.get(message["tool_call_id"])):
            yield SeenResult(call["name"], read_object(call["arguments"]), read_object(message["content"]))
