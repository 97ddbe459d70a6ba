"""What a service publishes becomes a first memory: once, with every guard's leave, and never again."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from agent.app import Agent
from agent.contracts.people import PrivacyLevel, Registration, Speaker
from agent.events import Author
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import ChannelRef, ServerRef
from agent.testing.app import running_agent
from plugins.bio_seeding.seeding import texts_of

SETTINGS: dict[str, Any] = {
    "plugins": {name: {"enabled": True} for name in ("privacy", "memory", "message_proxy", "bio_seeding")}
}
HOME, GENERAL = ServerRef("console", "home", "home"), ChannelRef("home/general", "general")
HOST = Author(ParticipantKind.CONSOLE_USER, "host", "Host", "host")


async def rows(agent: Agent, query: str, *values: Any) -> list[dict[str, Any]]:
    async with agent.core.store.connection() as conn:
        return [dict(row) for row in await conn.fetch(query, *values)]


async def registered(agent: Agent, key: str = "wren", *, bio: str | None = "I grow {plants}.\nA lot.") -> Registration:
    """An identity with its rows, as an attested message makes them."""
    core, now = agent.core, datetime.now(UTC)
    entrance = await core.people.enter(HOME, GENERAL, HOST, now)
    account_id = entrance.account.account_id
    async with core.store.connection() as conn:
        instance = await conn.fetchval("SELECT instance_id FROM message_proxy_instances WHERE name = 'pluralkit'")
        user_id = await conn.fetchval(
            "INSERT INTO users (kind, created_at) VALUES ('synthetic', $1) RETURNING 1 * user_id", now
        )
        await conn.execute(
            "INSERT INTO external_identities VALUES ('proxy_identity', $1, $2, $3)", instance, key, user_id
        )
        await conn.execute(
            "INSERT INTO message_proxy_namespaces (instance_id, namespace_key) VALUES ($1, 's') ON CONFLICT DO NOTHING",
            instance,
        )
        namespace = await conn.fetchval("SELECT namespace_id FROM message_proxy_namespaces")
        await conn.execute(
            "INSERT INTO message_proxy_identities VALUES ($1, $2, 'Wren', NULL, $3, $3)", user_id, namespace, now
        )
        await conn.execute(
            "INSERT INTO message_proxy_namespace_accounts VALUES ($1, $2, $3, $3) ON CONFLICT DO NOTHING",
            namespace,
            account_id,
            now,
        )
    speaker = Speaker(
        ParticipantKey(ParticipantKind.PROXY_IDENTITY, f"pluralkit:{key}"),
        user_id,
        "Wren",
        "they/them",
        "Lark",
        (account_id,),
    )
    server_id = entrance.place.server.server_id
    return Registration(speaker, True, bio, account_id, "console", server_id, "home/general", "1", now)


async def tell(agent: Agent, registration: Registration) -> None:
    await agent.core.hooks.collect("identity_registered", registration=registration)


async def memories(agent: Agent) -> list[str]:
    found = await rows(agent, "SELECT content FROM personal_memories ORDER BY content")
    return [row["content"] for row in found]


def test_what_would_be_kept_is_one_line_in_which_nothing_stands_for_anything() -> None:
    key = ParticipantKey(ParticipantKind.PROXY_IDENTITY, "pluralkit:a")
    speaker = Speaker(key, 1, "Wren", "{user}/them")
    registration = Registration(
        speaker, True, "a\n\n {bot}\x00  b" + "x" * 2000, 1, "console", 1, "c", "1", datetime.now(UTC)
    )
    kept = texts_of(registration)
    assert kept["bio"].startswith("a (bot) b")
    assert len(kept["bio"]) == 1000
    assert kept["pronouns"] == "Pronouns: (user)/them"
    assert texts_of(replace(registration, bio="  ", speaker=replace(speaker, pronouns=None))) == {}


async def test_it_is_kept_once_as_a_global_memory_of_the_identity(database_url: str) -> None:
    async with running_agent(database_url, SETTINGS) as agent:
        registration = await registered(agent)
        for _ in range(3):
            await tell(agent, registration)
        found = await rows(agent, "SELECT * FROM personal_memories ORDER BY content")
        assert [row["content"] for row in found] == ["I grow (plants). A lot.", "Pronouns: they/them"]
        assert {(row["persona_lineage_id"], row["origin"], row["audience"]) for row in found} == {(0, "bio", "open")}
        assert {row["user_id"] for row in found} == {registration.speaker.user_id}
        # Who deletes it does not get it back, nor a later one.
        async with agent.core.store.connection() as conn:
            await conn.execute("DELETE FROM personal_memories")
        await tell(agent, replace(registration, is_new=False, bio="another one"))
        assert await memories(agent) == []
    async with running_agent(database_url, SETTINGS) as agent:  # nor after a restart
        await tell(agent, replace(registration, is_new=False))
        assert await memories(agent) == []


async def test_what_was_not_published_at_first_is_not_taken_over_later(database_url: str) -> None:
    async with running_agent(database_url, SETTINGS) as agent:
        registration = await registered(agent, bio=None)
        await tell(agent, registration)
        await tell(agent, replace(registration, is_new=False, bio="now there is one"))
        assert await memories(agent) == ["Pronouns: they/them"]


@pytest.mark.parametrize("reason", ["host", "full"])
async def test_refused_it_is_tried_again_at_the_next_message(database_url: str, reason: str) -> None:
    settings = SETTINGS
    if reason == "full":
        memory = {"enabled": True, "max_personal_memories": 1, "decay": {"enabled": False}}
        settings = {"plugins": SETTINGS["plugins"] | {"memory": memory}}
    async with running_agent(database_url, settings) as agent:
        registration = await registered(agent)
        if reason == "host":
            await agent.core.privacy.set_level(registration.account_id, PrivacyLevel.FULL)
            await tell(agent, registration)
            assert await memories(agent) == []
            await agent.core.privacy.set_level(registration.account_id, PrivacyLevel.NONE)
        else:
            await tell(agent, registration)
            assert await memories(agent) == ["I grow (plants). A lot."]
            async with agent.core.store.connection() as conn:
                await conn.execute("DELETE FROM personal_memories")
        await tell(agent, replace(registration, is_new=False))
        expected = ["I grow (plants). A lot.", "Pronouns: they/them"]
        assert await memories(agent) == (expected if reason == "host" else expected[1:])


async def test_a_forgotten_identity_leaves_a_digest_so_that_it_does_not_come_back(database_url: str) -> None:
    async with running_agent(database_url, SETTINGS) as agent:
        registration = await registered(agent)
        await tell(agent, registration)
        async with agent.core.store.connection() as conn:
            await conn.execute("DELETE FROM users WHERE kind = 'synthetic'")
        digests = await rows(agent, "SELECT encode(identity, 'escape') AS text FROM bio_seeds")
        assert len(digests) == 2
        assert all("wren" not in row["text"] for row in digests)
    async with running_agent(database_url, SETTINGS) as agent:
        await tell(agent, await registered(agent))
        assert await memories(agent) == []
