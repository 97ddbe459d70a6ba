"""What the doctor says of Discord, against the loopback one."""

from agent.hookspecs import Health
from agent.settings.secrets import Secret
from bridges.discord import DiscordBridge
from bridges.discord.checking import PERMISSIONS, Application, lacking
from tests.bridges.discord.worlds import settings_of
from tests.servers.discord.events import Intent
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import EVERYONE, Permission


async def lines(discord: LoopbackDiscord, **options: object) -> list[tuple[str, str]]:
    found = await DiscordBridge(settings_of(discord, **options)).health()
    assert all(line.remedy for line in found if line.state != "ok")
    assert discord.token not in str(found)
    return [(line.state, line.text) for line in found]


async def test_everything_is_well(discord: LoopbackDiscord) -> None:
    discord.guild("Garden")
    discord.guild("Harbour", permissions=Permission.ADMINISTRATOR)
    assert await lines(discord) == [("ok", f"agent ({discord.application_id}), servers: 2")]


async def test_denied_intents_are_named_where_they_are_wanted(discord: LoopbackDiscord) -> None:
    discord.guild("Garden")
    discord.deny_intents(Intent.MESSAGE_CONTENT, Intent.GUILD_MEMBERS)
    assert [text for state, text in await lines(discord) if state == "fail"] == [
        "the Message Content Intent is switched off in the developer portal",
        "the Server Members Intent is switched off in the developer portal",
    ]
    assert [state for state, _ in await lines(discord, message_content=False, members=False)] == ["ok"]
    [line] = [each for each in await DiscordBridge(settings_of(discord, members=False)).health() if each.state != "ok"]
    assert line.remedy == (
        f"switch it on at https://discord.com/developers/applications/{discord.application_id}/bot, or set "
        "message_content = false in [bridges.discord]"
    )


async def test_missing_permissions_are_named_by_server(discord: LoopbackDiscord) -> None:
    whole = EVERYONE | Permission.MANAGE_WEBHOOKS
    for name, missing in (("Garden", Permission.EMBED_LINKS | Permission.MANAGE_WEBHOOKS), ("Harbour", Permission(0))):
        guild = discord.guild(name, permissions=whole & ~missing)
        guild.allow(guild.everyone, EVERYONE & ~missing)
    [_, warning] = await lines(discord)
    assert warning == ("warn", "in Garden it lacks Embed Links, Manage Webhooks")


async def test_a_bot_in_no_server_is_shown_the_way_in(discord: LoopbackDiscord) -> None:
    [_, line] = await DiscordBridge(settings_of(discord)).health()
    assert (line.state, line.text) == ("warn", "it is in no server")
    permissions = sum(PERMISSIONS.values())
    query = f"client_id={discord.application_id}&scope=bot+applications.commands&permissions={permissions}"
    assert line.remedy == f"let it in: https://discord.com/oauth2/authorize?{query}"


async def test_a_refused_token_and_a_silent_server(discord: LoopbackDiscord) -> None:
    settings = settings_of(discord)
    refused = settings.model_copy(update={"token": Secret.parse("wrong")})
    [line] = await DiscordBridge(refused).health()
    assert (line.state, line.remedy) == ("fail", "make a new one with Reset Token, and run isthmus setup discord")
    away = settings.model_copy(update={"api_base": "http://127.0.0.1:1/api/v10"})
    [line] = await DiscordBridge(away).health()
    assert (line.state, line.text) == (
        "fail",
        "http://127.0.0.1:1/api/v10 cannot be reached (ClientConnectorError)",
    )
    discord.faults.fail(503)
    [line] = await DiscordBridge(settings).health()
    assert line == Health(
        "bridge discord",
        "fail",
        f"{discord.api_base} answers 503",
        "check the network, or api_base in [bridges.discord]",
    )


async def test_more_servers_than_a_page(discord: LoopbackDiscord) -> None:
    for number in range(203):
        discord.guild(f"G{number}")
    assert len(await lacking(discord.token, discord.api_base)) == 203


def test_the_permissions_are_discords_own() -> None:
    assert {name: Permission(bit).name for name, bit in PERMISSIONS.items()} == {
        "View Channels": "VIEW_CHANNEL",
        "Send Messages": "SEND_MESSAGES",
        "Embed Links": "EMBED_LINKS",
        "Attach Files": "ATTACH_FILES",
        "Read Message History": "READ_MESSAGE_HISTORY",
        "Manage Webhooks": "MANAGE_WEBHOOKS",
        "Send Messages in Threads": "SEND_MESSAGES_IN_THREADS",
    }
    assert "permissions=" + str(sum(PERMISSIONS.values())) in Application(1, "a", True, True).invite
