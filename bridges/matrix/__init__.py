"""The agent in Matrix."""

from __future__ import annotations

from bridges.matrix.bridge import MatrixBridge
from bridges.matrix.settings import MatrixSettings

__all__ = ["MatrixBridge", "MatrixSettings"]
