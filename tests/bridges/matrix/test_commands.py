"""Commands in the rooms of a real homeserver."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.store.pool import Store
from bridges.matrix.commands.confirming import Offered, Offers
from tests.bridges.discord.trial import SEEN
from tests.bridges.discord.trial import SETTINGS as TRIAL
from tests.bridges.matrix.worlds import Trial, matrix_agent
from tests.servers.synapse import Person, Synapse

SETTINGS: Mapping[str, Any] = {"plugins": {"memory": {}, "privacy": {}}}


async def answered(trial: Trial, person: Person, room: str, command: str, **content: Any) -> Mapping[str, Any]:
    """Say a command, and return the content of what the agent answers in that room."""
    before = len(await person.said_by(room, trial.account.user_id))
    await person.say(room, command, **content)
    return dict((await person.answer(room, trial.account.user_id, before + 1))[-1]["content"])


async def test_a_command_is_answered_with_a_notice_that_pings_nobody(synapse: Synapse, database_url: str) -> None:
    ana, ben = await synapse.person("ana"), await synapse.person("ben", "Ben")
    async with matrix_agent(synapse, database_url, TRIAL) as trial:
        room = await trial.room(ana, ben)
        said = await ana.say(room, f'!trial  values 7 "red" who={ben.user_id} yes=on where=#Kitchen')
        (answer,) = await ana.answer(room, trial.account.user_id)
        assert answer["content"] == {
            "msgtype": "m.notice",
            "body": "kept",
            "m.mentions": {},
            "m.relates_to": {"m.in_reply_to": {"event_id": said}},
        }
        assert SEEN.options[-1] == {
            "number": 7,
            "word": "red",
            "who": ParticipantKey(ParticipantKind.MATRIX_USER, ben.user_id),
            "yes": True,
            "where": room,
        }
        named = await answered(trial, ana, room, "!trial values word=green who=Ben")
        assert named["body"] == "kept"
        assert SEEN.options[-1]["who"].id == ben.user_id
        assert trial.model.requests == []


async def test_unknown_commands_are_messages_and_halves_get_help(synapse: Synapse, database_url: str) -> None:
    ana = await synapse.person("ana")
    async with matrix_agent(synapse, database_url, SETTINGS) as trial:
        room = await trial.direct(ana)
        assert (await answered(trial, ana, room, "!!! what a day"))["body"] == "Well."
        halves = await answered(trial, ana, room, "!memories")
        assert "!memories add" in halves["body"]
        missing = await answered(trial, ana, room, "!memories add")
        assert "usage: !memories add" in missing["body"]
        assert "!memories" in (await answered(trial, ana, room, "!help"))["body"]
        assert "!memories remove" in (await answered(trial, ana, room, "!help memories"))["body"]


async def test_a_command_can_be_about_the_message_that_it_answers(synapse: Synapse, database_url: str) -> None:
    ana, ben = await synapse.person("ana"), await synapse.person("ben", "Ben")
    async with matrix_agent(synapse, database_url, TRIAL) as trial:
        room, private = await trial.room(ana, ben), await trial.direct(ana)
        meant = await ben.say(room, "the gate code is 17")
        refused = await answered(trial, ana, room, "!trial message")
        assert "reply to the message" in refused["body"]
        await ana.say(room, "!trial message", **{"m.relates_to": {"m.in_reply_to": {"event_id": meant}}})
        (told,) = await ana.answer(private, trial.account.user_id)
        assert told["content"]["body"] == "Ben said @everyone: the gate code is 17"
        assert told["content"]["m.mentions"] == {}


async def test_a_file_comes_with_its_command_and_an_answer_can_be_one(synapse: Synapse, database_url: str) -> None:
    ana = await synapse.person("ana")
    async with matrix_agent(synapse, database_url, TRIAL) as trial:
        room = await trial.room(ana)
        url = await ana.upload(b"abc", "letters.txt", "text/plain")
        file = {"msgtype": "m.file", "filename": "letters.txt", "url": url, "info": {"size": 3}}
        await ana.say(room, "!trial file", **file)
        (_, turned) = await ana.answer(room, trial.account.user_id, 2)
        assert turned["content"]["filename"] == "turned.txt"
        assert await ana.download(turned["content"]["url"]) == b"cba"
        large = await ana.upload(b"a" * 101, "large.txt", "text/plain")
        await ana.say(room, "!trial file", **{**file, "url": large})
        assert "larger than 100 bytes" in (await ana.answer(room, trial.account.user_id, 3))[-1]["content"]["body"]


async def test_pages_are_turned_by_reactions_and_only_by_their_asker(synapse: Synapse, database_url: str) -> None:
    ana, ben = await synapse.person("ana"), await synapse.person("ben")
    async with matrix_agent(synapse, database_url, TRIAL) as trial:
        room = await trial.room(ana, ben)
        await ana.say(room, "!trial deep pages 3")
        (first,) = await ana.answer(room, trial.account.user_id)
        await ben.react(room, first["event_id"], "➡️")
        await ana.react(room, first["event_id"], "➡")
        (_, second) = await ana.answer(room, trial.account.user_id, 2)
        assert second["content"]["body"].splitlines()[0] == "page 4"
        await trial.agent.idle()
        assert len(await ana.said_by(room, trial.account.user_id)) == 2


async def test_a_reaction_may_be_faster_than_what_the_agent_notes(
    synapse: Synapse, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = Offers.keep

    async def late(self: Offers, event_id: str, offered: Offered) -> None:
        await asyncio.sleep(0.5)
        await keep(self, event_id, offered)

    monkeypatch.setattr(Offers, "keep", late)
    ana = await synapse.person("ana")
    async with matrix_agent(synapse, database_url, TRIAL) as trial:
        room = await trial.room(ana)
        await ana.say(room, "!trial deep pages 3")
        (first,) = await ana.answer(room, trial.account.user_id)
        await ana.react(room, first["event_id"], "➡")
        (_, second) = await ana.answer(room, trial.account.user_id, 2)
        assert second["content"]["body"].splitlines()[0] == "page 4"


async def test_a_command_runs_once_though_its_event_comes_again(synapse: Synapse, database_url: str) -> None:
    ana = await synapse.person("ana")
    async with matrix_agent(synapse, database_url, TRIAL) as trial:
        room = await trial.room(ana)
        ran = len(SEEN.options)
        await answered(trial, ana, room, "!trial values word=red")
        event = next(each for each in await ana.messages(room) if each["content"].get("body", "").startswith("!trial"))
        assert trial.bridge._parts is not None
        await trial.bridge._parts.syncing._one(room, event)
        await answered(trial, ana, room, "!trial values word=green")
        assert [options["word"] for options in SEEN.options[ran:]] == ["red", "green"]


async def test_who_manages_nothing_may_do_less(synapse: Synapse, database_url: str) -> None:
    ana, ben = await synapse.person("ana"), await synapse.person("ben")
    async with matrix_agent(synapse, database_url, SETTINGS) as trial:
        room = await trial.room(ana, ben)
        private = await trial.direct(ben)  # what only ben shall read is said there
        before = len(await ben.said_by(private, trial.account.user_id))
        await ben.say(room, f"!privacy blacklist add {ana.user_id}")
        refused = (await ben.answer(private, trial.account.user_id, before + 1))[-1]["content"]
        assert "Only those who manage this server" in refused["body"]
        assert await ben.said_by(room, trial.account.user_id) == []


async def test_private_answers_go_to_one_direct_room(synapse: Synapse, database_url: str) -> None:
    ana = await synapse.person("ana")
    async with matrix_agent(synapse, database_url, SETTINGS) as trial:
        room = await trial.room(ana)
        await ana.say(room, "!privacy show")
        private = await invited_to(ana)
        await ana.join(private)
        await ana.answer(private, trial.account.user_id)
        await ana.say(room, "!privacy show")
        await ana.answer(private, trial.account.user_id, 2)
        assert await ana.said_by(room, trial.account.user_id) == []
        assert len(await ana.rooms()) == 2


@pytest.mark.parametrize("how", ["reaction", "code"])
async def test_forget_me_asks_back_and_forgets(synapse: Synapse, database_url: str, store: Store, how: str) -> None:
    ana = await synapse.person("ana")
    async with matrix_agent(synapse, database_url, SETTINGS) as trial:
        room = await trial.direct(ana)
        asked = await answered(trial, ana, room, "!privacy forget-me")
        assert "!privacy forget-me" in asked["body"]
        assert "✅" in asked["body"]
        (*_, notice) = await ana.said_by(room, trial.account.user_id)
        before = len(await ana.said_by(room, trial.account.user_id))
        if how == "reaction":
            await ana.react(room, notice["event_id"], "✅")
        else:
            code = asked["body"].partition("forget-me ")[2].split()[0].rstrip(".")
            await ana.say(room, code, **{"m.relates_to": {"m.in_reply_to": {"event_id": notice["event_id"]}}})
        await ana.answer(room, trial.account.user_id, before + 1)
        await trial.agent.idle()
        assert trial.model.requests == []


async def invited_to(person: Person) -> str:
    """Return the room that somebody is invited to, as soon as there is one."""
    import asyncio

    async with asyncio.timeout(15):
        while not (found := await person.invited()):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
    return found[0]
