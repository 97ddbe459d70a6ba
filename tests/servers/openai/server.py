"""The server itself: chat completions whole and streamed, embeddings, the list of models."""

import asyncio
import base64
import contextlib
import hashlib
import json
import struct
from collections import deque
from collections.abc import Callable
from typing import Any, Self

from aiohttp import web

from tests.servers.openai.answers import Answer, Ending, error_body, failed
from tests.servers.openai.check import BadRequest, check_chat

CREATED = 1_772_366_400
DIMENSION = 16


class OpenAIServer:
    """An OpenAI-compatible server on the loopback interface.

    Example::

        async with OpenAIServer(Answer("Hello."), rate_limited(0.1), Answer("Hello again.")) as server:
            client = AsyncOpenAI(base_url=server.url, api_key="any")
            ...
            assert server.requests[0]["messages"][-1]["content"] == "Hi"
    """

    def __init__(
        self,
        *answers: Answer,
        otherwise: Callable[[dict[str, Any]], Answer] | None = None,
        key: str | None = None,
        port: int = 0,
    ) -> None:
        self.answers: deque[Answer] = deque(answers)
        self.requests: list[dict[str, Any]] = []
        """The bodies of all requests for chat completions, the refused ones included."""
        self.embedded: list[list[str]] = []
        self.cut_off = 0
        """How many streams the client closed before their end."""
        self._otherwise = otherwise
        self._key = key
        self._port = port
        self._runner: web.AppRunner | None = None
        self._closing = asyncio.Event()

    @property
    def url(self) -> str:
        """The base URL, as clients want it."""
        return f"http://127.0.0.1:{self._port}/v1"

    async def start(self) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/embeddings", self._embeddings)
        app.router.add_get("/v1/models", self._models)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        if refused := self._refuse_key(request):
            return refused
        data = await request.json()
        self.requests.append(data)
        try:
            check_chat(data)
        except BadRequest as error:
            return _plain(Answer(status=400, body=error_body(str(error), "invalid_request")))
        answer = self._next(data)
        await self._sleep(answer.pause)
        if answer.body is not None:
            return _plain(answer)
        if data.get("stream"):
            return await self._stream(request, data, answer)
        if answer.ending is Ending.STALL:
            await self._closing.wait()
        return web.json_response(_whole(data, answer))

    def _next(self, data: dict[str, Any]) -> Answer:
        if self.answers:
            return self.answers.popleft()
        if self._otherwise is not None:
            return self._otherwise(data)
        return failed(500, f"the script has no answer for request {len(self.requests)}")

    async def _stream(self, request: web.Request, data: dict[str, Any], answer: Answer) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **answer.headers})
        await response.prepare(request)
        try:
            for number, chunk in enumerate(_chunks(data, answer)):
                if answer.ending is not Ending.DONE and number == answer.ends_after:
                    break
                if number:
                    await self._sleep(answer.drip)
                await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
            await self._end(request, response, answer)
        except (ConnectionError, asyncio.CancelledError):
            self.cut_off += 1
            raise
        return response

    async def _end(self, request: web.Request, response: web.StreamResponse, answer: Answer) -> None:
        match answer.ending:
            case Ending.STALL:
                await self._gone_or_closing(request)
            case Ending.RESET if request.transport is not None:
                request.transport.abort()
            case Ending.ERROR:
                error = {"error": {"message": "overloaded", "type": "overloaded_error", "code": None}}
                await response.write(f"data: {json.dumps(error)}\n\n".encode())
            case Ending.DONE:
                await response.write(b"data: [DONE]\n\n")

    async def _gone_or_closing(self, request: web.Request) -> None:
        """Wait until the client has closed the connection or the server stops."""
        while not self._closing.is_set():
            if request.transport is None or request.transport.is_closing():
                self.cut_off += 1
                return
            await asyncio.sleep(0.01)

    async def _sleep(self, seconds: float) -> None:
        if not seconds:
            await asyncio.sleep(0)  # whoever reads in the same process gets the loop
        else:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), seconds)

    async def _embeddings(self, request: web.Request) -> web.StreamResponse:
        if refused := self._refuse_key(request):
            return refused
        data = await request.json()
        texts = [data["input"]] if isinstance(data["input"], str) else data["input"]
        self.embedded.append(texts)
        if self.answers:
            return _plain(self.answers.popleft())
        form = packed if data.get("encoding_format") == "base64" else list
        vectors = [
            {"object": "embedding", "index": at, "embedding": form(embed(text))} for at, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": sum(map(len, texts)), "total_tokens": sum(map(len, texts))}
        return web.json_response({"object": "list", "data": vectors, "model": data["model"], "usage": usage})

    async def _models(self, request: web.Request) -> web.StreamResponse:
        if refused := self._refuse_key(request):
            return refused
        model = {"id": "loopback", "object": "model", "created": CREATED, "owned_by": "tests"}
        return web.json_response({"object": "list", "data": [model]})

    def _refuse_key(self, request: web.Request) -> web.StreamResponse | None:
        if self._key is None or request.headers.get("Authorization") == f"Bearer {self._key}":
            return None
        return _plain(failed(401, "Incorrect API key provided", "invalid_api_key"))


def embed(text: str) -> list[float]:
    """A vector of length one that depends on nothing but the text."""
    numbers = [byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[:DIMENSION]]
    length = sum(number * number for number in numbers) ** 0.5
    return [number / length for number in numbers]


def packed(vector: list[float]) -> str:
    """A vector as the client asks for it by default: the base 64 of its four-byte numbers."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _plain(answer: Answer) -> web.Response:
    return web.Response(
        status=answer.status, body=answer.body, headers=answer.headers, content_type=answer.content_type
    )


def _usage(data: dict[str, Any], answer: Answer) -> dict[str, int]:
    heard = sum(len(str(message.get("content") or "")) for message in data["messages"]) // 4 + 1
    said = (len(answer.text) + sum(len(call.text) for call in answer.calls)) // 4 + 1
    return {"prompt_tokens": heard, "completion_tokens": said, "total_tokens": heard + said}


def _frame(data: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": CREATED, "model": data["model"]}


def _chunks(data: dict[str, Any], answer: Answer) -> list[dict[str, Any]]:
    frame = _frame(data, "chat.completion.chunk")
    chunks = [{**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in answer.deltas()]
    if answer.ending is not Ending.EOF:
        chunks.append({**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": answer.finish}]})
    if answer.usage and (data.get("stream_options") or {}).get("include_usage"):
        chunks.append({**frame, "choices": [], "usage": _usage(data, answer)})
    return chunks


def _whole(data: dict[str, Any], answer: Answer) -> dict[str, Any]:
    choice = {"index": 0, "message": answer.message(), "finish_reason": answer.finish}
    whole = {**_frame(data, "chat.completion"), "choices": [choice]}
    return {**whole, "usage": _usage(data, answer)} if answer.usage else whole
