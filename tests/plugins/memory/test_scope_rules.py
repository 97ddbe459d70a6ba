import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.memory.scope_rules import ChannelNames, KnownChannel, Settled, Waiting, bare_name

GENERAL, PLANS = KnownChannel("1", "general"), KnownChannel("2", "plans")
TWINS = (KnownChannel("3", "Off-Topic"), KnownChannel("4", "off-topic"))
NAMES = ChannelNames((GENERAL, PLANS, *TWINS, KnownChannel("5", "\u200b")))


@pytest.mark.parametrize(
    ("tags", "ids"),
    [
        ([], ()),
        (["#general"], ("1",)),
        (["general"], ("1",)),
        ([" #GENERAL "], ("1",)),
        (["#ｇｅｎｅｒａｌ"], ("1",)),
        (["#plans", "#general", "#Plans"], ("1", "2")),
        (["<#2>", "#plans"], ("2",)),
    ],
)
def test_names_that_mean_one_channel_each(tags: list[str], ids: tuple[str, ...]) -> None:
    assert NAMES.settle(tags) == Settled(ids)


@pytest.mark.parametrize(
    ("tags", "unknown", "ambiguous"),
    [
        (["#gone"], ("#gone",), {}),
        (["#"], ("#",), {}),
        ([""], ("",), {}),
        (["<#99>"], ("<#99>",), {}),
        (["#off-topic"], (), {"#off-topic": ("3", "4")}),
        (["#general", "#gone"], ("#gone",), {}),
        (["#off-topic", "#general", "#gone", "#gone"], ("#gone",), {"#off-topic": ("3", "4")}),
    ],
)
def test_a_scope_is_settled_wholly_or_not_at_all(
    tags: list[str], unknown: tuple[str, ...], ambiguous: dict[str, tuple[str, ...]]
) -> None:
    found = NAMES.settle(tags)
    assert isinstance(found, Waiting)
    assert (found.unknown, dict(found.ambiguous)) == (unknown, ambiguous)


CHANNELS = st.lists(
    st.builds(KnownChannel, st.integers(1, 30).map(str), st.sampled_from(["general", "General", "plans", "#a", "b"])),
    max_size=8,
    unique_by=lambda channel: channel.external_id,
)
TAGS = st.lists(st.sampled_from(["#general", "#plans", "plans", "#a", "#b", "#c", "<#3>"]), max_size=4)


@given(CHANNELS, TAGS, st.randoms())
def test_the_order_does_not_matter_and_every_name_has_one_bearer(
    channels: list[KnownChannel], tags: list[str], random: object
) -> None:
    found = ChannelNames(channels).settle(tags)
    assert ChannelNames(reversed(channels)).settle(tags) == found
    by_name = {
        tag: [c.external_id for c in channels if bare_name(c.name) == bare_name(tag) or f"<#{c.external_id}>" == tag]
        for tag in tags
    }
    if isinstance(found, Settled):
        assert all(len(ids) == 1 for ids in by_name.values())
        assert set(found.channel_ids) == {ids[0] for ids in by_name.values()}
    else:
        assert set(found.unknown) == {tag for tag, ids in by_name.items() if not ids}
        assert set(found.ambiguous) == {tag for tag, ids in by_name.items() if len(ids) > 1}
