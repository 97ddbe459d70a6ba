import asyncio

from tests.bad_plugins.every_hook import EveryHook


class Plugin(EveryHook):
    name = "interrupts"

    async def misbehave(self, hook):
        await asyncio.sleep(0)
        raise KeyboardInterrupt
