from typing import Any

import pytest

from agent.contracts.cards import CardKind
from agent.contracts.people import Denial, PrivacyLevel, Refusal, Speaker
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.preferences import Layer
from agent.preferences_repository import choose
from agent.tools import ToolContext, ToolResult, TurnLost
from plugins.memory.recall import Admitted
from plugins.memory.rendering import entry
from plugins.memory.status import Status
from plugins.memory.toolbox import SELF_TEACHING
from tests.plugins.memory.stage import BACKROOM, DIRECT, DIRECT_CHANNEL, Stage, author

ANA, BEN = author("Ana"), author("Ben")
MATRIX = author("Mati", ParticipantKind.MATRIX_USER)


async def saved(stage: Stage, context: ToolContext, content: str = "a", target: str | None = None) -> int:
    result = await stage.create(context, content, target)
    memory_id = result.data["memory_id"]
    assert isinstance(memory_id, int)
    return memory_id


async def see(stage: Stage, context: ToolContext) -> None:
    """Show the turn what is remembered, as its prompt does."""
    user = context.account.user_id
    server, lineage = context.place.server.server_id, context.persona.lineage_id
    rows = await stage.repository.block(server, [] if user is None else [user], lineage)
    stage.seen.show(context.turn_id, Admitted(list(rows), [entry(row, row.content, "") for row in rows]))


async def test_an_update_replaces_the_content_and_keeps_everything_else(stage: Stage) -> None:
    context = await stage.context(ANA, channel=BACKROOM)
    memory_id = await saved(stage, context)
    before = (await stage.rows("SELECT * FROM server_memories"))[0]
    ben = await stage.context(BEN, channel=BACKROOM, turn_id="t2")
    result = await stage.update(ben, memory_id, " b\x00{char} ")
    assert (result.status, dict(result.data)) == (Status.UPDATED, {"memory_id": memory_id})
    after = (await stage.rows("SELECT * FROM server_memories"))[0]
    changed = {key for key in before if before[key] != after[key]}
    assert changed == {"content", "content_key", "version", "words"}
    assert (after["content"], after["version"]) == ("b", 2)
    card = stage.effects.cards[-1]
    assert (card.kind, card.lines, card.memory_id, card.audience) == (CardKind.UPDATED, ("b",), memory_id, "channel")
    assert stage.announced.owners == [f"server:{context.place.server.server_id}"] * 2


async def test_placeholders_are_told_as_names(stage: Stage) -> None:
    context = await stage.context(ANA, BEN)
    for target in (None, "me"):
        memory_id = await saved(stage, context, "{user} likes <@console:ben> and {bot}", target)
        result = await stage.update(await stage.context(BEN, ANA), memory_id, "", None if target is None else "Ana")
        assert result.data["content_forgotten"] == "Ana likes @Ben and Isthmus"
        assert stage.effects.cards[-1].forgotten == "Ana likes @Ben and Isthmus"


async def test_empty_content_deletes_and_returns_the_text(stage: Stage) -> None:
    context = await stage.context(ANA)
    for target, content in ((None, "server fact"), ("me", "personal fact")):
        memory_id = await saved(stage, context, content, target)
        result = await stage.update(context, memory_id, " \n", target)
        assert (result.status, dict(result.data)) == (
            Status.DELETED,
            {"memory_id": memory_id, "content_forgotten": content},
        )
        card = stage.effects.cards[-1]
        assert (card.kind, card.forgotten) == (CardKind.DELETED, content)
        assert [line.endswith(f"/memories undo {memory_id}") for line in card.lines] == [True]
        assert (await stage.update(context, memory_id, "", target)).status == Status.UPDATE_NOT_FOUND
    copies = await stage.rows("SELECT reason, memory FROM forgotten_memories ORDER BY memory_id")
    assert [(copy["reason"], copy["memory"]["content"]) for copy in copies] == [
        ("deleted", "server fact"),
        ("deleted", "personal fact"),
    ]


