import asyncio

from tests.bad_plugins.every_hook import EveryHook


class Plugin(EveryHook):
    name = "raises_cancelled"

    async def misbehave(self, hook):
        raise asyncio.CancelledError
