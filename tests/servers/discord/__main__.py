"""`python -m tests.servers.discord --port 8080`: a server, a channel and a person, until it is stopped.

Prints one line of JSON that says where it is and what the bot's token is. Each line on stdin is said by the person in
the channel; what the bot says there is printed as lines of JSON.
"""

import argparse
import asyncio
import json
import signal
import sys

from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Channel, Message, User


def write(**line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def listen(discord: LoopbackDiscord, person: User, channel: Channel) -> None:
    """Let the person say what comes on stdin."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := (await reader.readline()).decode().strip():
        discord.say(person, channel, line)


async def show(discord: LoopbackDiscord, channel: Channel) -> None:
    """Print what the bot says."""
    last: Message | None = None
    while True:
        last = await discord.answer(channel, after=last, timeout=float("inf"))
        write(id=str(last.id), author=last.author.name, content=last.content, embeds=list(last.embeds))


async def run(port: int) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with LoopbackDiscord(port=port) as discord:
        guild = discord.guild("Garden")
        mara, general = guild.member("mara"), guild.channel("general")
        write(api_base=discord.api_base, cdn_base=discord.cdn_base, token=discord.token, channel=str(general.id))
        tasks = [asyncio.create_task(listen(discord, mara, general)), asyncio.create_task(show(discord, general))]
        await stop.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.servers.discord", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="where to listen on 127.0.0.1; any free port when left out")
    arguments = parser.parse_args()
    asyncio.run(run(arguments.port))


if __name__ == "__main__":
    main()
