from tests.bad_plugins.every_hook import EveryHook


class Plugin(EveryHook):
    name = "returns_junk"

    async def misbehave(self, hook):
        return [object()]
