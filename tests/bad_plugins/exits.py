import sys

from tests.bad_plugins.every_hook import EveryHook


class Plugin(EveryHook):
    name = "exits"

    async def misbehave(self, hook):
        sys.exit(3)