async def test_whatever_is_not_this_owners_is_not_found_in_the_same_words(stage: Stage) -> None:
    ana, ben = await stage.context(ANA, BEN), await stage.context(BEN, ANA)
    server = await saved(stage, ana, "of the server")
    personal = await saved(stage, ana, "of ana", "me")
    hidden = await saved(stage, await stage.context(ANA, channel=BACKROOM), "of the backroom")
    direct = await saved(stage, await stage.context(ANA, server=DIRECT, channel=DIRECT_CHANNEL), "in private", "me")
    other_server = await stage.context(ANA, server=DIRECT, channel=DIRECT_CHANNEL)
    other_lineage = await stage.context(ANA, lineage=2)
    answers: list[ToolResult] = []
    for content in ("b", ""):
        answers += [
            await stage.update(ana, 987_654, content),
            await stage.update(ana, personal, content),
            await stage.update(ana, server, content, "me"),
            await stage.update(ben, personal, content, "me"),
            await stage.update(ana, hidden, content),
            await stage.update(ana, direct, content, "me"),
            await stage.update(other_server, server, content),
            await stage.update(other_lineage, server, content),
            await stage.update(other_lineage, personal, content, "me"),
        ]
    assert {(answer.status, str(dict(answer.data))) for answer in answers} == {
        (Status.UPDATE_NOT_FOUND, str(dict(answers[0].data)))
    }
    assert await stage.rows("SELECT FROM forgotten_memories") == []


@pytest.mark.parametrize("memory_id", ["x", 0, -1, 2**63, 1.5, None])
async def test_an_id_that_is_none_is_invalid(stage: Stage, memory_id: Any) -> None:
    assert (await stage.update(await stage.context(ANA), memory_id, "b")).status == Status.UPDATE_INVALID_PARAMETERS


async def test_content_of_which_nothing_is_left_does_not_delete(stage: Stage) -> None:
    context = await stage.context(ANA)
    memory_id = await saved(stage, context)
    assert (await stage.update(context, memory_id, "{char}")).status == Status.UPDATE_INVALID_PARAMETERS
    result = await stage.update(context, memory_id, "x" * 1001)
    assert (result.status, dict(result.data)) == (Status.UPDATE_TOO_LONG, {"length": 1001, "limit": 1000})
    assert [row["content"] for row in await stage.rows("SELECT content FROM server_memories")] == ["a"]


async def test_where_saving_is_switched_off_deleting_stays(stage: Stage) -> None:
    context = await stage.context(ANA)
    memory_id = await saved(stage, context)
    async with stage.store.connection() as conn:
        await choose(conn, SELF_TEACHING, Layer.SERVER, context.place.server.server_id, value=False)
    assert (await stage.update(context, memory_id, "b")).status == Status.UPDATE_DISABLED
    assert (await stage.update(context, memory_id, "")).status == Status.DELETED


async def test_only_a_person_with_memories_of_their_own_can_be_meant(stage: Stage) -> None:
    context = await stage.context(ANA, MATRIX, BEN, author("Ben", number="2"))
    answers = {
        target: (await stage.update(context, 1, "b", target)).status for target in ("Mati", "{bot}", "Ben", "Nobody")
    }
    assert answers == {
        "Mati": Status.UPDATE_INVALID_TARGET,
        "{bot}": Status.UPDATE_INVALID_TARGET,
        "Ben": Status.UPDATE_AMBIGUOUS_USER,
        "Nobody": Status.UPDATE_USER_NOT_FOUND,
    }


async def test_privacy_blocks_updates_and_never_deletions(stage: Stage) -> None:
    context = await stage.context(ANA)
    personal = await saved(stage, context, "likes tea", "me")
    server = await saved(stage, context, "{user} hosts")
    await stage.set_privacy(ANA, PrivacyLevel.FULL)
    assert (await stage.update(context, personal, "b", "me")).status == Status.UPDATE_PRIVACY_RESTRICTED
    assert (await stage.update(context, server, "b")).status == Status.UPDATE_PRIVACY_RESTRICTED
    assert (await stage.update(context, personal, "", "me")).status == Status.DELETED
    assert (await stage.update(context, server, "")).status == Status.DELETED


async def test_the_blacklist_and_an_erasure_block_updates(stage: Stage) -> None:
    context = await stage.context(ANA)
    personal = await saved(stage, context, "likes tea", "me")
    await stage.privacy.blacklist_add(context.place.server.server_id, context.account.account_id, stage.clock.now())
    assert (await stage.update(context, personal, "b", "me")).status == Status.UPDATE_BLACKLISTED
    await stage.privacy.blacklist_remove(context.place.server.server_id, context.account.account_id)
    async with stage.store.connection() as conn:
        await conn.execute("UPDATE accounts SET forgotten_before = $1", stage.clock.now())
    assert (await stage.update(context, personal, "b", "me")).status == Status.UPDATE_FORGOTTEN


@pytest.mark.parametrize("hook", ["guard_memory_write", "recheck_memory_write"])
async def test_a_plugins_guard_blocks_updates_and_never_deletions(stage: Stage, hook: str) -> None:
    context = await stage.context(ANA)
    memory_id = await saved(stage, context)
    stage.hooks.denials[hook] = Denial(Refusal.OTHER, "no")
    assert (await stage.update(context, memory_id, "b")).status == Status.UPDATE_REFUSED
    assert (await stage.update(context, memory_id, "")).status == Status.DELETED


