"""What the model gives to the memory tools."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

_BIGGEST_ID = 2**63 - 1


class CreateParameters(BaseModel):
    """Arguments of `create_long_term_memory`."""

    memory_content: str = Field(
        description="One fact, preference or instruction, in one or two plain sentences that make sense alone. "
        "Write {user} for the person it is about and {bot} for yourself."
    )
    memory_scope: Literal["server_wide", "target_user"] = Field(
        description="server_wide: about this server or conversation. target_user: about one person."
    )
    target_user: str | None = Field(
        default=None,
        description="With target_user: whom it is about, best as their handle, such as @{ana}; me for the speaker.",
    )


class UpdateParameters(BaseModel):
    """Arguments of `update_long_term_memory`."""

    memory_id: int = Field(ge=1, le=_BIGGEST_ID, description="The number after ID: in the memory's line.")
    memory_content: str = Field(description="The whole new content, which replaces the old; empty to delete it.")
    target_user: str | None = Field(
        default=None,
        description="Whose personal memory it is, best as their handle; left out for a memory about the server.",
    )
