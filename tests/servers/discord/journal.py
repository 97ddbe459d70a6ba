"""What was asked of the server: each request as it came."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.servers.discord.errors import DiscordError
from tests.servers.discord.records import JSON, Upload


@dataclass(slots=True)
class Request:
    """A request for the API, and how it was answered."""

    method: str
    path: str
    """Under /api/v10, as it came."""
    template: str
    """The path as Discord's description writes it; empty for one that this server does not know."""
    params: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any = None
    """The JSON, of a multipart request its `payload_json`; None without one."""
    uploads: Mapping[int, Upload] = field(default_factory=dict)
    multipart: bool = False
    status: int = 0
    """0 while it is not answered, and for good when the answer was lost."""
    at: float = field(default_factory=time.monotonic)

    def id(self, name: str) -> int:
        """A snowflake of the path.

        Raises:
            DiscordError: it is none.
        """
        text = self.params[name]
        if not text.isdecimal():
            raise DiscordError(400, 50035, "Invalid Form Body", {name: {"_errors": [{"code": "NUMBER_TYPE_COERCE"}]}})
        return int(text)

    @property
    def json(self) -> JSON:
        if not isinstance(self.body, dict):
            raise DiscordError(400, 50109, "The request body contains invalid JSON.")
        return self.body
