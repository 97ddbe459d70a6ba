import asyncio

from tests.bad_plugins.every_hook import EveryHook


class Plugin(EveryHook):
    name = "cancels_itself"

    async def misbehave(self, hook):
        asyncio.current_task().cancel()
        await asyncio.sleep(0)
