"""A memory whose sessions are digested into facts by scripted answers of a large model."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.unit.conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from omoide.settings import Settings

    from .conftest import World

FACTS = replace(SETTINGS, form="small", writer="facts", profile="large")
OSLO = "The user lives in Oslo."
BERGEN = "The user lives in Bergen."
CAT = "The user has a cat called Miso."


def answer(*changes: dict[str, Any]) -> str:
    """What a large model answers: changes of facts, without topics."""
    return json.dumps({"changes": list(changes), "topics": []})


def add(text: str, turn: int = 1, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A fact about the user that is added."""
    return {"do": "add", "text": text, "about": "user", "kind": "state", "turns": [turn], **more}


def replaced(number: int, text: str, why: str) -> dict[str, Any]:
    """A fact that takes the place of the known fact with this number."""
    return {**add(text), "do": "replace", "facts": [number], "why": why}


async def moved(
    make_world: Callable[..., Awaitable[World]], *, settings: Settings = FACTS
) -> World:
    """Ana lives in Oslo with a cat; a week later she has moved to Bergen."""
    world = await make_world(settings=settings)
    await world.session(
        "ana", "I live in Oslo and have a cat called Miso.", answers=(answer(add(OSLO), add(CAT)),)
    )
    shown = [fact.text for fact in await world.memory.facts("ana")]
    number = shown.index(OSLO) + 1
    await world.session(
        "ana",
        "I moved to Bergen.",
        answers=(answer(replaced(number, BERGEN, "she moved")),),
    )
    return world
