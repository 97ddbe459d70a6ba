"""All SQL of the plugin but that of its guard: rows in, frozen values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from agent.contracts.people import Speaker
from agent.events import MessageCreated, dump_event, load_event
from agent.hookspecs import Attribution
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.store.queries import load_queries
from plugins.message_proxy.rules import LIVE, is_command, without_content
from plugins.message_proxy.values import Expectation, Instance, Known

if TYPE_CHECKING:
    from asyncpg import Record

    from agent.contracts.people import Account
    from agent.places import ServerRef
    from agent.store.pool import Store
    from agent.tools import Connection, Json
    from plugins.message_proxy.services import Approved

QUERIES: Final = load_queries(__name__)
INDEX_KEPT: Final = timedelta(days=30)
ORIGINALS_KEPT: Final = timedelta(minutes=15)
"""Longer than a message that was held may be taken up again after a restart."""

MOST_HERE: Final = 1_000
"""Identities of one server that are found by name."""

type Spot = tuple[str, str, int]
"""A channel, and an instance in it: platform, channel id, instance id."""


class ProxyRepository:
    """Instances, choices, expectations, channels, and the index of messages."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def use(self, approved: Sequence[Approved]) -> tuple[Instance, ...]:
        """Return the instances with their rows, made where they are new."""
        async with self._store.connection() as conn:
            rows = [await conn.fetchrow(QUERIES["use_instance"], one.name, one.descriptor.service) for one in approved]
        return tuple(
            Instance(
                row["instance_id"],
                one.name,
                one.descriptor,
                one.origin,
                one.application_id,
                row["application_id"],
                one.prefixes,
            )
            for one, row in zip(approved, rows, strict=True)
            if row is not None
        )

    async def learn(self, instance_id: int, application_id: str, now: datetime) -> None:
        """Keep which application posts for an instance."""
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["learn_application"], instance_id, application_id, now)

    async def server_choice(self, server: ServerRef, key: str) -> dict[str, Any]:
        """Return what a server has chosen of one preference, by its key; empty where it has not."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["server_choice"], server.platform, server.external_id, key)
        return {row["key"]: row["value"] for row in rows}

    async def choices(self, account_id: int | None = None) -> dict[int, frozenset[int]]:
        """Return who uses which instances, by account."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["choices"], account_id)
        found: dict[int, frozenset[int]] = {}
        for row in rows:
            found[row["account_id"]] = found.get(row["account_id"], frozenset()) | {row["instance_id"]}
        return found

    async def choose(self, account_id: int, instance_id: int, now: datetime) -> None:
        """Keep that an account uses an instance."""
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["choose"], account_id, instance_id, now)

    async def unchoose(self, account_id: int) -> bool:
        """Keep that an account uses none any more; tell whether it did."""
        async with self._store.connection() as conn:
            return bool(await conn.fetch(QUERIES["unchoose"], account_id))

    async def channels(self, since: datetime) -> tuple[frozenset[Spot], frozenset[Spot]]:
        """Return where services were seen, and where somebody who uses them has spoken."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["channels"], since)
        spots = [((row["platform"], row["channel"], row["instance_id"]), row) for row in rows]
        seen = frozenset(spot for spot, row in spots if row["seen_at"] is not None)
        return seen, frozenset(spot for spot, row in spots if row["expected_at"] is not None)

    async def note_seen(self, spot: Spot, now: datetime) -> None:
        """Keep that a service was seen in a channel."""
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["note_channel"], *spot, now, None)

    async def note_expected(self, spot: Spot, now: datetime) -> None:
        """Keep that somebody who uses a service has spoken in a channel."""
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["note_channel"], *spot, None, now)

    async def expect(
        self, event: MessageCreated, account: Account, instances: Sequence[Instance]
    ) -> tuple[Expectation, ...]:
        """Keep that a message may be reposted through one of some instances."""
        kept = without_content(event)
        commands = [is_command(event.text, each.prefixes) for each in instances]
        async with self._store.connection() as conn:
            await conn.execute(
                QUERIES["expect"],
                event.platform,
                event.message_id,
                [each.instance_id for each in instances],
                event.channel.external_id,
                account.account_id,
                account.key.id,
                commands,
                dump_event(kept),
                event.occurred_at,
            )
        return tuple(
            Expectation(each.instance_id, account.account_id, account.key.id, kept, command)
            for each, command in zip(instances, commands, strict=True)
        )

    async def expected(self, repost: MessageCreated) -> tuple[Expectation, ...]:
        """Return what a message may be the repost of."""
        moment = repost.occurred_at
        async with self._store.connection() as conn:
            rows = await conn.fetch(
                QUERIES["expected"], repost.platform, repost.channel.external_id, moment - LIVE, moment + LIVE
            )
        return tuple(expectation for row in rows if (expectation := _expectation(row)) is not None)

    async def indexed(self, platform: str, message_id: str) -> tuple[Known, str] | None:
        """Return who said a message, with the id of its original; None when it was not attested."""
        async with self._store.connection() as conn:
            row = await conn.fetchrow(QUERIES["indexed"], platform, [message_id])
        return None if row is None else (known_from(row), row["original_id"])

    async def attributions(self, platform: str, message_ids: Sequence[str]) -> Mapping[str, Attribution]:
        """Return who said those of some messages that were attested."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["indexed"], platform, list(message_ids))
        return {
            row["message_id"]: Attribution(
                speaker_of(known_from(row)),
                ParticipantKey(ParticipantKind(row["account_kind"]), row["account_external_id"]),
            )
            for row in rows
        }

    async def identities_here(self, server_id: int) -> tuple[Attribution, ...]:
        """Return the identities that have spoken in a server, of very many the latest."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["identities_here"], server_id, MOST_HERE)
        return tuple(
            Attribution(_speaker(row), ParticipantKey(ParticipantKind(row["account_kind"]), row["account_external_id"]))
            for row in rows
        )

    async def servers(self) -> frozenset[int]:
        """Return the servers in which an identity has spoken."""
        async with self._store.connection() as conn:
            return frozenset(row["server_id"] for row in await conn.fetch(QUERIES["servers"]))

    async def forget_message(self, platform: str, message_id: str) -> None:
        """Forget who said a message that was deleted."""
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["forget_message"], platform, message_id)

    async def identities_of(self, account_id: int) -> tuple[Speaker, ...]:
        """Return the members of the systems that an account is a host of."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["identities_of"], account_id)
        return tuple(_speaker(row) for row in rows)

    async def erase(self, conn: Connection, account_id: int) -> dict[str, int]:
        """Let go of an account within an erasure; systems that it hosted stay with their other hosts."""
        await conn.fetch(QUERIES["lock_systems_of"], account_id)
        row = await conn.fetchrow(QUERIES["erase_account"], account_id)
        kinds = ("proxy_choices", "proxied_messages", "hosted_systems")
        return {} if row is None else {kind: row[kind] for kind in kinds}

    async def export(self, account_id: int) -> list[Json]:
        """Return what an account uses, as JSON."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["export_choices"], account_id)
        return [
            {"instance": row["instance"], "service": row["service"], "since": row["chosen_at"].isoformat()}
            for row in rows
        ]

    async def hosts_to_check(
        self, before: datetime, instance_ids: Sequence[int], most: int
    ) -> tuple[tuple[int, int, str], ...]:
        """Return hosts whose system was not asked for lately: account, instance, and the platform's id."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["hosts_to_check"], before, list(instance_ids), most)
        return tuple((row["account_id"], row["instance_id"], row["external_id"]) for row in rows)

    async def sweep(self, now: datetime) -> None:
        """Forget what is too old."""
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["sweep"], now - ORIGINALS_KEPT, now - INDEX_KEPT)


