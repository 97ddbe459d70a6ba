import time

from tests.bad_plugins.every_hook import EveryHook


class Plugin(EveryHook):
    name = "blocks"

    async def misbehave(self, hook):
        time.sleep(0.3)
