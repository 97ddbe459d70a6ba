class Plugin:
    name = "unmarked"

    async def guard_turn(self, turn):
        return None
