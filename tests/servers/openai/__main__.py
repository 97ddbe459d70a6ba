"""`python -m tests.servers.openai --port 8080`: answers by the offline model's rules until it is stopped.

Prints one line of JSON with its address when it listens.
"""

import argparse
import asyncio
import json
import signal
import sys

from tests.servers.openai.rules import answer_by_rules
from tests.servers.openai.server import OpenAIServer


async def run(port: int, key: str | None) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with OpenAIServer(otherwise=answer_by_rules, key=key, port=port) as server:
        sys.stdout.write(json.dumps({"url": server.url}) + "\n")
        sys.stdout.flush()
        await stop.wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.servers.openai", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="where to listen on 127.0.0.1; any free port when left out")
    parser.add_argument("--key", help="the only API key that is let in; any when left out")
    arguments = parser.parse_args()
    asyncio.run(run(arguments.port, arguments.key))


if __name__ == "__main__":
    main()