async def test_hosts_are_asked_for_a_proxied_identity(stage: Stage) -> None:
    async with stage.store.connection() as conn:
        synthetic = await conn.fetchval(
            "INSERT INTO users (kind, created_at) VALUES ('synthetic', $1) RETURNING user_id", stage.clock.now()
        )
    mirri = Speaker(ParticipantKey(ParticipantKind.PROXY_IDENTITY, "pk:mirri"), synthetic, "Mirri")
    context = await stage.context(ANA, speaker=mirri)
    stage.hooks.covered = True
    memory_id = await saved(stage, context, "likes tea", "me")
    stage.hooks.covered = False
    assert (await stage.update(context, memory_id, "b", "me")).status == Status.UPDATE_HOST_PROTECTED
    assert (await stage.update(context, memory_id, "", "me")).status == Status.DELETED


async def test_lineage_0_is_refused(stage: Stage) -> None:
    context = await stage.context(ANA, lineage=0)
    assert (await stage.update(context, 1, "b")).status == Status.UPDATE_INVALID_LINEAGE
    assert (await stage.update(context, 1, "", "me")).status == Status.UPDATE_INVALID_LINEAGE


async def test_an_update_of_what_somebody_changed_meanwhile_is_refused_with_the_present_text(stage: Stage) -> None:
    first, second = await stage.context(ANA, turn_id="t1"), await stage.context(BEN, turn_id="t2")
    memory_id = await saved(stage, first)
    await see(stage, first)
    await see(stage, second)
    assert (await stage.update(second, memory_id, "b")).status == Status.UPDATED
    assert (await stage.update(second, memory_id, "b again")).status == Status.UPDATED
    result = await stage.update(first, memory_id, "c")
    assert (result.status, result.data["content"]) == (Status.UPDATE_CONFLICT, "b again")
    # It has now been told what the memory says, so its next word counts.
    assert (await stage.update(first, memory_id, "c")).status == Status.UPDATED
    assert [row["version"] for row in await stage.rows("SELECT version FROM server_memories")] == [4]


async def test_content_that_now_says_user_gets_the_speaker_as_subject(stage: Stage) -> None:
    context = await stage.context(ANA)
    memory_id = await saved(stage, context)
    await stage.update(context, memory_id, "{user} hosts")
    assert (await stage.rows("SELECT subject_account_id FROM server_memories"))[0] == {
        "subject_account_id": context.account.account_id
    }
    ben = await stage.context(BEN, turn_id="t2")
    await stage.update(ben, memory_id, "{user} hosts no more")
    assert (await stage.rows("SELECT subject_account_id FROM server_memories"))[0] == {
        "subject_account_id": context.account.account_id
    }


@pytest.mark.parametrize("content", ["b", ""])
async def test_a_lost_turn_changes_nothing(stage: Stage, content: str) -> None:
    context = await stage.context(ANA)
    memory_id = await saved(stage, context)
    before = await stage.rows("SELECT * FROM server_memories"), await stage.rows("SELECT * FROM memory_events")
    stage.effects.fails_with = TurnLost()
    with pytest.raises(TurnLost):
        await stage.update(context, memory_id, content)
    after = await stage.rows("SELECT * FROM server_memories"), await stage.rows("SELECT * FROM memory_events")
    assert before == after


@pytest.mark.parametrize("level", [PrivacyLevel.PARTIAL, PrivacyLevel.FULL])
async def test_what_may_not_be_shown_can_be_deleted_unseen(stage: Stage, level: PrivacyLevel) -> None:
    ana, ben = await stage.context(ANA, BEN), await stage.context(BEN, ANA)
    about_ana = await saved(stage, ana, "{user} hosts")
    own = await saved(stage, ana, "likes tea", "me")
    naming = await saved(stage, ben, "ask Ana")
    await stage.set_privacy(ANA, level)
    shown = level is PrivacyLevel.PARTIAL  # then her name may be said
    for context, memory_id, target, text in (
        (ben, about_ana, None, ""),
        (await stage.context(ANA, BEN), own, "me", ""),
        (ben, naming, None, "ask Ana" if shown else ""),
    ):
        result = await stage.update(context, memory_id, "", target)
        assert (result.status, result.data["content_forgotten"]) == (Status.DELETED, text)
        assert stage.effects.cards[-1].forgotten == (text or None)
    assert len(await stage.rows("SELECT FROM forgotten_memories")) == 3
