from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agent.contracts.cards import CardKind
from agent.contracts.people import Denial, PrivacyLevel, Refusal, Speaker
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import Audience
from agent.preferences import Layer
from agent.preferences_repository import choose
from agent.tools import TurnLost
from plugins.memory.status import Status
from plugins.memory.toolbox import SELF_TEACHING
from tests.plugins.memory.stage import BACKROOM, DIRECT, DIRECT_CHANNEL, Stage, author
from tests.plugins.memory.world import DAY

ANA, BEN, CLEO = author("Ana"), author("Ben"), author("Cleo")
MATRIX = author("Mati", ParticipantKind.MATRIX_USER)


async def test_a_server_memory_is_saved_with_its_source_and_told_of(stage: Stage) -> None:
    context = await stage.context(ANA)
    result = await stage.create(context, " game night is every Friday at 20:00 ")
    assert result.status == Status.SAVED
    assert result.data["memory_scope"] == "server_wide"
    [row] = await stage.rows("SELECT * FROM server_memories")
    assert row["server_memory_id"] == result.data["memory_id"]
    assert (row["content"], row["persona_lineage_id"]) == ("game night is every Friday at 20:00", 1)
    assert (row["audience"], row["origin"], row["manually_written"]) == ("server", "model", False)
    assert (row["subject_account_id"], row["author_account_id"]) == (None, context.account.account_id)
    assert (row["source_tool"], row["source_message_id"]) == ("create_long_term_memory", "m1")
    assert stage.announced.owners == [f"server:{context.place.server.server_id}"]
    [(kept, [card])] = stage.effects.kept
    assert kept == result
    assert (card.kind, card.memory_id, card.about) == (CardKind.SAVED, result.data["memory_id"], "home")
    assert card.lines == ("game night is every Friday at 20:00",)
    assert "game night" not in card.title


async def test_a_personal_memory_is_of_the_person_who_is_meant(stage: Stage) -> None:
    context = await stage.context(ANA, BEN)
    await stage.tell(ANA, BEN)
    for target, name in (("Ben", "Ben"), ("@{ana}", "Ana"), ("me", "Ana"), (" ben ", "Ben")):
        result = await stage.create(context, f"likes {len(stage.effects.kept)} teas", target)
        assert (result.status, result.data["memory_scope"]) == (Status.SAVED, "target_user")
        assert stage.effects.cards[-1].about == name
    owners = await stage.rows(
        "SELECT a.display_name FROM personal_memories m JOIN accounts a ON a.account_id = m.subject_account_id "
        "AND a.user_id = m.user_id AND m.subject_user_id = m.user_id ORDER BY personal_memory_id"
    )
    assert [row["display_name"] for row in owners] == ["Ben", "Ana", "Ana", "Ben"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": "  \n"},
        {"content": ""},
        {"content": 7},
        {"content": None},
        {"content": "{char}"},
        {"content": "a", "memory_scope": "everywhere"},
        {"content": "a", "memory_scope": "target_user", "target": None},
        {"content": "a", "memory_scope": "target_user", "target_user": "  "},
    ],
)
async def test_what_does_not_fit_is_invalid(stage: Stage, arguments: dict[str, Any]) -> None:
    result = await stage.create(await stage.context(ANA), **arguments)
    assert result.status == Status.SAVE_INVALID_PARAMETERS
    assert await stage.rows("SELECT FROM server_memories") == []
    assert stage.effects.kept == []


async def test_a_target_beside_server_wide_is_not_looked_at(stage: Stage) -> None:
    result = await stage.create(await stage.context(ANA), "a", target_user="nobody")
    assert result.status == Status.SAVED


async def test_a_server_may_switch_saving_off(stage: Stage) -> None:
    context = await stage.context(ANA)
    async with stage.store.connection() as conn:
        await choose(conn, SELF_TEACHING, Layer.SERVER, context.place.server.server_id, value=False)
    assert (await stage.create(context, "a")).status == Status.SAVE_DISABLED
    assert (await stage.create(context, "a", "nobody")).status == Status.SAVE_DISABLED


