"""A plugin that has something to say about its health."""

from collections.abc import Sequence

from agent.core import Core
from agent.hookspecs import Health, hookimpl
from agent.settings import Section


class PatientSettings(Section):
    ill: bool = False


class Patient:
    name = "patient"
    Settings = PatientSettings

    def __init__(self, settings: PatientSettings) -> None:
        self.settings = settings

    @hookimpl
    async def start(self, core: Core) -> None:
        if self.settings.ill:
            raise RuntimeError("too ill")

    @hookimpl
    async def health(self) -> Sequence[Health]:
        return [Health("fever", "warn", "38.5", "drink tea")]
