"""Bringing in conversations of other programs, a part of their export at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.server.read_routes import json_response
from omoide.server.write_routes import post
from omoide.transfer import read_values

if TYPE_CHECKING:
    from starlette.responses import Response

    from omoide.server.endpoint import RouteCall

MAX_LISTED = 100
"""Most skipped items that are listed; the others are counted."""


async def import_part(call: RouteCall) -> Response:
    """Record conversations, each once."""
    body = call.body
    longest = call.context.runtime.settings.max_turn_chars
    export = read_values(body["conversations"], max_chars=longest)
    result = await call.memory.import_conversations(
        call.user, export.conversations, digest=body.get("digest", True)
    )
    return json_response(
        {
            "source": export.source,
            "sessions": result.sessions,
            "turns": result.turns,
            "known": result.known,
            "to_digest": result.to_digest,
            "skipped": len(result.left_out),
            "left_out": result.left_out[:MAX_LISTED],
        },
        status=201,
    )


ROUTES = (
    post(
        "/api/import",
        import_part,
        takes="Import",
        answer="Imported",
        about="Record conversations of a ChatGPT or Claude export, or lists of messages, once each",
        status=201,
        fails=(409,),
    ),
)