async def test_an_account_may_save_so_much_an_hour(stage: Stage) -> None:
    stage.configure(saves_per_hour=2)
    ana, ben = await stage.context(ANA), await stage.context(BEN)
    assert [(await stage.create(ana, content)).status for content in ("a", "b", "c")] == [
        Status.SAVED,
        Status.SAVED,
        Status.SAVE_RATE_LIMITED,
    ]
    assert (await stage.create(ben, "c")).status == Status.SAVED
    stage.clock.advance(timedelta(hours=1))
    assert (await stage.create(ana, "d")).status == Status.SAVED


async def test_several_of_one_name_are_ambiguous_and_a_handle_tells_them_apart(stage: Stage) -> None:
    twin = author("Ana", number="2")
    context = await stage.context(BEN, ANA, twin)
    await stage.tell(ANA, twin)
    result = await stage.create(context, "likes tea", "Ana")
    assert result.status == Status.SAVE_AMBIGUOUS_USER
    candidates = result.data["candidates"]
    assert isinstance(candidates, list)
    handles = [candidate["handle"] for candidate in candidates if isinstance(candidate, dict)]
    assert len(handles) == 2
    for handle in handles:
        assert (await stage.create(context, "likes tea", str(handle))).status == Status.SAVED
    assert len(await stage.rows("SELECT DISTINCT user_id FROM personal_memories")) == 2


async def test_whose_name_looks_like_anothers_is_ambiguous_and_a_reference_tells_them_apart(stage: Stage) -> None:
    await stage.enter(author("Ben"))
    await stage.enter(author("\u0412en", number="7"))  # the first letter is Cyrillic
    context = await stage.context(ANA)
    result = await stage.create(context, "likes tea", "Ben")
    assert result.status == Status.SAVE_AMBIGUOUS_USER
    candidates = result.data["candidates"]
    assert isinstance(candidates, list)
    assert len(candidates) == 2
    for each in candidates:
        assert isinstance(each, dict)
        assert each["handle"] is None
        assert (await stage.create(context, "likes tea", str(each["target_user"]))).status == Status.SAVED
    assert len(await stage.rows("SELECT DISTINCT user_id FROM personal_memories")) == 2


async def test_nobody_is_guessed(stage: Stage) -> None:
    await stage.enter(author("Daniel"))
    result = await stage.create(await stage.context(ANA), "likes tea", "Daniela")
    assert (result.status, result.data["near_names"]) == (Status.SAVE_USER_NOT_FOUND, ["Daniel"])
    assert await stage.rows("SELECT FROM personal_memories") == []


async def test_the_bot_itself_falls_back_to_the_server(stage: Stage) -> None:
    result = await stage.create(await stage.context(ANA), "{bot} likes tea", "{bot}")
    assert (result.status, result.data["memory_scope"]) == (Status.SAVED, "server_wide")
    assert "you yourself" in str(result.data["note"])
    [row] = await stage.rows("SELECT content, subject_account_id FROM server_memories")
    assert row == {"content": "{bot} likes tea", "subject_account_id": None}


async def test_a_bridge_user_falls_back_to_the_server_as_its_subject(stage: Stage) -> None:
    context = await stage.context(ANA, MATRIX)
    result = await stage.create(context, "{user} plays the harp", "Mati")
    assert (result.status, result.data["memory_scope"]) == (Status.SAVED, "server_wide")
    assert "no account" in str(result.data["note"])
    [row] = await stage.rows("SELECT content, subject_account_id, subject_user_id FROM server_memories")
    _, mati = await stage.enter(MATRIX)
    assert row == {"content": "Mati plays the harp", "subject_account_id": mati.account_id, "subject_user_id": None}


