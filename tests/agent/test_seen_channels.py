from dataclasses import replace

from agent.places import Channel, ChannelRef, Place
from agent.seen_channels import SeenChannels
from tests.agent.turn.builders import a_place


def place(number: int = 1, name: str = "general", parent: str | None = None) -> Place:
    return replace(a_place(), channel=Channel(number, ChannelRef(str(number), name, parent_name=parent)))


def test_a_channel_is_news_once_and_again_under_another_name() -> None:
    seen = SeenChannels()
    assert seen.is_news(place())
    assert not seen.is_news(place())
    assert seen.is_news(place(2))
    assert seen.is_news(place(name="lobby"))
    assert not seen.is_news(place(name="lobby"))
    assert seen.is_news(place(2, parent="plans"))


def test_what_was_pushed_out_is_news_again() -> None:
    seen = SeenChannels(size=2)
    assert [seen.is_news(place(number)) for number in (1, 2, 3, 1, 3)] == [True, True, True, True, False]
