"""Notices as embeds with buttons."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.bridge import OutgoingMessage, Sent
from agent.contracts.cards import ActionKind, Card, CardAction, CardKind
from agent.fitting import fitted
from agent.notices import title_only
from agent.places import ChannelRef, ServerRef
from agent.testing.recording_host import RecordingHost
from bridges.discord.bridge import CAPABILITIES
from bridges.discord.cards import COLOURS, DESCRIPTION, buttons_of, embed_of, has_undo, text_of, undone
from bridges.discord.escaping import escaped
from tests.bridges.discord.sending import bridge_in, to
from tests.servers.discord.drafts import check
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import NONE, Permission
from tests.servers.discord.records import Draft

UNDO = CardAction(ActionKind.UNDO, "Undo", ("memories", "undo"), {"id": 7}, "/memories undo 7")
WIDEN = CardAction(ActionKind.WIDEN, "Let all know", ("memories", "widen"), {"id": 7}, "/memories widen 7")
EXPAND = CardAction(ActionKind.EXPAND, "Show all", ("memories", "notice"), {"id": 7}, "/memories notice 7")
WHERE, SERVER = ChannelRef("1", "general"), ServerRef("discord", "2", "Garden")
CARD = Card(
    CardKind.EVICTED, "Memory saved", ("Ana likes *tea*", "Undo: /memories undo 7"), 7, "Ana", "Ana likes @coffee"
)


def test_a_card_in_full() -> None:
    assert embed_of(CARD) == {
        "color": 0xE67E22,
        "title": "Memory saved",
        "description": "Ana likes \\*tea\\*\nUndo: /memories undo 7\n~~Ana likes \\@coffee~~",
        "footer": {"text": "Ana · ID 7"},
    }


def test_a_card_with_its_title_alone() -> None:
    card = title_only(replace(CARD, actions=(UNDO, EXPAND)))
    assert embed_of(card) == {"color": 0xE67E22, "title": "Memory saved", "footer": {"text": "ID 7"}}
    assert [button["label"] for row in buttons_of(card) for button in row["components"]] == ["Undo"]


def test_every_kind_has_a_colour_of_its_own() -> None:
    assert set(COLOURS) == set(CardKind)
    assert len(set(COLOURS.values())) == len(CardKind)


def test_buttons_run_commands_and_stand_in_rows_of_five() -> None:
    actions = tuple(replace(UNDO, options={"id": number}) for number in range(6))
    rows = buttons_of(replace(CARD, actions=(*actions, actions[0], WIDEN)))
    assert [len(row["components"]) for row in rows] == [5, 2]
    assert rows[0]["components"][1] == {"type": 2, "style": 4, "label": "Undo", "custom_id": "do:memories.undo?id=1"}
    assert rows[1]["components"][-1]["style"] == 1


def test_an_action_without_a_button_is_told_in_words() -> None:
    card = replace(CARD, lines=(), forgotten=None, actions=(replace(UNDO, options={"text": "x" * 100}),))
    assert buttons_of(card) == []
    assert embed_of(card)["description"] == "Undo: /memories undo 7"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, 1.5 of them", "plain words, 1.5 of them"),
        ("**b** _i_ ~~s~~ `c` ||h||", r"\*\*b\*\* \_i\_ \~\~s\~\~ \`c\` \|\|h\|\|"),
        ("[link](https://x.org)", r"\[link\]\(https://x.org\)"),
        ("<@1> <#2> <t:3> @everyone", r"\<\@1\> \<\#2\> \<t:3\> \@everyone"),
        ("# big\n- item\n1. first\n> quote", "\\# big\n\\- item\n1\\. first\n\\> quote"),
        ("a - b", "a - b"),
        ("\\", "\\\\"),
    ],
)
def test_texts_are_data(text: str, shown: str) -> None:
    assert escaped(text) == shown


_TEXTS = st.text(st.sampled_from("*_a<@>\n- 1.😀é")) | st.text()


@given(
    title=_TEXTS,
    lines=st.lists(_TEXTS.map(lambda text: text * 40), max_size=4),
    forgotten=st.none() | _TEXTS.map(lambda text: text * 60),
    actions=st.sampled_from([(), (UNDO,), (UNDO, WIDEN, EXPAND)]),
)
def test_every_card_is_one_that_discord_takes(
    title: str, lines: list[str], forgotten: str | None, actions: tuple[CardAction, ...]
) -> None:
    card = Card(CardKind.SAVED, title, tuple(lines), 7, title, forgotten, actions=actions)
    shown = fitted(OutgoingMessage("k", "discord", WHERE, SERVER, title, card=card), CAPABILITIES).card
    assert shown is not None
    embed = embed_of(shown)
    assert len(embed.get("description", "")) <= DESCRIPTION
    check(Draft("", (embed,), tuple(buttons_of(shown))))
    check(Draft(text_of(shown)), empty_is_fine=True)


def test_a_card_that_was_taken_back_says_so_and_has_no_buttons() -> None:
    card = replace(CARD, actions=(UNDO, EXPAND))
    rows = buttons_of(card)
    message = {"embeds": [{**embed_of(card), "type": "rich"}], "components": rows}
    [undo, expand] = [button["custom_id"] for button in rows[0]["components"]]
    assert (has_undo(message, undo), has_undo(message, expand), has_undo(message, "do:other?")) == (True, False, False)
    assert has_undo({}, undo) is False
    before = embed_of(card)
    assert undone(message, "en") == {
        "components": [],
        "allowed_mentions": {"parse": []},
        "embeds": [{**before, "title": f"{before['title']} (undone)", "color": COLOURS[CardKind.INFO]}],
    }
    assert undone(message, "de")["embeds"][0]["title"].endswith("(zurückgenommen)")
    assert len(undone({"embeds": [{"title": "x" * 256}]}, "en")["embeds"][0]["title"]) == 256
    assert "embeds" not in undone({"content": "**Memory saved**", "components": rows}, "en")


async def test_a_card_is_drawn_changed_and_found(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    general = guild.channel("general")
    card = replace(CARD, actions=(UNDO,))
    async with bridge_in(discord) as bridge:
        message = to(guild, general, card.title, card=card)
        sent = await bridge.send(message)
        assert isinstance(sent, Sent)
        assert await bridge.find_sent(message) == sent
        assert await bridge.find_sent(to(guild, general, card.title, "k2", card=replace(card, lines=("tea",)))) is None
        await bridge.edit(sent.message_id, to(guild, general, "Memory deleted", card=replace(card, title="Gone")))
    [shown] = discord.messages(general)
    assert shown.embeds[0]["title"] == "Gone"
    assert shown.content == ""
    assert [each["custom_id"] for each in shown.components[0]["components"]] == ["do:memories.undo?id=7"]


async def test_a_long_card_has_a_button_to_see_all(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    general = guild.channel("general")
    card = replace(CARD, lines=("*" * 5_000,), actions=(UNDO, EXPAND))
    async with bridge_in(discord) as bridge:
        await bridge.send(fitted(to(guild, general, card.title, card=card), bridge.capabilities))
    [shown] = discord.messages(general)
    assert 3_500 < len(shown.embeds[0]["description"]) <= DESCRIPTION
    assert [each["label"] for each in shown.components[0]["components"]] == ["Undo", "Show all"]
    assert shown.attachments == ()


async def test_where_embeds_are_not_allowed_a_card_is_a_text(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden", permissions=Permission.VIEW_CHANNEL)
    general = guild.channel("general", rules={guild.everyone: (NONE, Permission.EMBED_LINKS)})
    async with bridge_in(discord, RecordingHost()) as bridge:
        await bridge.send(to(guild, general, CARD.title, card=replace(CARD, actions=(UNDO,))))
    [shown] = discord.messages(general)
    assert shown.content.startswith("**Memory saved**\nAna likes \\*tea\\*")
    assert shown.embeds == ()
    assert len(shown.components) == 1
