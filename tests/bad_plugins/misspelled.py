from agent.hookspecs import hookimpl


class Plugin:
    name = "misspelled"

    @hookimpl
    async def context_itmes(self, turn):
        return []
