"""A process that takes originals and reposts until it is killed; it says `ready` when it begins.

`python -m tests.plugins.message_proxy.dying URL FROM TO`
"""

import asyncio
import sys
from datetime import UTC, datetime

from agent.app import Agent
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.scripted_model import ScriptedModel
from plugins.message_proxy import MessageProxyPlugin
from tests.plugins.message_proxy.matrix import SERVER, Answer, Case, Host, Service, Step, channel, event

SETTINGS = {
    "plugins": {
        "privacy": {"enabled": True},
        "memory": {"enabled": True},
        "message_proxy": {
            "enabled": True,
            "wait": 0.6,
            "lookup_seconds": 1.0,
            "instances": {
                "one": {"service": "pluralkit", "origin": "http://127.0.0.1:9", "allow_private_networks": True}
            },
        },
    }
}
ORDERS = (
    (Step.ORIGINAL,),
    (Step.ORIGINAL, Step.REPOST),
    (Step.ORIGINAL, Step.REPOST, Step.DELETE),
    (Step.ORIGINAL, Step.DELETE, Step.REPOST),
    (Step.REPOST, Step.ORIGINAL),
)


def some_cases(begin: int, end: int) -> list[Case]:
    """Every order in turn, with answers that come at once or late."""
    answers = (Answer.FOUND, Answer.LATE, Answer.MISS)
    return [
        Case(number, ORDERS[number % len(ORDERS)], answers[number % len(answers)], Host.ALLOWED)
        for number in range(begin, end)
    ]


async def made_ready(agent: Agent, cases: list[Case]) -> MessageProxyPlugin:
    """Let the accounts of some cases use the service, where it is known, and have it answer as the cases say."""
    plugin = agent.plugins.get("message_proxy")
    assert isinstance(plugin, MessageProxyPlugin)
    core, now = agent.core, agent.core.clock.now()
    instance = next(each for each in plugin.instances if each.name == "one")
    for case in cases:
        entrance = await core.people.enter(SERVER, channel(case), case.account, now)
        await plugin.repository.choose(entrance.account.account_id, instance.instance_id, now)
        spot = ("fake", channel(case).external_id, instance.instance_id)
        await plugin.repository.note_seen(spot, now)
        await plugin.repository.note_expected(spot, now)
    await plugin.watching.load()
    real = plugin.finders[instance.instance_id]
    plugin.finders[instance.instance_id] = service_for(cases)  # type: ignore[assignment]
    await real.close()
    return plugin


def service_for(cases: list[Case]) -> Service:
    """Return the service of some cases."""
    return Service(cases={case.repost_id: case for case in cases})


async def play(agent: Agent, case: Case, delay: float) -> None:
    """Bring the events of a case, beginning after a while."""
    await asyncio.sleep(delay)
    for step in case.order:
        await agent.receive(event(case, step, datetime.now(UTC)))
        await asyncio.sleep(0.02)


async def main(url: str, begin: int, end: int) -> None:
    """Take everything, spread over a second, until the end comes from outside."""
    cases = some_cases(begin, end)
    platform = FakePlatform()
    model = ScriptedModel(default="Well.")
    async with running_agent(url, SETTINGS, bridge=FakeBridge(platform=platform), model=model) as agent:
        await made_ready(agent, cases)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.gather(*(play(agent, case, index / len(cases)) for index, case in enumerate(cases)))
        await asyncio.sleep(60)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
