"""What a deployment may set under `[plugins.documents]`."""

from __future__ import annotations

from pydantic import Field

from agent.settings import Section


class DocumentsSettings(Section):
    """How large documents may be, and what reading one may cost."""

    max_file_bytes: int = Field(default=5 * 1024 * 1024, ge=1024, le=100 * 1024 * 1024)
    """Of the file as it is uploaded."""
    max_characters: int = Field(default=2_000_000, ge=1_000, le=50_000_000)
    """Of the text within, which a packed file may hold many times of."""
    max_pages: int = Field(default=500, ge=1, le=10_000)
    """Of a PDF."""
    max_documents: int = Field(default=200, ge=1, le=10_000)
    """Of one server."""
    max_parts: int = Field(default=20_000, ge=1, le=1_000_000)
    """Of all documents of one server; a part has at most 900 characters."""
    reading_seconds: float = Field(default=30.0, ge=1.0, le=600.0)
    """After which a file that is still being read is given up."""
    reading_memory_mb: int = Field(default=512, ge=128, le=8_192)
    """Memory that the process which reads a file may take."""
