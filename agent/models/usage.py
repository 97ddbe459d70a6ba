"""What requests to models use: tokens, and what they cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.settings.model import CostSettings


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


def cost_micros(usage: Usage, costs: CostSettings | None) -> int:
    """Return what a usage costs, in millionths of the unit of the prices, rounded up; 0 without prices.

    A price is for a million tokens, so that tokens times price are millionths already.
    """
    if costs is None:
        return 0
    cached_price = costs.input if costs.cached_input is None else costs.cached_input
    fresh = usage.input_tokens - usage.cached_tokens
    return math.ceil(fresh * costs.input + usage.cached_tokens * cached_price + usage.output_tokens * costs.output)
