"""A notice that is too long: shortened, and its whole text had by a button after a restart, or as a file beside it."""

from __future__ import annotations

from typing import Any

from agent.bridge import Capabilities
from agent.contracts.cards import ActionKind, Card
from agent.fitting import card_text
from agent.steps import read_step, step_id, step_of
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform

SETTINGS: dict[str, Any] = {"plugins": {"memory": {}, "privacy": {}}}
LONG = "like " + " and ".join(f"the tea number {number}" for number in range(30))
LIMIT = 300


def platform_with(*, actions: bool) -> FakePlatform:
    capabilities = Capabilities(2000, has_idempotency_key=True, card_limit=LIMIT, actions=actions)
    return FakePlatform(capabilities=capabilities)


async def saved_card(platform: FakePlatform) -> Card:
    await platform.ask("ana", f"remember that I {LONG}")
    notices = await platform.notices(2)
    assert notices[0].card is not None
    assert len(card_text(notices[0].card)) <= LIMIT
    return notices[0].card


async def test_a_button_shows_the_whole_text_after_a_restart_and_to_its_person_alone(database_url: str) -> None:
    platform = platform_with(actions=True)
    async with running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform)):
        card = await saved_card(platform)
    [expand] = [each for each in card.actions if each.kind is ActionKind.EXPAND]
    identifier = step_id(step_of(expand))
    assert identifier is not None
    async with running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform)) as agent:
        command, options = read_step(identifier, agent.commands)
        reply = await platform.run_command("ana", *command.path, **options)
        assert reply.file is not None
        assert (reply.private, reply.file.name) == (True, "notice.txt")
        assert LONG.partition(" ")[2] in reply.file.content.decode()
        for other in ("ben", "boss"):
            platform.person("boss", can_manage=True)
            refused = await platform.run_command(other, *command.path, **options)
            assert (refused.ok, refused.file) == (False, None)
        await platform.run_command("ana", "personal", "memories", "remove", ids=str(card.memory_id))
        [undo] = [each for each in card.actions if each.kind is ActionKind.UNDO]
        given: dict[str, Any] = dict(undo.options)
        stale = await platform.run_command("ana", *undo.path, **given)
        assert (stale.ok, stale.private) == (False, True)


async def test_where_there_are_no_buttons_the_whole_text_goes_along(database_url: str) -> None:
    platform = platform_with(actions=False)
    async with running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform)) as agent:
        await saved_card(platform)
        file = platform.from_agent[0].file or platform.from_agent[1].file
        assert file is not None
        assert LONG.partition(" ")[2] in file.content.decode()
        async with agent.core.store.connection() as conn:
            assert await conn.fetchval("SELECT count(*) FROM outbox WHERE payload IS NOT NULL AND state = 'sent'") == 0
