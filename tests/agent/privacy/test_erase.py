import asyncio
import json
from collections.abc import Collection
from datetime import timedelta
from typing import Any

import pytest

from agent.confirmations import Confirmations
from agent.contracts.people import Account, PrivacyLevel, Refusal
from agent.events import MessageCreated, dump_event
from agent.identity.people import People
from agent.privacy.audit import Act, Audit, Look
from agent.privacy.erase import erase_person, finish_erasures
from agent.privacy.export import export_person
from agent.privacy.repository import UnknownPerson
from agent.store.pool import Store
from tests.agent.identity.builders import GENERAL, HOME, NOW, author
from tests.agent.privacy.conftest import Home
from tests.agent.privacy.doubles import StubHooks, write

LATER = NOW + timedelta(minutes=1)
CANARY = "xylophone-canary"


async def fill(home: Home) -> None:
    """Put the canary wherever the core keeps something of ana's."""
    await People(home.store).enter(HOME, GENERAL, author("ana", f"Ana {CANARY}", f"ana.{CANARY}"), NOW)
    ana, ben = home.ana.account_id, home.ben.account_id
    channel = home.place.channel.channel_id
    async with home.store.connection() as conn:
        await conn.execute(
            "INSERT INTO account_settings VALUES ($1, 'locale', $2::text::jsonb)", ana, json.dumps(CANARY)
        )
        for event, state, name in (
            ("waits", "received", "ana"),
            ("runs", "running", "ana"),
            ("ben-waits", "received", "ben"),
        ):
            message = MessageCreated("console", event, event, HOME, GENERAL, author(name), f"{name}: {CANARY}", NOW)
            await conn.execute(
                "INSERT INTO inbound_events (platform, event_id, state, worker, conversation, payload, received_at)"
                " VALUES ('console', $1, $2, 1, 'c', $3::text::jsonb, $4)",
                event,
                state,
                dump_event(message) if name == "ana" else dump_event(message).replace(CANARY, "hello"),
                NOW,
            )
        await conn.execute("INSERT INTO turn_checkpoints VALUES ('console', 'runs', 0, to_jsonb($1::text))", CANARY)
        for number, (event, who, state, text) in enumerate(
            (
                ("done", ana, "pending", CANARY),
                ("done", ana, "sending", CANARY),
                ("runs", ana, "pending", CANARY),
                ("ben-done", ben, "pending", "hello"),
            )
        ):
            payload: dict[str, Any] = {"text": text}
            if event == "done":
                name = "ana" if who == ana else "ben"
                payload["asker"] = {"kind": "console_user", "id": name}
            await conn.execute(
                "INSERT INTO outbox (key, platform, event_id, channel, state, worker, payload, created_at)"
                " VALUES ($1, 'console', $2, 'c', $3, 1, $4::text::jsonb, $5)",
                str(number),
                event,
                state,
                json.dumps(payload),
                NOW,
            )
            if number not in {0, 2}:
                await conn.execute(
                    "INSERT INTO messages (platform, message_id, channel_id, account_id, user_id, event_id, created_at)"
                    " VALUES ('console', $1, $2, $3, (SELECT user_id FROM accounts WHERE account_id = $3), $4, $5)",
                    f"m{number}",
                    channel,
                    who,
                    event,
                    NOW,
                )


async def dump(home: Home) -> str:
    """Everything that stands in the database, as text."""
    async with home.store.connection() as conn:
        tables = await conn.fetch("SELECT relname FROM pg_stat_user_tables ORDER BY 1")
        rows = [
            await conn.fetchval(f"SELECT coalesce(string_agg(t::text, chr(10)), '') FROM \"{table['relname']}\" t")  # noqa: S608
            for table in tables
        ]
    return "\n".join(rows)


async def rows(home: Home, query: str) -> list[dict[str, Any]]:
    async with home.store.connection() as conn:
        return [dict(row) for row in await conn.fetch(query)]


async def value(home: Home, query: str) -> Any:
    async with home.store.connection() as conn:
        return await conn.fetchval(query)


