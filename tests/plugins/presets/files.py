"""Presets as SillyTavern writes them."""

from __future__ import annotations

import json
from typing import Any


def as_json(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode()


def st_prompt(identifier: str, content: str = "", **values: Any) -> dict[str, Any]:
    return {
        "identifier": identifier,
        "name": identifier.title(),
        "role": "system",
        "content": content,
        "system_prompt": False,
        **values,
    }


def st_marker(identifier: str) -> dict[str, Any]:
    return {"identifier": identifier, "name": identifier, "system_prompt": True, "marker": True}


def placed(*identifiers: str, **switches: bool) -> list[dict[str, Any]]:
    return [{"identifier": name, "enabled": switches.get(name, True)} for name in identifiers]


MARKERS = (
    "worldInfoBefore",
    "personaDescription",
    "charDescription",
    "charPersonality",
    "scenario",
    "worldInfoAfter",
    "dialogueExamples",
    "chatHistory",
)


def default_preset(**values: Any) -> dict[str, Any]:
    """A preset with the parts and settings that each file of SillyTavern has."""
    return {
        "chat_completion_source": "openai",
        "openai_model": "gpt-4-turbo",
        "temperature": 0.9,
        "top_p": 1,
        "openai_max_tokens": 300,
        "seed": -1,
        "wrap_in_quotes": False,
        "names_behavior": 0,
        "new_chat_prompt": "[Start a new Chat]",
        "reverse_proxy": "https://user:hunter2@proxy.example",
        "proxy_password": "hunter2",
        "custom_include_headers": "Authorization: hunter2",
        "prompts": [
            st_prompt("main", "Write {{char}}'s next reply to {{user}}."),
            st_prompt("nsfw"),
            st_prompt("jailbreak", "Stay in character."),
            st_prompt("enhanceDefinitions", "Add to the lore."),
            *map(st_marker, MARKERS),
        ],
        "prompt_order": [
            {"character_id": 100000, "order": placed("main", "chatHistory")},
            {
                "character_id": 100001,
                "order": placed("main", *MARKERS, "enhanceDefinitions", "nsfw", "jailbreak", enhanceDefinitions=False),
            },
        ],
        **values,
    }
