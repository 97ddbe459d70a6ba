import asyncio

from tests.bad_plugins.every_hook import EveryHook


class Plugin(EveryHook):
    name = "hangs"

    async def misbehave(self, hook):
        await asyncio.Event().wait()