async def test_nothing_of_the_person_is_left(home: Home) -> None:
    await fill(home)
    assert CANARY in await dump(home)
    receipt = await erase_person(home.store, home.hooks, home.ana.account_id, LATER)
    assert CANARY not in await dump(home)
    assert receipt.account_ids == (home.ana.account_id,)
    assert receipt.at == LATER
    assert receipt.servers == (home.server_id,)
    expected = {"events": 2, "outbox": 3, "messages": 1, "names": 2, "settings": 1, "audit": 0, "notices": 0}
    assert receipt.counts == expected
    assert home.hooks.asked == ["erase_person"]


async def test_others_keep_what_is_theirs(home: Home) -> None:
    await fill(home)
    await erase_person(home.store, home.hooks, home.ana.account_id, LATER)
    assert await value(home, "SELECT count(*) FROM names") == 1
    assert await value(home, "SELECT count(*) FROM messages WHERE account_id IS NOT NULL") == 1
    states = "SELECT string_agg(event_id || ' ' || state, ', ' ORDER BY event_id) FROM inbound_events"
    assert await value(home, states) == "ben-waits received, runs abandoned, waits abandoned"
    outbox = "SELECT string_agg(state || ' ' || (payload IS NULL), ', ' ORDER BY outbox_id) FROM outbox"
    assert await value(home, outbox) == "cancelled true, sending true, cancelled true, pending false"


async def test_protections_stay_and_older_sources_are_refused(home: Home) -> None:
    await home.privacy.set_level(home.ana.account_id, PrivacyLevel.PARTIAL)
    await home.privacy.blacklist_add(home.server_id, home.ana.account_id, NOW)
    await erase_person(home.store, home.hooks, home.ana.account_id, LATER)
    again = await People(home.store).enter(HOME, GENERAL, author("ana", "Ana"), LATER)
    assert again.account.privacy is PrivacyLevel.PARTIAL
    assert again.account.forgotten_before == LATER
    assert again.blacklisted
    assert not again.is_new
    await home.privacy.set_level(home.ana.account_id, PrivacyLevel.NONE)
    await home.privacy.blacklist_remove(home.server_id, home.ana.account_id)
    old = write(server=home.server_id, user=home.ana_user, at=NOW)
    denial = await home.guards.check_write(old)
    assert denial is not None
    assert denial.code is Refusal.FORGOTTEN
    new = write(server=home.server_id, user=home.ana_user, at=LATER + timedelta(seconds=1))
    assert await home.guards.check_write(new) is None


async def test_linked_accounts_are_forgotten_too(home: Home) -> None:
    async with home.store.connection() as conn:
        await conn.execute("UPDATE accounts SET user_id = $1", home.ana_user)
    receipt = await erase_person(home.store, home.hooks, home.ana.account_id, LATER)
    assert receipt.account_ids == (home.ana.account_id, home.ben.account_id)
    assert await value(home, "SELECT count(*) FROM names") == 0


async def test_plugins_count_and_a_failing_one_leaves_everything_as_it_was(home: Home) -> None:
    await fill(home)
    before = await dump(home)

    async def fail(conn: Any, account: Account) -> dict[str, int]:
        await conn.execute("DELETE FROM names")
        raise RuntimeError("no")

    home.hooks.erase = fail
    with pytest.raises(RuntimeError, match="no"):
        await erase_person(home.store, home.hooks, home.ana.account_id, LATER)
    assert await dump(home) == before

    async def count(conn: Any, account: Account) -> dict[str, int]:
        return {"memories": 3}

    home.hooks.erase = count
    receipt = await erase_person(home.store, home.hooks, home.ana.account_id, LATER)
    assert receipt.counts["memories"] == 3


async def test_who_is_not_known_cannot_be_forgotten_or_exported(home: Home) -> None:
    with pytest.raises(UnknownPerson):
        await erase_person(home.store, home.hooks, 999, LATER)
    with pytest.raises(UnknownPerson):
        await export_person(home.store, home.hooks, 999, LATER)


async def test_export(home: Home) -> None:
    await fill(home)
    await home.privacy.blacklist_add(home.server_id, home.ana.account_id, NOW)
    exported = await export_person(home.store, home.hooks, home.ana.account_id, LATER)
    assert json.loads(json.dumps(exported)) == exported
    core = ["account", "settings", "names", "blacklists", "messages", "notices", "erasures", "looked_at"]
    assert list(exported) == ["exported_at", *core, "linked", "plugins", "missing"]
    assert exported["linked"] == []
    assert "memory" in exported["missing"]  # type: ignore[operator]  # its tables are there, and it is not
    assert exported["settings"] == {"locale": CANARY}
    assert exported["plugins"] == {"stub": {"account": home.ana.account_id}}
    assert json.dumps(exported).count("home") >= 4
    names = exported["names"]
    assert isinstance(names, list)
    assert len(names) == 2
    account = exported["account"]
    assert isinstance(account, dict)
    assert account["external_id"] == "ana"


