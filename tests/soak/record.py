"""Keeps the figures of a soak in build/soak, one file a soak."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.common import machine

PLACE = Path(__file__).parents[2] / "build" / "soak"


def keep(name: str, figures: dict[str, Any]) -> None:
    PLACE.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"machine": machine(), **figures}, indent=2)
    (PLACE / f"{name}.json").write_text(text + "\n")
