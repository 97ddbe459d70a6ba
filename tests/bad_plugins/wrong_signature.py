from agent.hookspecs import hookimpl


class Plugin:
    name = "wrong_signature"

    @hookimpl
    async def recall(self, turn, qeury):
        return []