@pytest.mark.parametrize("level", [PrivacyLevel.PARTIAL, PrivacyLevel.FULL])
async def test_a_restricted_bridge_user_is_refused_and_not_widened(stage: Stage, level: PrivacyLevel) -> None:
    context = await stage.context(ANA, MATRIX)
    await stage.set_privacy(MATRIX, level)
    result = await stage.create(context, "{user} plays the harp", "Mati")
    assert result.status == Status.SAVE_PRIVACY_RESTRICTED
    assert await stage.rows("SELECT FROM server_memories") == []


async def test_a_proxied_identity_stays_personal_and_needs_a_guard(stage: Stage) -> None:
    async with stage.store.connection() as conn:
        synthetic = await conn.fetchval(
            "INSERT INTO users (kind, created_at) VALUES ('synthetic', $1) RETURNING user_id", stage.clock.now()
        )
    mirri = Speaker(ParticipantKey(ParticipantKind.PROXY_IDENTITY, "pk:mirri"), synthetic, "Mirri")
    context = await stage.context(ANA, speaker=mirri)
    assert (await stage.create(context, "likes tea", "me")).status == Status.SAVE_HOST_PROTECTED
    stage.hooks.covered = True
    result = await stage.create(context, "likes tea", "me")
    assert (result.status, result.data["memory_scope"]) == (Status.SAVED, "target_user")
    [row] = await stage.rows("SELECT user_id, subject_account_id, subject_user_id FROM personal_memories")
    assert row == {"user_id": synthetic, "subject_account_id": None, "subject_user_id": synthetic}
    assert (await stage.create(context, "{user} hosts game night")).status == Status.SAVED
    [row] = await stage.rows("SELECT subject_account_id, subject_user_id FROM server_memories")
    assert row == {"subject_account_id": None, "subject_user_id": synthetic}
    await stage.set_privacy(ANA, PrivacyLevel.FULL)
    assert (await stage.create(context, "likes coffee", "me")).status == Status.SAVE_HOST_PROTECTED


async def test_content_that_is_too_long_says_both_numbers(stage: Stage) -> None:
    result = await stage.create(await stage.context(ANA), "x" * 1001)
    assert (result.status, dict(result.data)) == (Status.SAVE_TOO_LONG, {"length": 1001, "limit": 1000})


@pytest.mark.parametrize("level", [PrivacyLevel.PARTIAL, PrivacyLevel.FULL])
async def test_privacy_refuses_what_is_about_the_person_and_nothing_else(stage: Stage, level: PrivacyLevel) -> None:
    context = await stage.context(ANA, BEN)
    await stage.set_privacy(ANA, level)
    assert (await stage.create(context, "likes tea", "me")).status == Status.SAVE_PRIVACY_RESTRICTED
    assert (await stage.create(context, "{user} likes tea")).status == Status.SAVE_PRIVACY_RESTRICTED
    assert (await stage.create(context, "game night is Friday")).status == Status.SAVED


async def test_the_blacklist_refuses(stage: Stage) -> None:
    context = await stage.context(ANA)
    await stage.privacy.blacklist_add(context.place.server.server_id, context.account.account_id, stage.clock.now())
    assert (await stage.create(context, "likes tea", "me")).status == Status.SAVE_BLACKLISTED


async def test_what_was_said_before_somebody_was_forgotten_is_not_kept(stage: Stage) -> None:
    context = await stage.context(ANA, said_at=stage.clock.now())
    async with stage.store.connection() as conn:
        await conn.execute("UPDATE accounts SET forgotten_before = $1", stage.clock.now() + timedelta(seconds=1))
    assert (await stage.create(context, "likes tea", "me")).status == Status.SAVE_FORGOTTEN


