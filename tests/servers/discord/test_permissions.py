from functools import cache
from typing import Any

import nextcord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers.discord import permissions
from tests.servers.discord.clients import running
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import ALL, EVERYONE, NONE, Permission
from tests.servers.discord.records import Channel, ChannelKind, Member, Overwrite, OverwriteKind, Role

SEE = Permission.VIEW_CHANNEL
GUILD, ROLE, OTHER, PERSON, OWNER = 1, 2, 3, 10, 11
BITS = st.sampled_from([SEE, Permission.SEND_MESSAGES, Permission.MANAGE_MESSAGES, Permission.READ_MESSAGE_HISTORY])
SETS = st.sets(BITS).map(lambda bits: int(sum(bits, NONE)))


@given(everyone=SETS, role=SETS, rules=st.lists(st.tuples(st.sampled_from([GUILD, ROLE, OTHER, PERSON]), SETS, SETS)))
def test_permissions_are_as_the_real_client_computes_them(
    everyone: int, role: int, rules: list[tuple[int, int, int]]
) -> None:
    """nextcord's own computation is the other opinion."""
    roles = [Role(GUILD, GUILD, "@everyone", everyone), Role(ROLE, GUILD, "role", role), Role(OTHER, GUILD, "x", 0)]
    member = Member(GUILD, PERSON, "", roles=(ROLE,))
    kinds = {PERSON: OverwriteKind.MEMBER}
    unique = {one[0]: one for one in rules}.values()
    overwrites = tuple(Overwrite(who, kinds.get(who, OverwriteKind.ROLE), yes, no) for who, yes, no in unique)
    channel = Channel(5, ChannelKind.TEXT, GUILD, "c", overwrites=overwrites)
    base = permissions.in_guild(member, roles, OWNER)
    ours = permissions.in_channel(base, member, channel)
    theirs = _nextcord(roles, member, overwrites)
    assert (SEE in ours) == theirs.view_channel
    if theirs.view_channel:
        assert (Permission.SEND_MESSAGES in ours) == theirs.send_messages
        assert (Permission.MANAGE_MESSAGES in ours) == theirs.manage_messages


@cache
def _state() -> Any:
    return nextcord.Client()._connection


def _nextcord(roles: list[Role], member: Member, overwrites: tuple[Overwrite, ...]) -> nextcord.Permissions:
    state = _state()
    rules = [
        {"id": str(one.id), "type": int(one.kind), "allow": str(one.allow), "deny": str(one.deny)} for one in overwrites
    ]
    known = [
        {"id": str(one.id), "name": one.name, "permissions": str(one.permissions), "position": at}
        for at, one in enumerate(roles)
    ]
    place = {"id": "5", "type": 0, "name": "c", "position": 0, "permission_overwrites": rules}
    whole: Any = {"id": str(GUILD), "name": "g", "owner_id": str(OWNER), "roles": known, "channels": [place]}
    guild = nextcord.Guild(data=whole, state=state)
    user: Any = {"id": str(PERSON), "username": "p", "discriminator": "0", "avatar": None}
    data: Any = {"user": user, "roles": [str(one) for one in member.roles]}
    channel: Any = guild.get_channel(5)
    found: nextcord.Permissions = channel.permissions_for(nextcord.Member(data=data, guild=guild, state=state))
    return found


def test_owners_and_administrators_may_everything_and_the_timed_out_only_read() -> None:
    roles = [Role(GUILD, GUILD, "@everyone", EVERYONE), Role(ROLE, GUILD, "admin", Permission.ADMINISTRATOR)]
    hidden = Channel(5, ChannelKind.TEXT, GUILD, "c", overwrites=(Overwrite(GUILD, OverwriteKind.ROLE, 0, SEE),))
    for member in (Member(GUILD, OWNER, ""), Member(GUILD, PERSON, "", roles=(ROLE,))):
        assert permissions.in_channel(permissions.in_guild(member, roles, OWNER), member, hidden) == ALL
    quiet = Member(GUILD, PERSON, "", timed_out=True)
    seen = Channel(6, ChannelKind.TEXT, GUILD, "d")
    left = permissions.in_channel(permissions.in_guild(quiet, roles, OWNER), quiet, seen)
    assert left == SEE | Permission.READ_MESSAGE_HISTORY


async def test_who_reads_a_channel_and_its_threads(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    staff = guild.role("Staff", EVERYONE | Permission.MANAGE_THREADS)
    mara, ben, cleo = guild.member("mara", roles=[staff]), guild.member("ben"), guild.member("cleo")
    inner = guild.channel("inner", rules={guild.everyone: (NONE, SEE), staff: (SEE, NONE), ben: (SEE, NONE)})
    owner = guild.owner
    assert discord.readers(inner) == {owner.id, mara.id, ben.id}
    thread = guild.thread(inner, "public", mara)
    assert discord.readers(thread) == {owner.id, mara.id, ben.id}
    general = guild.channel("general")
    private = guild.thread(general, "private", ben, private=True, members=[cleo])
    assert discord.readers(private) == {owner.id, mara.id, ben.id, cleo.id, discord.bot.id}
    discord.follow(private, cleo, follows=False)
    assert cleo.id not in discord.readers(private)
    direct = discord.dm(cleo)
    assert discord.readers(direct) == {cleo.id, discord.bot.id}


async def test_the_bot_is_refused_what_it_may_not(discord: LoopbackDiscord) -> None:
    guild = discord.guild(permissions=EVERYONE)
    mara = guild.member("mara")
    silent = guild.channel("silent", rules={guild.everyone: (NONE, Permission.SEND_MESSAGES)})
    said = discord.say(guild.owner, silent, "read only")
    hidden = guild.channel("hidden")
    general = guild.channel("general")
    theirs = discord.say(mara, general, "mine")
    async with running(discord) as client:
        places: dict[str, Any] = {one.name: one for one in client.get_all_channels()}
        discord.overwrite(hidden, discord.bot, deny=SEE)
        discord.say(mara, hidden, "the bot does not hear this")
        for attempt, code in (
            (places["silent"].send("no"), 50013),
            (places["hidden"].send("no"), 50001),
            (places["general"].create_webhook(name="no"), 50013),
            ((await places["general"].fetch_message(theirs.id)).delete(), 50013),
        ):
            with pytest.raises(nextcord.Forbidden) as refused:
                await attempt
            assert refused.value.code == code
        assert (await places["silent"].fetch_message(said.id)).content == "read only"
        with pytest.raises(nextcord.NotFound) as unknown:
            await client.fetch_channel(12345)
        assert unknown.value.code == 10003
        assert client.those("message") == []
