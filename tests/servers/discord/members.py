"""Finding the members of a server: by the beginning of a name, by ids, all of them."""

from tests.servers.discord import payloads
from tests.servers.discord.errors import bad_form
from tests.servers.discord.records import JSON, Member
from tests.servers.discord.world import World

CHUNK = 1000
IDS = 100


def named(world: World, guild_id: int, beginning: str) -> list[Member]:
    """The members whose user name or nick begins so, whatever the case."""
    start = beginning.casefold()
    found = []
    for one in world.guild_members(guild_id):
        names = (world.user(one.user_id).name, world.user(one.user_id).global_name, one.nick)
        if any(name is not None and name.casefold().startswith(start) for name in names):
            found.append(one)
    return found


def chunks(world: World, asked: JSON) -> list[JSON]:
    """The answers to a request for members (op 8), of a thousand each."""
    guild_id = int(asked["guild_id"])
    world.guild(guild_id)
    missing: list[str] = []
    if "user_ids" in asked:
        ids = asked["user_ids"] if isinstance(asked["user_ids"], list) else [asked["user_ids"]]
        if len(ids) > IDS:
            raise bad_form("user_ids", "BASE_TYPE_MAX_LENGTH", f"Must be {IDS} or fewer in length.")
        wanted = [world.members.get((guild_id, int(one))) for one in ids]
        missing = [str(one) for one, member in zip(ids, wanted, strict=True) if member is None]
        found = [member for member in wanted if member is not None]
    else:
        found = named(world, guild_id, asked.get("query", ""))
        found = found[: asked["limit"]] if asked.get("limit") else found
    parts = [found[at : at + CHUNK] for at in range(0, len(found), CHUNK)] or [[]]
    made: list[JSON] = []
    for number, part in enumerate(parts):
        chunk: JSON = {
            "guild_id": str(guild_id),
            "members": [payloads.member(world, one) for one in part],
            "chunk_index": number,
            "chunk_count": len(parts),
            "not_found": missing,
        }
        if asked.get("nonce"):
            chunk["nonce"] = asked["nonce"]
        made.append(chunk)
    return made
