from __future__ import annotations

import time


def block(seconds: float) -> None:
    time.sleep(seconds)
