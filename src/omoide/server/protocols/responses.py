"""OpenAI's Responses protocol: `/v1/responses` and `/v1/conversations`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from omoide.server.endpoint import RouteCall, RouteSpec
from omoide.server.keys import Scope
from omoide.server.problems import encoded
from omoide.server.protocols.responses_request import messages_of, read_request
from omoide.server.protocols.responses_writer import ResponsesWriter
from omoide.server.protocols.threads import new_id, new_thread, threads_of
from omoide.server.protocols.writing import ConvertedRequest
from omoide.server.proxy import converse, may_store
from omoide.wire.fields import Fields

if TYPE_CHECKING:
    from omoide.server.endpoint import Handler
    from omoide.server.protocols.threads import Thread, Threads


async def create_response(call: RouteCall) -> Response:
    """`POST /v1/responses`."""
    request, threads = read_request(call.body), threads_of(call)
    after: Thread | None = None
    history: list[dict[str, Any]] = []
    if request.conversation is not None:
        after = await threads.conversation(request.conversation, param="conversation")
        history = after.items
    elif request.previous is not None:
        after, entry = await threads.response(request.previous, param="previous_response_id")
        history = after.until(entry)
    items = [await _resolved(threads, item, i) for i, item in enumerate(request.input)]
    thread = after.id if after else new_thread()
    store = request.store and may_store(call)

    async def keep(response: dict[str, Any]) -> bool:
        return store and await threads.keep(thread, after=after, input=items, response=response)

    echo = {**request.echo, "store": store}
    if request.conversation is not None:
        echo["conversation"] = {"id": request.conversation}
    writer = ResponsesWriter(
        thread=thread,
        echo=echo,
        created=int(call.context.runtime.clock.now().timestamp()),
        keep=keep,
    )
    converted = ConvertedRequest(
        body=request.body(history, items),
        writer=writer,
        session=request.conversation,
        openai=True,
        threads=threads,
    )
    return await converse(call, converted)


async def _resolved(threads: Threads, item: dict[str, Any], i: int) -> dict[str, Any]:
    """An item, or the stored one that it refers to."""
    if item.get("type") != "item_reference":
        return item
    where = f"input[{i}]"
    return await threads.item(Fields(item, where=where).needed("id"), param=f"{where}.id")


async def get_response(call: RouteCall) -> Response:
    """`GET /v1/responses/{response_id}`."""
    _, entry = await threads_of(call).response(call.path["response_id"])
    return _json(entry.response)


async def get_response_input(call: RouteCall) -> Response:
    """`GET /v1/responses/{response_id}/input_items`."""
    thread, entry = await threads_of(call).response(call.path["response_id"])
    items = thread.until(entry)
    return _json(_list(items[: len(items) - len(entry.response["output"])], thread.id))


async def delete_response(call: RouteCall) -> Response:
    """`DELETE /v1/responses/{response_id}`."""
    threads = threads_of(call)
    thread, entry = await threads.response(call.path["response_id"])
    await threads.remove(thread, entry)
    return _json({"id": entry.id, "object": "response", "deleted": True})


async def create_conversation(call: RouteCall) -> Response:
    """`POST /v1/conversations`."""
    fields, thread = Fields(call.body), new_thread()
    items = [dict(item) for item in fields.rows("items") or ()]
    about = {
        "id": f"conv_{thread}",
        "object": "conversation",
        "created_at": int(call.context.runtime.clock.now().timestamp()),
        "metadata": fields.mapping("metadata") or {},
    }
    fields.ignore("user")
    fields.close()
    messages_of(items, where="items")  # refuses what no later response could use
    await threads_of(call).add(thread, after=None, input=items, about=about)
    return _json(about)


async def get_conversation(call: RouteCall) -> Response:
    """`GET /v1/conversations/{conversation_id}`."""
    thread = await threads_of(call).conversation(call.path["conversation_id"])
    return _json(thread.conversation or {})


async def delete_conversation(call: RouteCall) -> Response:
    """`DELETE /v1/conversations/{conversation_id}`."""
    threads = threads_of(call)
    thread = await threads.conversation(call.path["conversation_id"])
    await threads.remove(thread)
    return _json({"id": f"conv_{thread.id}", "object": "conversation.deleted", "deleted": True})


async def get_conversation_items(call: RouteCall) -> Response:
    """`GET /v1/conversations/{conversation_id}/items`."""
    thread = await threads_of(call).conversation(call.path["conversation_id"])
    return _json(_list(thread.items, thread.id))


async def add_conversation_items(call: RouteCall) -> Response:
    """`POST /v1/conversations/{conversation_id}/items`."""
    threads = threads_of(call)
    thread = await threads.conversation(call.path["conversation_id"])
    fields = Fields(call.body)
    items = [dict(item) for item in fields.rows("items") or ()]
    fields.ignore("user")
    fields.close()
    messages_of(items, where="items")
    items = [_with_id(item, thread.id) for item in items]
    await threads.add(thread.id, after=thread, input=items)
    return _json(_list(items, thread.id))


def _list(items: list[dict[str, Any]], thread: str) -> dict[str, Any]:
    data = [_with_id(item, thread) for item in items]
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else "",
        "last_id": data[-1]["id"] if data else "",
        "has_more": False,
    }


def _with_id(item: dict[str, Any], thread: str) -> dict[str, Any]:
    """An item as it is listed: with an id, and its text as parts."""
    listed = {"id": new_id("msg", thread), "type": "message", "status": "completed", **item}
    if listed["type"] == "message" and isinstance(content := listed.get("content"), str):
        kind = "output_text" if listed.get("role") == "assistant" else "input_text"
        listed["content"] = [{"type": kind, "text": content}]
    return listed


def _json(value: dict[str, Any]) -> Response:
    return Response(encoded(value), media_type="application/json")


def _row(
    method: str, path: str, handler: Handler, *, about: str, answer: str, takes: str = ""
) -> RouteSpec:
    needs = frozenset({Scope.READ if method == "GET" else Scope.WRITE})
    return RouteSpec(
        method=method,
        path=path,
        handler=handler,
        tag="openai",
        about=about,
        needs=needs,
        takes=takes,
        answer=answer,
        fails=(404,),
    )


ROUTES = (
    RouteSpec(
        method="POST",
        path="/v1/responses",
        handler=create_response,
        tag="openai",
        about="OpenAI's Responses, with memory",
        needs=frozenset({Scope.READ, Scope.WRITE}),
        takes="ResponsesRequest",
        answer="ResponsesAnswer",
        also={"text/event-stream": "Event"},
        headers=("X-Omoide-Session", "X-Omoide-Memory"),
        user_fields=("user", "safety_identifier", "metadata.user_id"),
        fails=(502, 504),
    ),
    _row(
        "GET",
        "/v1/responses/{response_id}",
        get_response,
        about="A stored response",
        answer="ResponsesAnswer",
    ),
    _row(
        "DELETE",
        "/v1/responses/{response_id}",
        delete_response,
        about="Delete a stored response; what was recorded of it stays",
        answer="Deleted",
    ),
    _row(
        "GET",
        "/v1/responses/{response_id}/input_items",
        get_response_input,
        about="What a stored response was made from",
        answer="ItemList",
    ),
    _row(
        "POST",
        "/v1/conversations",
        create_conversation,
        about="Begin a conversation that responses can be added to",
        takes="ConversationRequest",
        answer="Conversation",
    ),
    _row(
        "GET",
        "/v1/conversations/{conversation_id}",
        get_conversation,
        about="A stored conversation",
        answer="Conversation",
    ),
    _row(
        "DELETE",
        "/v1/conversations/{conversation_id}",
        delete_conversation,
        about="Delete a stored conversation; what was recorded of it stays",
        answer="Deleted",
    ),
    _row(
        "GET",
        "/v1/conversations/{conversation_id}/items",
        get_conversation_items,
        about="The items of a conversation",
        answer="ItemList",
    ),
    _row(
        "POST",
        "/v1/conversations/{conversation_id}/items",
        add_conversation_items,
        about="Add items to a conversation",
        takes="ItemsRequest",
        answer="ItemList",
    ),
)
