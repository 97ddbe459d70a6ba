from tests.bad_plugins.every_hook import EveryHook


class Plugin(EveryHook):
    name = "raises"

    async def misbehave(self, hook):
        raise RuntimeError(f"broken in {hook}")
