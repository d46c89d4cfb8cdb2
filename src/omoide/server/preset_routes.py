"""Routes about presets: each paper's method by one name, and which one a user's memory works by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.presets import PRESETS, written
from omoide.server.endpoint import RouteCall, RouteSpec
from omoide.server.read_routes import get, json_response
from omoide.server.write_routes import ONCE, WRITE, at_of
from omoide.settings import Settings

if TYPE_CHECKING:
    from starlette.responses import Response

    from omoide.presets import Preset


async def presets(call: RouteCall) -> Response:
    """Describe the presets, and say which one is on for the user."""
    methods = call.context.runtime.methods
    return json_response(
        {
            "preset": await call.memory.preset(call.user),
            "server": str(methods.usual.settings.preset),
            "open": methods.open,
            "items": [_described(preset) for preset in PRESETS.values()],
        }
    )


async def choose(call: RouteCall) -> Response:
    """Let the user's memory work by a preset."""
    await call.memory.choose_preset(call.user, call.body["preset"], at=at_of(call))
    return json_response({"preset": await call.memory.preset(call.user)})


def _described(preset: Preset) -> dict[str, object]:
    return {
        "name": preset.name,
        "about": preset.about,
        "paper": preset.paper,
        "mechanisms": Settings.of(preset.name).mechanisms,
        "settings": {name: written(value) for name, value in preset.settings.items()},
        "prompts": preset.prompts,
        "numbers": preset.numbers,
        "departures": preset.departures,
    }


ROUTES = (
    get(
        "/api/presets",
        presets,
        "Presets",
        about="Each paper's method by one name: what it does, its numbers, and where it departs "
        "from the paper",
    ),
    RouteSpec(
        method="PATCH",
        path="/api/presets",
        handler=choose,
        about="Let the user's memory work by a preset from now on",
        needs=WRITE,
        takes="PresetChoice",
        answer="PresetChoice",
        headers=ONCE,
        quotes=False,
    ),
)
