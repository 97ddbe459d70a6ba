"""What requests to models use: tokens, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Requests and tokens; values add up."""

    requests: int = 0
    input_tokens: int = 0
    """All tokens of the prompts, the cached ones included."""
    cached_tokens: int = 0
    """Those of them that the provider read from its cache."""
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Return both together."""
        return Usage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
        )

    @property
    def total_tokens(self) -> int:
        """Return input and output together."""
        return self.input_tokens + self.output_tokens
