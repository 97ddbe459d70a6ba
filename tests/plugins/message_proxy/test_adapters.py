"""Services as they are asked over HTTP."""

from collections.abc import AsyncIterator

import pytest_asyncio
from aiohttp import web

from agent.settings import Secret
from plugins.message_proxy.adapters import PluralBuddy, PluralKit, adapter_for
from plugins.message_proxy.asking import Asker
from plugins.message_proxy.services import DESCRIPTORS, Approved, approved
from plugins.message_proxy.settings import InstanceSettings, MessageProxySettings
from plugins.message_proxy.values import Failed, Found, Miss, Service
from tests.servers.pluralkit import Behaviour, PluralKitServer

TOKEN = "token-of-the-test"


@pytest_asyncio.fixture
async def pluralbuddy() -> AsyncIterator[str]:
    """A PluralBuddy that knows one message and one token."""

    async def message(request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return web.Response(status=401)
        known = (
            '{"message": {"messageId": "200", "systemId": "500", "alterId": 1480000000000002200, "channelId": "10"}}'
        )
        text = known if request.match_info["id"] == "200" else '{"message": null}'
        return web.Response(text=text, content_type="application/json")

    app = web.Application()
    app.router.add_get("/api/v1/messages/{id}", message)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


def asker(origin: str, service: Service, token: str | None = None) -> Asker:
    secret = None if token is None else Secret.parse(token)
    return Asker(Approved("x", DESCRIPTORS[service], origin, None, (), True, secret), "Isthmus (+https://example.org)")


async def test_pluralbuddy_is_asked_with_its_token(pluralbuddy: str) -> None:
    adapter = adapter_for(Service.PLURALBUDDY, asker(pluralbuddy, Service.PLURALBUDDY, TOKEN))
    assert isinstance(adapter, PluralBuddy)
    found = await adapter.message("200")
    assert isinstance(found, Found)
    assert found.member is not None
    assert found.member.key == "1480000000000002200"
    assert await adapter.message("201") == Miss()
    assert await adapter.system("500") == "500"
    await adapter.close()
    without = adapter_for(Service.PLURALBUDDY, asker(pluralbuddy, Service.PLURALBUDDY))
    assert await without.message("200") == Failed("status 401")
    await without.close()


async def test_systems_are_asked_by_account(pluralkit: PluralKitServer) -> None:
    account = "100000000000000001"
    system = pluralkit.system("Lark", account)
    adapter = adapter_for(Service.PLURALKIT, asker(pluralkit.origin, Service.PLURALKIT))
    assert isinstance(adapter, PluralKit)
    assert await adapter.system(account) == system.uuid
    assert await adapter.system("100000000000000002") is None
    pluralkit.otherwise = Behaviour.BROKEN
    assert isinstance(await adapter.system(account), Failed)
    await adapter.close()


def test_official_instances_are_known_and_own_ones_are_added() -> None:
    settings = MessageProxySettings(
        instances={"ours": InstanceSettings(service=Service.PLURALKIT, origin="https://pk.example.org/")}
    )
    found = {each.name: each for each in approved(settings)}
    assert set(found) == {"pluralkit", "tupperbox", "ours"}
    assert found["ours"].origin == "https://pk.example.org"
    assert found["ours"].token is None
    with_token = approved(MessageProxySettings(pluralbuddy_token=Secret.parse(TOKEN)))
    assert {each.name for each in with_token} == {"pluralkit", "tupperbox", "pluralbuddy"}
    assert all(each.token is None for each in with_token if each.name != "pluralbuddy")