@pytest.mark.parametrize("hook", ["guard_memory_write", "recheck_memory_write"])
@pytest.mark.parametrize(
    ("code", "status"),
    [
        (Refusal.HOST_PROTECTED, Status.SAVE_HOST_PROTECTED),
        (Refusal.NO_GUARD, Status.SAVE_HOST_PROTECTED),
        (Refusal.GUARD_FAILED, Status.SAVE_REFUSED),
        (Refusal.OTHER, Status.SAVE_REFUSED),
        (Refusal.BLACKLISTED, Status.SAVE_BLACKLISTED),
    ],
)
async def test_a_plugins_guard_refuses_before_and_inside(
    stage: Stage, hook: str, code: Refusal, status: Status
) -> None:
    stage.hooks.denials[hook] = Denial(code, "no")
    result = await stage.create(await stage.context(ANA), "a")
    assert (result.status, result.data["note"]) == (status, "no")
    assert await stage.rows("SELECT FROM server_memories") == []
    assert await stage.rows("SELECT FROM memory_events") == []
    assert stage.effects.kept == []


async def test_lineage_0_is_refused_after_the_guards(stage: Stage) -> None:
    context = await stage.context(ANA, lineage=0)
    assert (await stage.create(context, "a")).status == Status.SAVE_INVALID_LINEAGE
    assert (await stage.create(context, "a", "me")).status == Status.SAVE_INVALID_LINEAGE
    stage.hooks.denials["guard_memory_write"] = Denial(Refusal.BLACKLISTED, "no")
    assert (await stage.create(context, "a")).status == Status.SAVE_BLACKLISTED


async def test_at_the_cap_the_save_is_refused_and_nothing_changes(stage: Stage) -> None:
    stage.configure(max_server_memories=1, max_personal_memories=1)
    context = await stage.context(ANA)
    await stage.tell(ANA)
    targets: tuple[str | None, ...] = (None, "me")
    for target in targets:
        assert (await stage.create(context, "a", target)).status == Status.SAVED
        stage.clock.advance(90 * DAY)
        result = await stage.create(context, "b", target)
        assert (result.status, result.data["limit"]) == (Status.SAVE_LIMIT_EXCEEDED, 1)
        assert "memory_id" not in result.data
    assert len(stage.effects.kept) == 2
    assert len(stage.announced.owners) == 2


async def test_what_is_known_already_is_not_saved_again(stage: Stage) -> None:
    context = await stage.context(ANA)
    first = await stage.create(context, "Game night is Friday.")
    again = await stage.create(context, "game night is friday")
    assert (again.status, again.data["memory_id"]) == (Status.ALREADY_KNOWN, first.data["memory_id"])
    assert [len(cards) for _, cards in stage.effects.kept] == [1, 0]


async def test_a_lost_turn_keeps_nothing(stage: Stage) -> None:
    stage.effects.fails_with = TurnLost()
    with pytest.raises(TurnLost):
        await stage.create(await stage.context(ANA), "a")
    assert await stage.rows("SELECT FROM server_memories") == []
    assert await stage.rows("SELECT FROM memory_events") == []
    assert [
        row["owner"] for row in await stage.rows("SELECT owner FROM owner_revisions") if "server" in row["owner"]
    ] == []
    assert stage.announced.owners == []


async def test_a_database_that_is_away_is_a_result(stage: Stage) -> None:
    context = await stage.context(ANA)
    await stage.store.close()
    assert (await stage.create(context, "a")).status == Status.SAVE_UNAVAILABLE
    assert (await stage.update(context, 1, "a")).status == Status.UPDATE_UNAVAILABLE
    await stage.store.open()


@pytest.mark.parametrize(
    ("where", "target", "audience"),
    [
        ("public", None, Audience.SERVER),
        ("public", "me", Audience.OPEN),
        ("restricted", None, Audience.CHANNEL),
        ("restricted", "me", Audience.CHANNEL),
        ("direct", None, Audience.CHANNEL),
        ("direct", "me", Audience.PERSON),
    ],
)
async def test_the_audience_is_who_could_hear_it(
    stage: Stage, where: str, target: str | None, audience: Audience
) -> None:
    places: dict[str, dict[str, Any]] = {
        "public": {},
        "restricted": {"channel": BACKROOM},
        "direct": {"server": DIRECT, "channel": DIRECT_CHANNEL},
    }
    result = await stage.create(await stage.context(ANA, **places[where]), "a", target)
    assert result.status == Status.SAVED
    table = "server_memories" if target is None else "personal_memories"
    [row] = await stage.rows(f"SELECT audience FROM {table}")  # noqa: S608  # a table of ours
    assert row["audience"] == audience
    assert stage.effects.cards[0].audience is audience