class Returning(StubHooks):
    """Plugins of which some were switched off when somebody was forgotten."""

    def __init__(self, *started: str) -> None:
        super().__init__()
        self._plugins = started
        self.did: list[tuple[str, int]] = []

    def implementing(self, hook: str) -> tuple[str, ...]:
        assert hook == "erase_person"
        return self._plugins

    async def collect_by_plugin(self, name: str, /, **values: Any) -> list[tuple[str, Any]]:
        return await self.collect_from(self._plugins, name, **values)

    async def collect_from(self, plugins: Collection[str], name: str, /, **values: Any) -> list[tuple[str, Any]]:
        assert name == "erase_person"
        assert values["conn"].is_in_transaction()
        self.did += [(plugin, values["account"].account_id) for plugin in self._plugins if plugin in plugins]
        return [(plugin, {plugin: 1}) for plugin in self._plugins if plugin in plugins]


async def test_a_receipt_stays_with_counts_and_the_time(home: Home) -> None:
    await fill(home)
    receipt = await erase_person(home.store, Returning("memory"), home.ana.account_id, LATER)
    exported = await export_person(home.store, home.hooks, home.ana.account_id, LATER)
    assert exported["erasures"] == [
        {"erased_at": LATER.isoformat(), "counts": dict(receipt.counts), "plugins": ["memory"]}
    ]
    assert receipt.counts["memory"] == 1


async def test_a_plugin_that_was_switched_off_forgets_when_it_comes_back(home: Home) -> None:
    ana = home.ana.account_id
    await erase_person(home.store, Returning("memory"), ana, LATER)
    same = Returning("memory")
    assert await finish_erasures(home.store, same) == 0
    both = Returning("memory", "lorebook")
    assert await finish_erasures(home.store, both) == 1
    assert both.did == [("lorebook", ana)]
    assert await finish_erasures(home.store, both) == 0
    (receipt,) = await rows(home, "SELECT counts, plugins FROM erasures")
    assert (receipt["counts"]["lorebook"], receipt["plugins"]) == (1, ["lorebook", "memory"])
    assert await finish_erasures(home.store, Returning()) == 0


async def test_two_processes_that_start_at_once_finish_it_once(home: Home, others: tuple[Store, ...]) -> None:
    await erase_person(home.store, Returning(), home.ana.account_id, LATER)
    started = [Returning("memory") for _ in others]
    await asyncio.gather(*(finish_erasures(store, hooks) for store, hooks in zip(others, started, strict=True)))
    assert [did for hooks in started for did in hooks.did] == [("memory", home.ana.account_id)]


async def test_the_trail_of_the_person_goes_and_what_they_did_to_others_stays_without_them(home: Home) -> None:
    audit, ana, ben = Audit(home.store), home.ana.account_id, home.ben.account_id
    await audit.record([Look(Act.READ, "/x", ben, home.server_id, about_account_id=ana)], NOW)
    await audit.record([Look(Act.READ, "/x", ana, home.server_id, about_account_id=ben)], NOW)
    await audit.record([Look(Act.EDITED, "/x", ben, home.server_id, about_user_id=home.ana_user)], NOW)
    await Confirmations(home.store).ask(ana, "forget", NOW)
    receipt = await erase_person(home.store, home.hooks, ana, LATER)
    assert receipt.counts["audit"] == 2
    assert await audit.about(ana) == []
    (seen,) = await audit.about(ben)
    assert (seen.actor, seen.by_operator) == (None, False)
    assert await value(home, "SELECT count(*) FROM confirmations") == 0


async def test_linked_accounts_are_exported_too(home: Home) -> None:
    async with home.store.connection() as conn:
        await conn.execute("UPDATE accounts SET user_id = $1", home.ana_user)
    exported: Any = await export_person(home.store, home.hooks, home.ana.account_id, LATER)
    assert [part["account"]["external_id"] for part in exported["linked"]] == ["ben"]
    assert [name["value"] for name in exported["linked"][0]["names"]] == ["Ben"]
