"""Options, menus, forms, buttons and files through the real client, with a plugin that has all of them."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from agent.bridge import BridgeStartFailed
from agent.commands import Command, CommandReply, Invocation
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.testing.recording_host import RecordingHost
from bridges.discord import DiscordBridge
from bridges.discord.commands import interactions, speaking
from bridges.discord.guilds import Guilds
from tests.bridges.discord.trial import SEEN, SETTINGS
from tests.bridges.discord.worlds import discord_agent, settings_of
from tests.servers.discord.asking import InteractionFailed, InteractionResult
from tests.servers.discord.choices import NotOffered
from tests.servers.discord.faults import Fault
from tests.servers.discord.guilds import Guild
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.pending import Callback
from tests.servers.discord.permissions import EVERYONE, Permission
from tests.servers.discord.records import Attachment, Channel, Upload, User


class Garden:
    """A guild with an agent whose commands are those of the trial plugin."""

    def __init__(self, discord: LoopbackDiscord) -> None:
        self.discord = discord
        self.guild: Guild = discord.guild("Garden")
        chief = self.guild.role("Chief", EVERYONE | Permission.MANAGE_GUILD)
        self.mara: User = self.guild.member("mara", nick="Mara", roles=[chief])
        self.ben: User = self.guild.member("ben", nick="Ben")
        self.general: Channel = self.guild.channel("general")

    async def run(self, path: str, asker: User | None = None, /, **options: Any) -> InteractionResult:
        return await self.discord.slash(asker or self.mara, self.general, path, options)

    def content(self, file: Attachment) -> bytes:
        return self.discord.core.world.files[file.path][0]

    async def press(self, shown: InteractionResult, label: str, who: User | None = None) -> InteractionResult:
        return await self.discord.press(who or self.mara, shown.message, ids(shown)[label])


def ids(shown: InteractionResult) -> dict[str, str]:
    """The buttons of an answer: label → id."""
    return {one["label"]: one["custom_id"] for row in shown.message.components for one in row["components"]}


@pytest_asyncio.fixture
async def garden(discord: LoopbackDiscord, database_url: str) -> AsyncIterator[Garden]:
    SEEN.options.clear()
    SEEN.go_on, SEEN.text = asyncio.Event(), "the old text"
    made = Garden(discord)
    async with discord_agent(discord, database_url, SETTINGS):
        yield made


async def test_options_of_every_kind_reach_the_command(garden: Garden) -> None:
    given = {"number": 7, "word": "red", "yes": True, "who": garden.ben, "where": garden.general, "many": "choice 30"}
    answer = await garden.run("trial values", **given)
    assert (answer.text, answer.ephemeral) == ("kept", False)
    assert SEEN.options == [
        {
            "number": 7,
            "word": "red",
            "yes": True,
            "who": ParticipantKey(ParticipantKind.DISCORD_USER, str(garden.ben.id)),
            "where": str(garden.general.id),
            "many": "choice 30",
        }
    ]
    with pytest.raises(NotOffered, match="no choice 'blue'"):
        await garden.run("trial values", word="blue")


async def test_a_bot_is_a_person_that_can_be_named(garden: Garden) -> None:
    helper = garden.guild.member(garden.discord.user("helper", bot=True))
    await garden.run("trial values", word="red", who=helper)
    assert SEEN.options[0]["who"] == ParticipantKey(ParticipantKind.BOT, str(helper.id))


async def test_choices_are_offered_while_an_option_is_typed(garden: Garden) -> None:
    discord = garden.discord
    given = {"number": "4", "word": "red"}
    offered = await discord.autocomplete(garden.mara, garden.general, "trial values", given, "number")
    assert [one["value"] for one in offered] == [int(f"4{end}") for end in range(25)]
    assert all(len(one["name"]) == 100 for one in offered)
    assert SEEN.options == [{"word": "red"}]
    many = await discord.autocomplete(garden.mara, garden.general, "trial values", {"many": "CHOICE 3"}, "many")
    assert [one["value"] for one in many] == ["choice 3", *(f"choice {each}" for each in range(30, 40))]


async def test_files_go_both_ways_and_not_beyond_the_limit(garden: Garden) -> None:
    turned = await garden.run("trial file", file=Upload("it.txt", b"abc"))
    (file,) = turned.message.attachments
    assert (file.filename, garden.content(file)) == ("turned.txt", b"cba")
    refused = await garden.run("trial file", file=Upload("it.txt", b"x" * 101))
    assert (refused.text, refused.ephemeral) == ("it.txt: it is larger than 100 bytes", True)


async def test_a_message_is_taken_from_its_menu_its_id_or_its_link(garden: Garden) -> None:
    discord = garden.discord
    said = discord.say(garden.ben, garden.general, "a fact")
    for answer in (
        await discord.menu(garden.mara, said, "Take this message"),
        await garden.run("trial message", message=str(said.id)),
        await garden.run("trial message", message=f"https://discord.com/channels/1/{garden.general.id}/{said.id}"),
    ):
        assert (answer.text, answer.ephemeral) == ("Ben said \\@everyone: a fact", True)
    assert [(one["author"].external_id, one["from_agent"]) for one in SEEN.options] == [(str(garden.ben.id), False)] * 3
    other = garden.guild.channel("other")
    secret = discord.say(garden.ben, other, "secret")
    refusals = [
        (await garden.run("trial message", message=text)).text
        for text in (f"https://discord.com/channels/1/{other.id}/{secret.id}", str(secret.id), "nonsense")
    ]
    assert refusals == [
        "Only a message of this channel can be named here.",
        "There is no such message in this channel.",
        "Name a message by its link or its id, or use its menu.",
    ]


async def test_the_agents_own_message_is_known_as_such(garden: Garden) -> None:
    asked = garden.discord.say(garden.mara, garden.general, f"Hello {garden.discord.bot.mention}")
    answer = await garden.discord.answer(garden.general, after=asked)
    await garden.discord.menu(garden.ben, answer, "Take this message")
    assert SEEN.options[0]["from_agent"]


async def test_a_person_is_taken_from_a_menu(garden: Garden) -> None:
    answer = await garden.discord.menu(garden.mara, garden.ben, "Take this person", channel=garden.general)
    assert answer.text == "kept"
    assert SEEN.options == [{"who": ParticipantKey(ParticipantKind.DISCORD_USER, str(garden.ben.id))}]


async def test_a_long_text_is_asked_for_in_a_form(garden: Garden) -> None:
    opened = await garden.run("trial write", name="ben")
    assert opened.callback is Callback.MODAL
    assert opened.modal.components[0]["component"]["value"] == "the old text"
    done = await garden.discord.submit(opened.modal, {"text": "new\nlines"})
    assert (done.text, done.ephemeral) == ("ben: new\nlines", True)
    at_once = await garden.run("trial write", name="ben", text="short")
    assert at_once.text == "ben: short"


async def test_what_does_not_fit_into_a_forms_id_is_kept(garden: Garden) -> None:
    opened = await garden.run("trial write", name="b" * 200)
    done = await garden.discord.submit(opened.modal, {"text": "new"})
    assert done.text == "b" * 200 + ": new"


async def test_a_text_that_no_form_holds_is_not_cut(garden: Garden) -> None:
    SEEN.text = "x" * 4001
    refused = await garden.run("trial write", name="ben")
    assert refused.text == "This text is longer than the 4000 characters of a form: give it in the option text."
    assert refused.ephemeral


async def test_who_may_not_run_a_command_is_shown_no_form(garden: Garden) -> None:
    for command in garden.discord.core.world.commands[None].values():
        command["default_member_permissions"] = None
    refused = await garden.run("guarded", garden.ben)
    assert (refused.text, refused.ephemeral) == ("Only those who manage this server may do that.", True)
    assert (await garden.run("guarded", garden.mara)).callback is Callback.MODAL
    direct = garden.discord.dm(garden.ben)
    assert (await garden.discord.slash(garden.ben, direct, "guarded")).callback is Callback.MODAL


async def test_pages_are_turned_in_place_by_who_ran_the_command(garden: Garden) -> None:
    first = await garden.run("trial deep pages")
    assert first.message.embeds[0]["description"] == "page 1"
    assert set(ids(first)) == {"Back", "On", "Write", "Sure?"}
    second = await garden.press(first, "On")
    assert (second.callback, second.message.id) == (Callback.UPDATE, first.message.id)
    assert garden.discord.now(first.message).embeds[0]["description"] == "page 2"
    stranger = await garden.press(first, "On", garden.ben)
    assert (stranger.text, stranger.ephemeral) == ("Only who ran this command can press its buttons.", True)
    assert len(garden.discord.messages(garden.general)) == 1


async def test_a_confirmation_takes_the_place_of_its_question(garden: Garden) -> None:
    asked = await garden.run("trial deep pages")
    red = [one["style"] for row in asked.message.components for one in row["components"] if one["label"] == "Sure?"]
    assert red == [4]
    done = await garden.press(asked, "Sure?")
    assert (done.message.content, done.message.embeds, done.message.components) == ("word word word word word", (), ())


async def test_a_button_whose_command_wants_a_long_text_opens_a_form(garden: Garden) -> None:
    asked = await garden.run("trial deep pages")
    opened = await garden.press(asked, "Write")
    done = await garden.discord.submit(opened.modal, {"text": "from a button"})
    assert (done.text, done.ephemeral) == ("ben: from a button", True)


async def test_buttons_work_after_a_restart_and_old_ones_say_so(discord: LoopbackDiscord, database_url: str) -> None:
    garden = Garden(discord)
    async with discord_agent(discord, database_url, SETTINGS):
        shown = await garden.run("trial deep pages")
        form = (await garden.run("trial write", name="b" * 200)).modal
    async with discord_agent(discord, database_url, SETTINGS):
        turned = await garden.press(shown, "On")
        assert turned.message.embeds[0]["description"] == "page 2"
        lost = await discord.submit(form, {"text": "new"})
        assert (lost.text, lost.ephemeral) == ("This form is too old. Run its command again.", True)
    async with discord_agent(discord, database_url):
        lost = await garden.press(shown, "On")
        assert (lost.text, lost.ephemeral) == ("This button is too old. Run its command again.", True)


@pytest.mark.parametrize("private", [True, False])
async def test_a_slow_command_is_put_off_and_its_privacy_kept(
    garden: Garden, monkeypatch: pytest.MonkeyPatch, private: bool
) -> None:
    monkeypatch.setattr(speaking, "AT_ONCE", 0.01)
    first = await garden.discord.slash(garden.mara, garden.general, "trial slow", {"private": private}, settle=False)
    assert first.callback is Callback.DEFERRED_MESSAGE
    assert not first.ephemeral
    SEEN.go_on.set()
    await first.until(lambda shown: any(each.content for each in shown.messages))
    assert [each.content for each in first.messages] == ["at last"]
    assert first.ephemeral is private


async def test_an_interaction_that_comes_twice_runs_once(garden: Garden) -> None:
    with garden.discord.hold("INTERACTION_CREATE") as held:
        pending = asyncio.create_task(garden.run("trial values", word="red"))
        await asyncio.sleep(0)
        held.release([0, 0])
        assert (await pending).text == "kept"
    await garden.run("trial values", word="green")
    assert [one["word"] for one in SEEN.options] == ["red", "green"]


async def test_long_answers_are_split_shown_as_one_embed_or_sent_as_a_file(garden: Garden) -> None:
    short = await garden.run("trial long", length=500)
    assert (len(short.message.embeds), len(short.messages)) == (1, 1)
    assert len(short.message.embeds[0]["description"]) == 2499
    parts = await garden.run("trial long", length=1500)
    await parts.until(lambda shown: sum(len(each.content.split()) for each in shown.messages) == 1500)
    file = await garden.run("trial long", length=3000)
    (attachment,) = file.message.attachments
    assert len(garden.content(attachment).split()) == 3000


async def test_a_failure_is_calm_and_ephemeral(garden: Garden) -> None:
    failed = await garden.run("trial broken")
    assert failed.ephemeral
    assert failed.text.startswith("That did not work.")
    assert "secret" not in failed.text


async def test_an_answer_that_comes_too_late_is_only_logged(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speaking, "AT_ONCE", 0.01)
    slow = await garden.discord.slash(garden.mara, garden.general, "trial slow", {"private": False}, settle=False)
    slow.expire()
    SEEN.go_on.set()
    again = await garden.run("trial values", word="red")
    assert again.text == "kept"


async def test_commands_work_in_threads_and_direct_messages(garden: Garden) -> None:
    discord = garden.discord
    thread = garden.guild.thread(garden.general, "details", garden.ben)
    for channel in (thread, discord.dm(garden.ben)):
        answer = await discord.slash(garden.ben, channel, "trial values", {"word": "red"})
        assert answer.text == "kept"


async def test_an_older_form_of_a_command_is_refused_calmly(garden: Garden) -> None:
    held = garden.discord.core.world.commands[None]
    (trial,) = (each for each in held.values() if each["name"] == "trial")
    (values,) = (each for each in trial["options"] if each["name"] == "values")
    values["options"] = [{"type": 3, "name": "gone", "description": "."}]
    for options in ({"gone": "x"}, {}):
        refused = await garden.discord.slash(garden.mara, garden.general, "trial values", options)
        assert refused.text.startswith("Discord shows an older form of this command.")
        assert refused.ephemeral
    values["name"] = "removed"
    refused = await garden.run("trial removed")
    assert refused.text.startswith("Discord shows an older form of this command.")
    assert SEEN.options == []


async def test_discords_own_failures_are_tried_again(garden: Garden) -> None:
    garden.discord.faults.fail(502, method="POST", path="/interactions/{interaction_id}/{interaction_token}/callback")
    assert (await garden.run("trial values", word="red")).text == "kept"
    assert len(SEEN.options) == 1


async def test_what_is_written_in_an_answer_is_no_formatting_and_pings_nobody(garden: Garden) -> None:
    said = garden.discord.say(garden.ben, garden.general, "**bold** [bank](https://evil.example)")
    answer = await garden.discord.menu(garden.mara, said, "Take this message")
    assert answer.text == r"Ben said \@everyone: \*\*bold\*\* \[bank\]\(https://evil.example\)"
    assert not answer.message.mention_everyone


async def test_commands_that_discord_does_not_take_stop_the_start(discord: LoopbackDiscord) -> None:
    async def run(call: Invocation) -> CommandReply:
        return CommandReply("done")

    bridge = DiscordBridge(settings_of(discord))
    with pytest.raises(BridgeStartFailed, match="bridge discord: /A of trial: 'A' is no name that Discord takes"):
        await bridge.start(RecordingHost([Command(("A",), "A.", run, owner="trial")]))
    await bridge.stop()


async def test_commands_that_were_refused_are_declared_at_the_next_start(
    discord: LoopbackDiscord, database_url: str
) -> None:
    garden = Garden(discord)
    commands = "/applications/{application_id}/commands"
    discord.faults.refuse(50035, method="PUT", path=commands)
    async with discord_agent(discord, database_url, SETTINGS):
        with pytest.raises(NotOffered):
            await garden.run("trial values", word="red")
    async with discord_agent(discord, database_url, SETTINGS):
        assert (await garden.run("trial values", word="red")).text == "kept"


async def test_what_fails_before_a_form_is_answered_calmly(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(Guilds, "place", fail)
    for path, options in (("trial write", {"name": "ben"}), ("trial values", {"word": "red"})):
        failed = await garden.run(path, **options)
        assert (failed.text, failed.ephemeral) == ("That did not work. Please try again.", True)
    given = {"number": "4", "word": "red"}
    garden.discord.core.deadline = 0.2
    with pytest.raises(InteractionFailed):
        await garden.discord.autocomplete(garden.mara, garden.general, "trial values", given, "number")


async def test_suggestions_that_take_too_long_are_left_out(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interactions, "PROMPT", 0.01)
    given = {"number": "0", "word": "red"}
    assert await garden.discord.autocomplete(garden.mara, garden.general, "trial values", given, "number") == []


async def test_more_than_can_be_answered_is_dropped(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interactions, "MOST", 0)
    garden.discord.core.deadline = 0.1
    with pytest.raises(InteractionFailed):
        await garden.run("trial values", word="red")
    assert SEEN.options == []


async def test_large_files_are_put_off_first(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speaking, "LARGE", 1)
    turned = await garden.run("trial file", file=Upload("it.txt", b"abc"))
    assert turned.callback is Callback.DEFERRED_MESSAGE
    (file,) = turned.message.attachments
    assert garden.content(file) == b"cba"


@pytest.mark.parametrize("at_once", [0.0, 1.0])
async def test_an_answer_that_discord_refuses_is_said_to_be_so(
    garden: Garden, monkeypatch: pytest.MonkeyPatch, at_once: float
) -> None:
    monkeypatch.setattr(speaking, "AT_ONCE", at_once)
    callback = "/interactions/{interaction_id}/{interaction_token}/callback"
    original = "/webhooks/{webhook_id}/{webhook_token}/messages/@original"
    method, path = ("POST", callback) if at_once else ("PATCH", original)
    garden.discord.faults.add(Fault(method=method, path=path, status=400, code=50035, message="Invalid Form Body"))
    refused = await garden.discord.slash(garden.mara, garden.general, "trial values", {"word": "red"}, settle=False)
    await refused.until(lambda shown: any(each.content for each in shown.messages))
    assert [(each.content, each.ephemeral_for) for each in refused.messages] == [
        ("Discord did not take my answer.", garden.mara.id)
    ]