async def test_content_that_says_user_is_about_the_speaker(stage: Stage) -> None:
    context = await stage.context(ANA, BEN)
    await stage.tell(ANA)
    assert (await stage.create(context, "{user} hosts game night")).status == Status.SAVED
    [row] = await stage.rows("SELECT subject_account_id, subject_user_id FROM server_memories")
    assert row == {"subject_account_id": context.account.account_id, "subject_user_id": context.account.user_id}


async def test_handles_in_content_become_names(stage: Stage) -> None:
    context = await stage.context(ANA, BEN, CLEO)
    await stage.set_privacy(CLEO, PrivacyLevel.PARTIAL)
    context = await stage.context(ANA, BEN, CLEO)
    await stage.create(context, "@{ben} and @{cleo} host {game} night with @{nobody}")
    [row] = await stage.rows("SELECT content FROM server_memories")
    assert row["content"] == "Ben and @ host  night with @"


async def test_a_person_is_told_once_that_the_agent_remembers(stage: Stage) -> None:
    context = await stage.context(ANA, BEN)
    await stage.create(context, "game night is Friday")
    assert [card.kind for card in stage.effects.cards] == [CardKind.SAVED]
    await stage.create(context, "likes tea", "Ben")
    assert [card.kind for card in stage.effects.cards[1:]] == [CardKind.SAVED, CardKind.DISCLOSURE]
    disclosure = stage.effects.cards[-1]
    assert disclosure.about == "Ben"
    assert any("/privacy" in line for line in disclosure.lines)
    await stage.create(context, "likes coffee", "Ben")
    await stage.create(context, "likes tea", "Ben")
    assert [card.kind for card in stage.effects.cards[3:]] == [CardKind.SAVED]
    told = await stage.rows("SELECT display_name FROM accounts WHERE disclosed_at IS NOT NULL")
    assert told == [{"display_name": "Ben"}]


async def test_a_lost_turn_has_told_nobody(stage: Stage) -> None:
    context = await stage.context(ANA)
    stage.effects.fails_with = TurnLost()
    with pytest.raises(TurnLost):
        await stage.create(context, "likes tea", "me")
    assert await stage.rows("SELECT FROM accounts WHERE disclosed_at IS NOT NULL") == []
    stage.effects.fails_with = None
    await stage.create(context, "likes tea", "me")
    assert stage.effects.cards[-1].kind is CardKind.DISCLOSURE


async def test_cards_call_people_by_their_names(stage: Stage) -> None:
    context = await stage.context(ANA, MATRIX)
    await stage.enter(BEN)
    await stage.tell(ANA, BEN, MATRIX)
    for content, target in (
        ("{user} taught {bot}", "me"),
        ("{user} taught {bot}", None),
        ("{user} taught {bot}", "Ben"),
        ("{user} taught {bot}", "Mati"),
    ):
        assert (await stage.create(context, content, target)).status == Status.SAVED
    assert [card.lines for card in stage.effects.cards] == [
        ("Ana taught Isthmus",),
        ("Ana taught Isthmus",),
        ("Ben taught Isthmus",),
        ("Mati taught Isthmus",),
    ]
    assert [card.about for card in stage.effects.cards] == ["Ana", "home", "Ben", "Mati"]


async def test_cards_speak_the_language_of_the_deployment(stage: Stage) -> None:
    stage.toolbox = replace(stage.toolbox, locale="de")
    context = await stage.context(ANA)
    result = await stage.create(context, "likes tea", "me")
    await stage.update(context, result.data["memory_id"], "", "me")
    titles = [card.title for card in stage.effects.cards]
    assert titles == ["Erinnerung gespeichert", "Über das Gedächtnis", "Erinnerung gelöscht"]
