"""`/respond` in a running agent."""

from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.scripted_model import ScriptedModel


async def test_what_was_said_last_is_answered(database_url: str) -> None:
    platform, model = FakePlatform(), ScriptedModel(default="Here I am.")
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=model) as agent:
        said = await platform.say("ana", "is anybody there?", to_agent=False)
        assert (await platform.run_command("ben", "respond")).text == "I am answering."
        await agent.idle()
        (answer,) = platform.from_agent
        assert (answer.text, answer.reply_to) == ("Here I am.", said.message_id)
        prompt = model.requests[0].texts[-1]
        assert '"handle": "@{ben}", "in_reply_to": "is anybody there?"' in prompt
        await platform.run_command("ana", "respond")
        await agent.idle()
        assert '"text": "is anybody there?"' in model.requests[1].texts[-1]


async def test_a_persona_can_be_named(database_url: str) -> None:
    platform, model = FakePlatform(), ScriptedModel(default="Aye.")
    platform.person("max", can_manage=True)
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=model) as agent:
        await platform.run_command("max", "persona", "create", name="Otto", prompt="You are {bot}.")
        await platform.say("ana", "hm", to_agent=False)
        await platform.run_command("ana", "respond", persona="otto")
        await agent.idle()
        assert [message.persona_name for message in platform.from_agent] == ["Otto"]
        refused = await platform.run_command("ana", "respond", persona="nobody")
        assert not refused.ok
        assert "nobody" in refused.text


async def test_an_empty_channel_has_nothing_to_answer(database_url: str) -> None:
    platform = FakePlatform()
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=ScriptedModel()) as agent:
        refused = await platform.run_command("ana", "respond")
        await agent.idle()
        assert (refused.ok, refused.private) == (False, True)
        assert not platform.from_agent


async def test_nobody_points_to_what_a_hidden_person_said(database_url: str) -> None:
    platform, model = FakePlatform(), ScriptedModel(default="Hm.")
    settings = {"plugins": {"privacy": {"enabled": True}}}
    async with running_agent(database_url, settings, bridge=FakeBridge(platform=platform), model=model) as agent:
        earlier = await platform.say("ana", "the first", to_agent=False)
        await platform.run_command("cleo", "privacy", "set", level="full")
        await platform.say("cleo", "a secret", to_agent=False)
        await platform.run_command("ben", "respond")
        await agent.idle()
        (answer,) = platform.from_agent
        assert answer.reply_to == earlier.message_id
        assert "secret" not in "".join(model.requests[0].texts)
