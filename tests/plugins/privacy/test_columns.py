"""Every column that can point at a person is known here: either an erasure empties it, or it stays for a reason."""

from typing import Any, Final

import pytest

from agent.app import Agent
from agent.testing.app import running_agent
from tests.clocks import ManualClock
from tests.plugins.privacy.conftest import ANA, BEN, GENERAL, HOME, MAX, NOW, SETTINGS, House

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

EMPTIED: Final = {
    "account_settings.account_id": "account",
    "audit_trail.actor_account_id": "account",
    "audit_trail.subject_account_id": "account",
    "audit_trail.subject_user_id": "user",
    "confirmations.account_id": "account",
    "documents.uploader_account_id": "account",
    "forgotten_memories.subject_account_id": "account",
    "forgotten_memories.subject_user_id": "user",
    "forgotten_memories.user_id": "user",
    "impersonations.account_id": "account",
    "impersonations.asked_by": "account",
    "link_requests.account_id": "account",
    "link_requests.other_account_id": "account",
    "link_tries.account_id": "account",
    "memory_events.actor_account_id": "account",
    "message_proxy_choices.account_id": "account",
    "message_proxy_expectations.account_id": "account",
    "message_proxy_identity_servers.account_id": "account",
    "message_proxy_message_index.account_id": "account",
    "message_proxy_namespace_accounts.account_id": "account",
    "messages.account_id": "account",
    "messages.user_id": "user",
    "names.account_id": "account",
    "outbox.about_accounts": "accounts",
    "outbox.about_users": "users",
    "personal_memories.author_account_id": "account",
    "personal_memories.subject_account_id": "account",
    "personal_memories.subject_user_id": "user",
    "personal_memories.user_id": "user",
    "relay_messages.account_id": "account",
    "server_memories.author_account_id": "account",
    "server_memories.subject_account_id": "account",
    "server_memories.subject_user_id": "user",
}
"""What an erasure empties of the person, and what the column holds."""
KEPT: Final = {
    "accounts.account_id": "the account, by its id alone, so that level and moment hold",
    "accounts.user_id": "linked accounts stay linked",
    "accounts.username": "emptied with the account's names",
    "directory_changes.account_id": "that names went, so that other processes drop them",
    "erasures.account_id": "the receipt",
    "external_identities.user_id": "a proxied identity: forgotten by itself, as its hosts wish",
    "message_proxy_identities.user_id": "the same",
    "message_proxy_identity_servers.user_id": "the same; the row goes with the account that answered for it",
    "message_proxy_message_index.user_id": "the same; the row goes with the account that said it",
    "memory_events.owner_id": "that something happened to a memory, without its content",
    "owner_revisions.owner": "what makes caches stale",
    "server_blacklist.account_id": "protects the person",
    "user_moves.from_user_id": "which rows of linked accounts were whose, so that unlinking can tell",
    "user_moves.to_user_id": "the same",
    "users.user_id": "the row that memories would belong to",
}
"""What stays, and why."""


async def columns(agent: Agent) -> set[str]:
    """Return every column that can point at a person, by its name or by a reference."""
    async with agent.core.store.connection() as conn:
        rows = await conn.fetch(
            """
            SELECT table_name || '.' || column_name AS name FROM information_schema.columns
            WHERE table_schema = 'public'
              AND column_name ~ '(account|user|author|actor|subject|uploader|asked_by|person($|_id$|_account)|owner)'
            UNION
            SELECT c.conrelid::regclass || '.' || a.attname FROM pg_constraint c
            JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
            WHERE c.contype = 'f' AND c.confrelid IN ('accounts'::regclass, 'users'::regclass)
            """
        )
    return {row["name"] for row in rows}


@pytest.fixture
def all_plugins() -> dict[str, Any]:
    names = ("memory", "privacy", "message_proxy", "bio_seeding", "documents", "lorebook", "presets")
    return {**SETTINGS, "plugins": {name: {"enabled": True} for name in names}}


async def test_every_column_about_people_is_known(database_url: str, all_plugins: dict[str, Any]) -> None:
    """A new one must be emptied by the erasure of its plugin or of the core, or stay for a reason that is said."""
    async with running_agent(database_url, all_plugins) as agent:
        assert await columns(agent) == set(EMPTIED) | set(KEPT)
    assert not set(EMPTIED) & set(KEPT)


async def test_what_is_emptied_points_at_nobody_who_was_forgotten(
    database_url: str, all_plugins: dict[str, Any]
) -> None:
    clock = ManualClock(NOW)
    async with running_agent(database_url, all_plugins, clock=clock) as agent:
        house = House(agent, clock)
        await house.meet(ANA, BEN, MAX)
        entrance = await agent.core.people.enter(HOME, GENERAL, ANA, clock.now())
        account, user = entrance.account.account_id, entrance.account.user_id
        gone, _ = await house.remember("{user} likes tea", "me")
        await house.agent.run_command(
            ("personal", "memories", "remove"), {"ids": str(gone.data["memory_id"])}, HOME, GENERAL, ANA
        )
        await house.remember("{user} likes coffee", "me")
        await house.remember("{user} plays chess")
        await house.remember("{user} likes cake", "Ben")
        for who in (ANA, MAX):
            await agent.run_command(("memories", "list"), {}, HOME, GENERAL, who)
        await agent.run_command(("impersonate",), {"person": ANA.key}, HOME, GENERAL, MAX)
        await agent.run_command(("link",), {}, HOME, GENERAL, ANA)
        values = {"account": account, "user": user}

        async def pointing() -> set[str]:
            found = set()
            for name, kind in EMPTIED.items():
                table, _, column = name.partition(".")
                value = values[kind.removesuffix("s")]
                test = f"$1 = ANY ({column})" if kind.endswith("s") else f"{column} = $1"
                if await house.rows(f"SELECT 1 FROM {table} WHERE {test}", value):  # noqa: S608 - names of ours
                    found.add(name)
            return found

        before = await pointing()
        assert {
            "audit_trail.subject_account_id",
            "forgotten_memories.user_id",
            "link_requests.account_id",
            "memory_events.actor_account_id",
            "names.account_id",
            "personal_memories.user_id",
            "server_memories.subject_account_id",
        } <= before
        asked = await house.run("forget-me")
        assert asked.data is not None
        assert (await house.run("forget-me", code=asked.data["code"])).ok
        assert await pointing() == set()
