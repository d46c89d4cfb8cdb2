"""Routes for background work, notes, single model calls and receipts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Receipt
from omoide.errors import BadInput
from omoide.server.endpoint import CURSOR, LIMIT, Parameter, RouteCall, RouteSpec
from omoide.server.problems import HttpProblem
from omoide.server.read_routes import READ, get, json_response, page
from omoide.server.shapes.builders import NAME
from omoide.server.write_routes import WRITE, at_of, post

if TYPE_CHECKING:
    from starlette.responses import Response


async def run_jobs(call: RouteCall) -> Response:
    """Run the tenant's jobs that are due, and wait for them."""
    return json_response({"started": await call.memory.run_jobs()})


async def end_idle(call: RouteCall) -> Response:
    """End the tenant's sessions that were idle for long."""
    return json_response({"ended": await call.memory.end_idle(at=at_of(call))})


async def digest(call: RouteCall) -> Response:
    """Queue a session to be digested again."""
    queued = await call.memory.digest(call.user, session=call.body["session"], at=at_of(call))
    return json_response({"items": queued})


async def embed_missing(call: RouteCall) -> Response:
    """Queue the embedding of everything that has no vector."""
    try:
        await call.memory.embed(call.user, at=at_of(call))
    except BadInput as error:
        raise HttpProblem(404, "bad-input", str(error)) from error
    return json_response({})


async def notes(call: RouteCall) -> Response:
    """The notes of one kind."""
    return json_response(
        {"items": await call.memory.notes(call.user, kind=call.query.get("kind", ""))}
    )


async def put_note(call: RouteCall) -> Response:
    """Keep a text of the application's own."""
    body = call.body
    note = await call.memory.put_note(
        call.user, kind=body["kind"], key=body["key"], text=body["text"], at=at_of(call)
    )
    return json_response(note, status=201)


async def remove_notes(call: RouteCall) -> Response:
    """Remove notes of the application's own."""
    removed = await call.memory.remove_notes(
        call.user, kind=call.body["kind"], keys=call.body.get("keys")
    )
    return json_response({"removed": removed})


async def model_calls(call: RouteCall) -> Response:
    """Every model call made for the user. The cursor is an index."""
    calls = await call.memory.calls(call.user)
    return page(call, enumerate(calls), lambda pair: pair[0], lambda pair: pair[1])


async def check_receipt(call: RouteCall) -> Response:
    """Whether a receipt is genuine."""
    try:
        genuine = await call.memory.is_genuine(Receipt.from_json(call.raw.decode()))
    except BadInput:  # not of a format that we write
        genuine = False
    return json_response({"genuine": genuine})


ROUTES = (
    RouteSpec(
        method="POST",
        path="/api/jobs/run",
        handler=run_jobs,
        about="Run the jobs of the tenant that are due, and wait for them",
        needs=WRITE,
        takes="Nothing",
        answer="Ran",
        user=False,
    ),
    RouteSpec(
        method="POST",
        path="/api/sessions/end-idle",
        handler=end_idle,
        about="End the sessions of all users of the tenant that were idle for long",
        needs=WRITE,
        takes="When",
        answer="EndedIdle",
        user=False,
    ),
    post(
        "/api/jobs/digest",
        digest,
        takes="Digest",
        answer="Queued",
        about="Digest a session again",
    ),
    post(
        "/api/jobs/embed",
        embed_missing,
        takes="When",
        answer="Nothing",
        about="Embed everything of the user that has no vector",
    ),
    get(
        "/api/notes",
        notes,
        "Notes",
        Parameter(name="kind", shape=NAME, about="The kind of the notes."),
        about="Notes of one kind: a mechanism's, or the application's own",
    ),
    post(
        "/api/notes",
        put_note,
        takes="NewNote",
        answer="Note",
        about="Keep a text of the application's own about the user",
        status=201,
    ),
    post(
        "/api/notes/remove",
        remove_notes,
        takes="NoteNames",
        answer="RemovedNotes",
        about="Remove notes of the application's own",
    ),
    get(
        "/api/calls",
        model_calls,
        "ModelCallPage",
        LIMIT,
        CURSOR,
        about="Every model call made for the user, and what it cost",
    ),
    RouteSpec(
        method="POST",
        path="/api/receipts/check",
        handler=check_receipt,
        about="Whether the receipt of an erasure is genuine",
        needs=READ,
        takes="Receipt",
        answer="ReceiptCheck",
        user=False,
    ),
)
