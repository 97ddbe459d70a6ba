"""When it is quiet. Pure functions: the moment is an argument, nothing is read or written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From one full hour to another, in a time zone; over midnight when the first is the later one."""

    begins: int
    """The first quiet hour, 0 to 23."""
    ends: int
    """The first hour that is not quiet any more, 0 to 23; the same as `begins` means never."""
    zone: ZoneInfo

    def hold_at(self, moment: datetime) -> bool:
        """Tell whether it is quiet at that moment."""
        hour = moment.astimezone(self.zone).hour
        if self.begins <= self.ends:
            return self.begins <= hour < self.ends
        return hour >= self.begins or hour < self.ends

    def __str__(self) -> str:
        return f"{self.begins:02}:00 to {self.ends:02}:00 ({self.zone.key})"
