"""What the others share: every hook is implemented and misbehaves, but for those that the settings spare."""

from agent.hookspecs import hookimpl
from agent.settings import Section


class EveryHook:
    class Settings(Section):
        spared: list[str] = ["start"]

    def __init__(self, settings):
        self.spared = settings.spared

    async def misbehave(self, hook):
        raise NotImplementedError

    async def _do(self, hook):
        if hook not in self.spared:
            return await self.misbehave(hook)

    @hookimpl
    async def start(self, core):
        return await self._do("start")

    @hookimpl
    async def stop(self):
        return await self._do("stop")

    @hookimpl
    async def register_tools(self):
        return await self._do("register_tools")

    @hookimpl
    async def register_commands(self):
        return await self._do("register_commands")

    @hookimpl
    async def register_cli(self, app):
        return await self._do("register_cli")

    @hookimpl
    async def context_items(self, turn):
        return await self._do("context_items")

    @hookimpl
    async def recall(self, turn, query):
        return await self._do("recall")

    @hookimpl
    async def arrange_prompt(self, turn, prompt):
        return await self._do("arrange_prompt")

    @hookimpl
    async def turn_finished(self, turn, recalled):
        return await self._do("turn_finished")

    @hookimpl
    async def person_registered(self, account):
        return await self._do("person_registered")

    @hookimpl
    async def identity_registered(self, registration):
        return await self._do("identity_registered")

    @hookimpl
    async def channel_seen(self, place):
        return await self._do("channel_seen")

    @hookimpl
    async def message_deleted(self, event):
        return await self._do("message_deleted")

    @hookimpl
    async def count_lineage(self, server_id, lineage_id):
        return await self._do("count_lineage")

    @hookimpl
    async def export_person(self, account):
        return await self._do("export_person")

    @hookimpl
    async def erase_person(self, conn, account):
        return await self._do("erase_person")

    @hookimpl
    async def move_user(self, conn, move):
        return await self._do("move_user")

    @hookimpl
    async def health(self):
        return await self._do("health")

    @hookimpl
    async def resolve_speaker(self, event, account):
        return await self._do("resolve_speaker")

    @hookimpl
    async def attribute_messages(self, platform, message_ids):
        return await self._do("attribute_messages")

    @hookimpl
    async def identities_here(self, server_id):
        return await self._do("identities_here")

    @hookimpl
    async def own_identities(self, account):
        return await self._do("own_identities")

    @hookimpl
    async def write_memory(self, write):
        return await self._do("write_memory")

    @hookimpl
    async def guard_turn(self, turn):
        return await self._do("guard_turn")

    @hookimpl
    async def guard_memory_read(self, read):
        return await self._do("guard_memory_read")

    @hookimpl
    async def guard_memory_write(self, write):
        return await self._do("guard_memory_write")

    @hookimpl
    async def recheck_memory_write(self, conn, write):
        return await self._do("recheck_memory_write")
