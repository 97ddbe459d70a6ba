import asyncio

from tests.bad_plugins.every_hook import EveryHook


class Plugin(EveryHook):
    name = "swallows_everything"

    async def misbehave(self, hook):
        while True:
            try:
                await asyncio.sleep(3600)
            except BaseException:
                pass
