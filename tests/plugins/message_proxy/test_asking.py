"""Requests on the loopback interface and to addresses that must not be asked."""

import time
from importlib.metadata import version

import pytest
from pydantic import ValidationError

from agent.settings import Secret
from agent.testing.app import running_agent
from plugins.message_proxy import MessageProxyPlugin
from plugins.message_proxy.adapters import PluralKit
from plugins.message_proxy.addresses import forbidden
from plugins.message_proxy.asking import Answer, Asker, NoAnswer, user_agent
from plugins.message_proxy.services import DESCRIPTORS, Approved
from plugins.message_proxy.settings import MessageProxySettings
from plugins.message_proxy.values import Failed, Found, Miss, Service
from tests.plugins.message_proxy.world import INSTANCE, settings_for
from tests.servers.pluralkit import Behaviour, PluralKitServer

TOKEN = "pk-token-of-the-test"


def approved(origin: str, *, private: bool = True, token: str | None = None) -> Approved:
    secret = None if token is None else Secret.parse(token)
    return Approved("x", DESCRIPTORS[Service.PLURALKIT], origin, None, (), private, secret)


async def ask(server: PluralKitServer, path: str = "/v2/messages/200") -> Answer | NoAnswer:
    asker = Asker(approved(server.origin), "Isthmus (+https://example.org)")
    try:
        return await asker.get(path)
    finally:
        await asker.close()


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (Behaviour.OK, Found),
        (Behaviour.MISS, Miss),
        (Behaviour.EMPTY_404, Failed),
        (Behaviour.LIMITED, Failed),
        (Behaviour.LIMITED_ZERO, Failed),
        (Behaviour.BROKEN, Failed),
        (Behaviour.BLOCKED, Failed),
        (Behaviour.TRUNCATED, Failed),
        (Behaviour.NOT_JSON, Failed),
        (Behaviour.HUGE, Failed),
        (Behaviour.REDIRECT, Failed),
    ],
)
async def test_what_each_behaviour_becomes(pluralkit: PluralKitServer, behaviour: Behaviour, expected: type) -> None:
    wren = pluralkit.system("Lark", "500").member("Wren")
    pluralkit.store("200", "100", "500", "10", member=wren)
    pluralkit.next(behaviour)
    adapter = PluralKit(Asker(approved(pluralkit.origin), "Isthmus (+https://example.org)"))
    assert isinstance(await adapter.message("200"), expected)
    await adapter.close()
    assert len(pluralkit.requests) == 1  # a redirect is not followed


async def test_what_stalls_is_given_up(pluralkit: PluralKitServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugins.message_proxy.asking.PATIENCE", 0.2)
    pluralkit.next(Behaviour.STALL)
    began = time.monotonic()
    assert await ask(pluralkit) == NoAnswer("it took too long")
    assert time.monotonic() - began < 2


async def test_every_request_names_the_agent_and_carries_the_token_only_where_one_is_set(
    pluralkit: PluralKitServer,
) -> None:
    await ask(pluralkit)
    asker = Asker(approved(pluralkit.origin, token=TOKEN), "Isthmus (+https://example.org)")
    await asker.get("/v2/messages/200")
    await asker.close()
    first, second = (headers for _, _, headers in pluralkit.requests)
    assert first["User-Agent"].startswith("Isthmus (+https://")
    assert "Authorization" not in first
    assert second["Authorization"] == TOKEN


@pytest.mark.parametrize(
    "origin",
    [
        "http://api.pluralkit.me",
        "https://127.0.0.1:1",
        "https://10.1.2.3",
        "https://[::1]",
        "https://169.254.169.254",
        "https://[::ffff:127.0.0.1]",
        "https://0.0.0.0",
    ],
)
async def test_private_addresses_are_not_asked(origin: str) -> None:
    asker = Asker(approved(origin, private=False), "Isthmus")
    assert isinstance(await asker.get("/v2/messages/1"), NoAnswer)
    await asker.close()


async def test_a_name_that_leads_to_a_private_address_is_not_asked(pluralkit: PluralKitServer) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    asker = Asker(approved(f"https://api.example.org:{pluralkit.port}", private=False), "Isthmus", resolve)
    assert isinstance(await asker.get("/v2/messages/1"), NoAnswer)
    await asker.close()
    assert not pluralkit.requests


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("1.1.1.1", False),
        ("2606:4700::1111", False),
        ("192.168.0.1", True),
        ("100.64.0.1", True),
        ("224.0.0.1", True),
        ("fe80::1%eth0", True),
        ("::ffff:10.0.0.1", True),
        ("fd00::1", True),
    ],
)
def test_which_addresses_are_public(address: str, expected: bool) -> None:
    assert forbidden(address) is expected


def test_every_request_names_the_version_and_says_so_where_nobody_is_named_to_ask() -> None:
    assert user_agent("0.1", None) == "Isthmus/0.1 (contact not set)"
    assert user_agent("0.1", "https://example.org") == "Isthmus/0.1 (+https://example.org)"


@pytest.mark.parametrize("contact", ["", "  ", "mail@example.org\r\nX: y", "Gärtnerei"])
def test_a_contact_is_one_plain_line(contact: str) -> None:
    with pytest.raises(ValidationError, match="one line of plain characters"):
        MessageProxySettings(contact=contact)


@pytest.mark.parametrize("contact", [None, "mail@example.org"])
async def test_a_missing_contact_is_told_to_the_service_and_to_the_operator(
    pluralkit: PluralKitServer, database_url: str, contact: str | None
) -> None:
    options = {} if contact is None else {"contact": contact}
    async with running_agent(database_url, settings_for(pluralkit.origin, **options)) as agent:
        plugin = agent.plugins.get("message_proxy")
        assert isinstance(plugin, MessageProxyPlugin)
        instance = next(each for each in plugin.instances if each.name == INSTANCE)
        await plugin.finders[instance.instance_id].system("100000000000000001")
        lines = {line.name: line for part in await agent.plugins.collect("health") for line in part}
    (_, _, headers) = pluralkit.requests[0]
    product = f"Isthmus/{version('isthmus')}"
    if contact is None:
        assert headers["User-Agent"] == f"{product} (contact not set)"
        warned = lines["message_proxy contact"]
        assert warned.state == "warn"
        assert "set contact under [plugins.message_proxy]" in warned.remedy
    else:
        assert headers["User-Agent"] == f"{product} (+mail@example.org)"
        assert "message_proxy contact" not in lines
