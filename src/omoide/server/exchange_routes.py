"""Routes for callers that ask a model of their own: what memory adds, and what came of it.

An exchange spans two requests that may reach two servers of one database. So nothing is kept in
between: the caller sends back what the first answer named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.domain import MemoryKind, Speaker
from omoide.engine.asking import Answer
from omoide.engine.messages import Utterance
from omoide.engine.resuming import resume
from omoide.mechanisms.base import Contribution, PromptPlace
from omoide.server.addressing import Addressing
from omoide.server.endpoint import RouteCall, RouteSpec
from omoide.server.problems import HttpProblem
from omoide.server.read_routes import READ, json_response
from omoide.server.schema import parse_time
from omoide.server.write_routes import WRITE, at_of, id_from_key, post

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response

    from omoide.engine.memory import Messages


async def context(call: RouteCall) -> Response:
    """What memory adds to the prompt of a reply; nothing is recorded."""
    found = await call.memory.context(
        call.user, _said(call), at=at_of(call), budget=call.body.get("budget")
    )
    return json_response(
        {
            "text": found.text,
            "messages": found.messages,
            "contributions": await _shown(call, found.contributions),
        }
    )


async def begin_exchange(call: RouteCall) -> Response:
    """Record a message and gather what memory adds to its prompt."""
    body = call.body
    begun = await call.memory.begin(
        call.user,
        _said(call),
        session=body.get("session"),
        at=at_of(call),
        budget=body.get("budget"),
    )
    return json_response(
        {
            "turns": begun.turns,
            "new": sorted(begun.turns.new),
            "text": begun.context.text if begun.context else "",
            "messages": begun.messages,
            "contributions": await _shown(call, begun.why),
            "version": begun.version,
            "repeated": begun.repeated,
            "changes": begun.changes,
        },
        status=201,
    )


async def finish_exchange(call: RouteCall) -> Response:
    """Record the reply, and mark what was recalled for it as used."""
    body = call.body
    exchange = await resume(
        call.memory,
        call.user,
        body["turn"],
        used=[_used(item) for item in body.get("used", ())],
        session=body.get("session"),
        at=at_of(call),
        repeated=body.get("repeated", False),
    )
    if exchange is None:
        return json_response({"recorded": False, "turns": [], "new": []})
    answer = Answer(
        text=body["text"], once=body.get("once", False), complete=body.get("complete", True)
    )
    turns = await exchange.finish(answer, record=body.get("record", True))
    return json_response({"recorded": bool(turns), "turns": turns, "new": sorted(turns.new)})


def _said(call: RouteCall) -> Messages:
    """What the user says: a text or messages."""
    body = call.body
    if ("text" in body) == ("messages" in body):
        raise HttpProblem(422, "invalid", "give either text or messages", param="messages")
    if "messages" in body:
        for i, message in enumerate(body["messages"]):
            _check_content(message.get("content"), where=f"messages[{i}].content")
        return tuple(body["messages"])
    return Utterance(
        speaker=Speaker.USER,
        text=body["text"],
        id=body.get("id") or id_from_key(call, 0),
        name=body.get("name"),
    )


def _check_content(content: object, *, where: str) -> None:
    """Raise the problem with a message's content, which is OpenAI's. Its characters are no problem:
    those that cannot be stored are left out of what is."""
    parts = content if isinstance(content, list) else []
    if not isinstance(content, str | list | None) or not all(isinstance(p, dict) for p in parts):
        raise HttpProblem(
            422, "invalid", f"{where} must be a string or an array of objects", param=where
        )


async def _shown(call: RouteCall, contributions: Sequence[Contribution]) -> list[dict[str, Any]]:
    address = await Addressing.of(call.memory, call.user)
    return [address.contribution(one) for one in contributions]


def _used(fields: dict[str, Any]) -> Contribution:
    """A contribution, as far as its mechanism needs to know it to mark it as used."""
    return Contribution(
        mechanism=fields["mechanism"],
        place=PromptPlace(fields["place"]),
        kind=MemoryKind(fields["kind"]),
        id=fields["id"],
        time=parse_time(fields["time"], where="used.time"),
        text="",
        value=0.0,
        sources=(),
        why="",
    )


ROUTES = (
    RouteSpec(
        method="POST",
        path="/api/context",
        handler=context,
        about="What memory adds to the prompt of a reply, for a model of your own",
        needs=READ,
        takes="ContextRequest",
        answer="PromptContext",
        fails=(409,),
    ),
    post(
        "/api/exchanges",
        begin_exchange,
        takes="ExchangeRequest",
        answer="ExchangeBegun",
        about="Record a message that your own model will answer, and get its prompt with memory",
        needs=READ | WRITE,
        status=201,
    ),
    post(
        "/api/exchanges/finish",
        finish_exchange,
        takes="ExchangeEnd",
        answer="ExchangeEnded",
        about="Record the reply of your own model",
    ),
)
