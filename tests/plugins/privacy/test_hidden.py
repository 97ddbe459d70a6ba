import pytest

from agent.contracts.context import LeftOut, Tag
from agent.turn.withhold import REASON
from tests.plugins.privacy.conftest import ANA, BEN, DIRECT, DIRECT_CHANNEL, GENERAL, HOME, House

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts


async def test_what_names_who_hides_is_withheld_while_they_hide(house: House) -> None:
    await house.meet(ANA, BEN)
    server, _ = await house.remember("Ben brings the cake")
    personal, _ = await house.remember("{user} works with ben", "me")
    await house.remember("{user} likes tea", "me")
    assert {"cake", "works", "tea"} <= set((await house.prompt()).split())
    await house.run("set", who=BEN, level="full")
    for place in ((HOME, GENERAL), (DIRECT, DIRECT_CHANNEL)):
        words = set((await house.prompt(ANA, "hello", *place)).split())
        assert not {"cake", "works"} & words, place
        assert "tea" in words
    built = await house.agent.build_prompt(HOME, GENERAL, ANA, "hello")
    assert built.left_out == (
        LeftOut(Tag.KNOWLEDGE_SERVER_MEMORIES, f"server_memory:{server.data['memory_id']}", REASON),
        LeftOut(Tag.KNOWLEDGE_USER_MEMORIES, f"personal_memory:{personal.data['memory_id']}", REASON),
    )
    await house.run("set", who=BEN, level="partial")
    assert {"cake", "works", "tea"} <= set((await house.prompt()).split())
