"""One utterance has one answer at most, an identity only when attested, a memory only by every host's leave."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from itertools import batched
from typing import Any

import pytest

from agent.app import Agent
from agent.contracts.people import PrivacyLevel
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.scripted_model import ScriptedCall, ScriptedModel, SeenRequest, Step
from plugins.message_proxy import MessageProxyPlugin
from tests.plugins.message_proxy.matrix import SERVER, Answer, Case, Host, Service, cases, channel, play

SAVE = ScriptedCall(
    "create_long_term_memory",
    {"memory_content": "{user} likes foxgloves.", "memory_scope": "target_user", "target_user": "me"},
)
SETTINGS = {
    "plugins": {
        "privacy": {"enabled": True},
        "memory": {"enabled": True, "saves_per_hour": 1000},
        "message_proxy": {
            "enabled": True,
            "wait": 0.35,
            "lookup_seconds": 1.0,
            "instances": {
                name: {"service": "pluralkit", "origin": "http://127.0.0.1:9", "allow_private_networks": True}
                for name in ("one", "two")
            },
        },
    }
}
FORBID = """
CREATE TABLE nobody (account_id bigint);
CREATE FUNCTION leave_out() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM nobody n WHERE n.account_id = NEW.account_id) THEN RETURN NULL; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER leave_out BEFORE INSERT ON message_proxy_namespace_accounts FOR EACH ROW EXECUTE FUNCTION leave_out();
"""


def save_once(request: SeenRequest) -> Step:
    """Try to remember something of whoever speaks, then answer."""
    return "Well." if any("memory_save" in text for text in request.texts) else SAVE


async def prepare(agent: Agent, plugin: MessageProxyPlugin, some: Sequence[Case]) -> None:
    """Let the account of each case use both instances in a channel where both are known, as its host is to be."""
    core, now = agent.core, agent.core.clock.now()
    one, two = (each for each in plugin.instances if each.name in {"one", "two"})
    for case in some:
        entrance = await core.people.enter(SERVER, channel(case), case.account, now)
        account_id, server_id = entrance.account.account_id, entrance.place.server.server_id
        for instance in (one, two):
            await plugin.repository.choose(account_id, instance.instance_id, now)
            plugin.watching.seen.add(("fake", channel(case).external_id, instance.instance_id))
            plugin.watching.expecting.add(("fake", channel(case).external_id, instance.instance_id))
        if case.host is Host.FULL:
            await core.privacy.set_level(account_id, PrivacyLevel.FULL)
        elif case.host is Host.BLACKLISTED:
            await core.privacy.blacklist_add(server_id, account_id, now)
        elif case.host is Host.UNKNOWN:
            async with core.store.connection() as conn:
                await conn.execute("INSERT INTO nobody VALUES ($1)", account_id)
    await plugin.watching.load_users()


async def rows(agent: Agent, query: str) -> list[dict[str, Any]]:
    async with agent.core.store.connection() as conn:
        return [dict(row) for row in await conn.fetch(query)]


@pytest.mark.unwatched_loop  # 48 conversations at once are not what is looked at here
async def test_every_order_every_answer_every_host(database_url: str) -> None:
    platform, everything = FakePlatform(), list(cases())
    assert len(everything) == 24 * 6 * 4
    model = ScriptedModel(default=save_once)
    async with running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform), model=model) as agent:
        plugin = agent.plugins.get("message_proxy")
        assert isinstance(plugin, MessageProxyPlugin)
        services = [Service(), Service(is_second=True)]
        for service, name in zip(services, ("one", "two"), strict=True):
            instance = next(each for each in plugin.instances if each.name == name)
            service.cases = {case.repost_id: case for case in everything}
            plugin.finders[instance.instance_id] = service  # type: ignore[assignment]
        async with agent.core.store.connection() as conn:
            await conn.execute(FORBID)
        for some in batched(everything, 48):
            await prepare(agent, plugin, some)
            await asyncio.gather(*(play(agent, case) for case in some))
            await agent.idle()

        sent = Counter(
            row["event_id"]
            for row in await rows(agent, "SELECT event_id FROM outbox WHERE kind = 'post' AND about_memories IS NULL")
        )
        states = {row["event_id"]: row["state"] for row in await rows(agent, "SELECT * FROM inbound_events")}
        index = {row["message_id"] for row in await rows(agent, "SELECT * FROM message_proxy_message_index")}
        memories = Counter(
            row["external_key"]
            for row in await rows(
                agent,
                "SELECT x.external_key FROM personal_memories p JOIN external_identities x USING (user_id)",
            )
        )
        told: Counter[tuple[str, str, str]] = Counter()
        for case in everything:
            answered = [each for each in (case.original_id, case.repost_id) if states[each] == "answered"]
            assert len(answered) <= 1, case
            assert sent[case.original_id] + sent[case.repost_id] == len(answered), case
            assert (case.repost_id in index) == case.is_attested, case
            remembered = memories[f"member-{case.number}"]
            if case.is_attested:
                # Whichever way round it came, it is answered, and as the member.
                assert (answered, remembered) == ([case.repost_id], case.host is Host.ALLOWED), case
            else:
                assert case.repost_id not in answered, case
                assert remembered == 0, case
                # What was deleted is not answered; where the deletion came first, nobody knows that it was one.
                assert answered == ([] if case.deletes_while_it_waits else [case.original_id]), case
            who = "nobody" if not answered else ("member" if answered[0] == case.repost_id else "account")
            told[case.answer, case.host, f"{who}, {remembered} memories"] += 1

        assert told == expected()
        asked = Counter(services[0].asked)
        assert set(asked.values()) == {1}


def expected() -> Counter[tuple[str, str, str]]:
    """Every cell of the table: of 24 orders, how many end how."""
    table: Counter[tuple[str, str, str]] = Counter()
    for answer in Answer:
        for host in Host:
            if answer in {Answer.FOUND, Answer.LATE}:
                table[answer, host, f"member, {int(host is Host.ALLOWED)} memories"] = 24
            else:
                table[answer, host, "nobody, 0 memories"] = 12
                table[answer, host, "account, 0 memories"] = 12
    return table
