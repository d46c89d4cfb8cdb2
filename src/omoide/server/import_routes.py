"""Bringing in what other programs stored, a part at a time, and exports of omoide."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omoide.client.decoding import decode, decode_all
from omoide.domain.text import checked_text
from omoide.errors import TextTooLong
from omoide.server.read_routes import json_response
from omoide.server.write_routes import ADMIN, at_of, post
from omoide.transfer import (
    ForeignConversation,
    ForeignFact,
    ForeignMemories,
    KeptItem,
    read_records,
    read_values,
)

if TYPE_CHECKING:
    from starlette.responses import Response

    from omoide.server.endpoint import RouteCall

MAX_LISTED = 100
"""Most skipped items of a raw export that are listed; the others are counted."""


async def import_part(call: RouteCall) -> Response:
    """Record conversations, each once."""
    body = call.body
    export = read_values(body["conversations"], max_chars=_longest(call))
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


async def import_conversations(call: RouteCall) -> Response:
    """Record conversations that the caller has read already."""
    result = await call.memory.import_conversations(
        call.user, _conversations(call), digest=call.body.get("digest", True), at=at_of(call)
    )
    return json_response(result, status=201)


async def import_memories(call: RouteCall) -> Response:
    """Store what another memory product has stored."""
    body, longest = call.body, _longest(call)
    facts = (decode(ForeignFact, value) for value in body.get("facts", ()))
    kept = decode_all(KeptItem, body.get("kept", []))
    if any(len(item.text) > longest for item in kept):
        raise TextTooLong(
            f"an item to keep has more than {longest:,} characters (OMOIDE_MAX_TURN_CHARS). "
            "What to do: leave it out, or set a higher limit on the server"
        )
    memories = ForeignMemories(
        source=body["source"],
        items=0,
        facts=tuple(replace(f, text=checked_text(f.text, max_chars=longest)) for f in facts),
        conversations=_conversations(call),
        kept=kept,
        left_out=(),
    )
    result = await call.memory.import_memories(
        call.user, memories, digest=body.get("digest", True), at=at_of(call)
    )
    stored: dict[str, Any] = {name: v for name, v in vars(result).items() if name != "items"}
    return json_response(stored, status=201)


async def restore(call: RouteCall) -> Response:
    """Restore an export of omoide."""
    contents = read_records(call.body["records"])
    return json_response(await call.memory.restore(call.user, contents, at=at_of(call)), status=201)


def _conversations(call: RouteCall) -> tuple[ForeignConversation, ...]:
    longest = _longest(call)
    return tuple(
        replace(
            conversation,
            messages=tuple(
                replace(message, text=checked_text(message.text, max_chars=longest))
                for message in conversation.messages
            ),
        )
        for conversation in decode_all(ForeignConversation, call.body.get("conversations", []))
    )


def _longest(call: RouteCall) -> int:
    return call.context.runtime.settings.max_turn_chars


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
    post(
        "/api/import/conversations",
        import_conversations,
        takes="ImportConversations",
        answer="ImportedConversations",
        about="Record conversations that the caller has read from an export, once each",
        status=201,
        fails=(409,),
    ),
    post(
        "/api/import/memories",
        import_memories,
        takes="ImportMemories",
        answer="ImportedMemories",
        about="Store what another memory product has stored: facts, conversations and the rest",
        status=201,
        fails=(409,),
    ),
    post(
        "/api/restore",
        restore,
        takes="Restore",
        answer="Restored",
        about="Restore an export of omoide into a user, to the same state",
        needs=ADMIN,
        status=201,
        fails=(409,),
    ),
)