def key_of(instance: str, external_key: str) -> str:
    """Return the id of an identity's `ParticipantKey`."""
    return f"{instance}:{external_key}"


def known_from(row: Record) -> Known:
    """Return an identity of a row of `indexed`."""
    return Known(
        user_id=row["user_id"],
        key=key_of(row["instance"], row["external_key"]),
        name=row["name"],
        pronouns=row["pronouns"],
        system=row["system"],
        hosts=tuple(row["hosts"] or ()),
        account_id=row["account_id"],
        triggers=row["triggers"],
    )


def speaker_of(known: Known) -> Speaker:
    """Return an identity as one who speaks."""
    key = ParticipantKey(ParticipantKind.PROXY_IDENTITY, known.key)
    return Speaker(key, known.user_id, known.name, known.pronouns, known.system, known.hosts)


def _speaker(row: Record) -> Speaker:
    key = ParticipantKey(ParticipantKind.PROXY_IDENTITY, key_of(row["instance"], row["external_key"]))
    hosts = tuple(row["hosts"] or ())
    return Speaker(key, row["user_id"], row["name"], row["pronouns"], row["system"], hosts)


def _expectation(row: Record) -> Expectation | None:
    event = load_event(row["event"])
    if not isinstance(event, MessageCreated):
        return None
    return Expectation(row["instance_id"], row["account_id"], row["sender_id"], event, row["is_command"])
