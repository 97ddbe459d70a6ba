"""A loopback server that speaks OpenAI's API, with scripted answers, faults, and a record of what it was asked.

Run alone, `python -m tests.servers.openai --port 8080` answers by the offline model's rules.
"""

from tests.servers.openai.answers import Answer, Ending, ToolCall, failed, rate_limited
from tests.servers.openai.server import OpenAIServer

__all__ = ["Answer", "Ending", "OpenAIServer", "ToolCall", "failed", "rate_limited"]
