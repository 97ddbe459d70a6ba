"""Pictures on their way to a model that takes them."""

from dataclasses import replace

import pytest
from pydantic_ai.messages import BinaryContent, ModelMessage, UserPromptPart

from agent.bridge import Capabilities
from agent.events import Attachment
from agent.models.make import takes_images
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.scripted_model import ScriptedModel
from agent.turn.images import LIMIT, MOST, candidates, images_of, kind_of

PNG = b"\x89PNG\r\n\x1a\n..."
JPEG = b"\xff\xd8\xff..."


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PNG, "image/png"),
        (JPEG, "image/jpeg"),
        (b"GIF89a..", "image/gif"),
        (b"RIFF0000WEBPVP8 ", "image/webp"),
        (b"RIFF0000WAVEfmt ", None),
        (b"<svg onload='x'>", None),
        (b"", None),
    ],
)
def test_a_picture_is_what_its_bytes_say(content: bytes, kind: str | None) -> None:
    assert kind_of(content) == kind


def test_only_a_few_small_pictures_are_read() -> None:
    pictures = [Attachment(f"{number}.png", "image/png", 10) for number in range(9)]
    others = [Attachment("a.txt", "text/plain", 10), Attachment("big.png", "image/png", LIMIT + 1)]
    assert candidates([*others, *pictures]) == tuple(pictures[:MOST])


async def test_what_cannot_be_read_costs_the_picture_alone() -> None:
    platform = FakePlatform(capabilities=Capabilities(2000, has_idempotency_key=True))
    said = platform._uploaded("1", {"a.png": PNG, "b.png": b"no picture", "c.jpg": JPEG})
    lying = replace(said[0], url="gone", name="gone.png")
    large = replace(said[0], name="large.png", url=platform._uploaded("2", {"l.png": PNG + bytes(LIMIT)})[0].url)
    found = await images_of([lying, large, *said], FakeBridge(platform=platform))
    assert [(image.name, image.content_type) for image in found] == [("a.png", "image/png")]


def pictures_in(messages: tuple[ModelMessage, ...]) -> list[bytes]:
    return [
        piece.data
        for message in messages
        for part in message.parts
        if isinstance(part, UserPromptPart) and not isinstance(part.content, str)
        for piece in part.content
        if isinstance(piece, BinaryContent)
    ]


@pytest.mark.parametrize("takes", [False, True])
async def test_a_model_is_shown_pictures_when_it_takes_them(database_url: str, takes: bool) -> None:
    platform, model = FakePlatform(), ScriptedModel(default="I see.")
    chat = replace(model.chat, takes_images=takes)
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=chat) as agent:
        first = await platform.say("ana", "look", files={"a.png": PNG})
        await agent.idle()
        await platform.say("ben", "what is on it?", reply_to=first)
        await agent.idle()
    shown = [pictures_in(request.messages) for request in model.requests]
    assert shown == ([[PNG], [PNG]] if takes else [[], []])


@pytest.mark.parametrize(
    ("model", "choice", "takes"),
    [
        ("openai:gpt-4o-mini", "auto", True),
        ("openai:gpt-3.5-turbo", "auto", False),
        ("anthropic:claude-sonnet-4-5", "auto", True),
        ("openai:llava", "on", True),
        ("openai:gpt-5", "off", False),
        ("offline", "auto", False),
    ],
)
def test_which_models_take_pictures(model: str, choice: str, takes: bool) -> None:
    assert takes_images(model, choice) is takes  # type: ignore[arg-type]  # a parameter of the test
