"""Small promises of the server that clients rely on: statuses, finish reasons, first events."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import CallPurpose, JobState, ModelCall, NewTurn, Owner, Speaker
from omoide.errors import BadInput
from omoide.server.connections import protocol
from omoide.server.embedded import EngineUpstream
from omoide.server.keys import ApiKeys
from omoide.server.keys import Scope as Access
from omoide.server.metrics import Histogram
from omoide.server.options import Options
from omoide.server.problems import HttpProblem, answer
from omoide.server.protocols.threads import Threads
from omoide.server.routes import ROUTES
from omoide.server.run import upstream_of
from omoide.server.upstream import HttpUpstream
from omoide.testing import FrozenClock
from omoide.testing.endpoint import DONE, Scripted, event, stream, whole
from tests.virtual_time import run

from .serving import CHAT, Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from starlette.types import Receive, Scope, Send

    from tests.unit.conftest import World

ANA = {"X-Omoide-User": "ana"}
NOW = FrozenClock().now()
SAID = [{"role": "user", "content": "Hi"}]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server."""
    async with serving(tmp_path) as bench:
        yield bench


def streamed(*deltas: dict[str, Any], finish: str = "stop") -> Scripted:
    """A stream of these pieces."""
    blocks = [event(delta) for delta in deltas]
    return Scripted(
        media_type="text/event-stream", blocks=(*blocks, event({}, finish=finish), DONE)
    )


@pytest.mark.parametrize(
    ("finish", "told"), [("length", "length"), ("stop", "stop"), ("tool_calls", "stop")]
)
async def test_a_completion_says_why_it_ended(bench: Bench, finish: str, told: str) -> None:
    """What the older protocol has no word for is a stop."""
    bench.upstairs.answers.append(streamed({"content": "Yes"}, finish=finish))
    response = await bench.client.post("/v1/completions", json={"prompt": "Hi"}, headers=ANA)
    assert response.json()["choices"][0]["finish_reason"] == told


async def test_a_response_begins_with_what_it_will_be(bench: Bench) -> None:
    """Its first two events have the id that the last one has."""
    bench.upstairs.answers.append(stream("Yes."))
    body = {"input": "Hi", "stream": True}
    text = (await bench.client.post("/v1/responses", json=body, headers=ANA)).text
    told = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    created, progress, last = (told[i]["response"] for i in (0, 1, -1))
    assert (created["status"], progress["status"]) == ("in_progress", "in_progress")
    assert created["id"] == progress["id"] == last["id"]
    assert (created["output"], last["status"]) == ([], "completed")


async def test_what_is_deleted_is_confirmed_by_its_id(bench: Bench) -> None:
    """A stored response, and a conversation."""
    bench.upstairs.answers.append(whole("Yes."))
    said = (await bench.client.post("/v1/responses", json={"input": "Hi"}, headers=ANA)).json()
    begun = (await bench.client.post("/v1/conversations", json={}, headers=ANA)).json()
    for path, found in (("/v1/responses", said), ("/v1/conversations", begun)):
        gone = await bench.client.delete(f"{path}/{found['id']}", headers=ANA)
        assert (gone.json()["id"], gone.json()["deleted"]) == (found["id"], True)
        assert (await bench.client.get(f"{path}/{found['id']}", headers=ANA)).status_code == 404


async def test_a_list_of_items_says_where_it_begins_and_ends(bench: Bench) -> None:
    """All of them are in it, so there are no more; an empty one begins and ends nowhere."""
    for texts in ((), ("one",), ("one", "two", "three")):
        items = [{"type": "message", "role": "user", "content": text} for text in texts]
        body = {"items": items}
        begun = (await bench.client.post("/v1/conversations", json=body, headers=ANA)).json()
        path = f"/v1/conversations/{begun['id']}/items"
        listed = (await bench.client.get(path, headers=ANA)).json()
        ids = [item["id"] for item in listed["data"]]
        assert [item["content"][0]["text"] for item in listed["data"]] == list(texts)
        assert [listed["first_id"], listed["last_id"]] == ([ids[0], ids[-1]] if ids else ["", ""])
        assert (listed["object"], listed["has_more"]) == ("list", False)


@pytest.mark.parametrize("in_conversation", [True, False])
async def test_the_input_of_a_response_is_all_that_came_before_it(
    bench: Bench, in_conversation: bool
) -> None:
    """Of its conversation, or of the responses that it continues; not what came after."""
    for text in ("A.", "B.", "C."):
        bench.upstairs.answers.append(whole(text))
    begun = (await bench.client.post("/v1/conversations", json={}, headers=ANA)).json()
    ids, before = list[str](), dict[str, str]()
    for text in ("one", "two", "three"):
        link = {"conversation": begun["id"]} if in_conversation else before
        body = {"input": text, **link}
        said = (await bench.client.post("/v1/responses", json=body, headers=ANA)).json()
        ids.append(said["id"])
        before = {"previous_response_id": said["id"]}
    for id_, expected in zip(ids, ("one", "one A. two", "one A. two B. three"), strict=True):
        path = f"/v1/responses/{id_}/input_items"
        items = (await bench.client.get(path, headers=ANA)).json()["data"]
        assert " ".join(item["content"][0]["text"] for item in items) == expected


async def test_a_client_must_give_only_what_the_path_names(bench: Bench) -> None:
    """Whatever else the description lists, in the query or a header, may be left out."""
    described = (await bench.client.get("/openapi.json")).json()["paths"]
    operations = [operation for path in described.values() for operation in path.values()]
    parameters = [p for operation in operations for p in operation.get("parameters", ())]
    assert {p["in"] for p in parameters} == {"path", "query", "header"}
    for parameter in parameters:
        assert parameter["required"] is (parameter["in"] == "path"), parameter["name"]


@pytest.mark.parametrize(("sent", "told"), [("1", 1), ("NaN", None), ("1e999", None)])
async def test_ollamas_tool_calls_come_whole_at_the_end(
    bench: Bench, sent: str, told: int | None
) -> None:
    """However they came in pieces; a number that JSON does not have is null."""
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": '{"x"'}}
    more = {"index": 0, "function": {"arguments": f": {sent}}}"}}
    bench.upstairs.answers.append(
        streamed({"tool_calls": [call]}, {"tool_calls": [more]}, finish="tool_calls")
    )
    body = {"messages": [{"role": "user", "content": "Hi"}]}
    text = (await bench.client.post("/api/chat", json=body, headers=ANA)).text
    calls, done = (json.loads(line) for line in text.splitlines())
    assert calls["message"]["tool_calls"] == [
        {"id": "c", "function": {"name": "f", "arguments": {"x": told}}}
    ]
    assert done["done"] is True


@pytest.mark.parametrize(
    ("path", "body", "answer", "said"),
    [
        ("/api/embed", {"input": "Hi"}, b'{"data": 7}', "has no embeddings"),
        ("/api/embed", {"input": "Hi"}, b'{"data": [7]}', "has no embeddings"),
        ("/api/embed", {"input": "Hi"}, b"[]", "not a JSON object"),
        ("/api/embed", {"input": "Hi"}, b"<html>", "not a JSON object"),
        ("/api/embed", {"input": "Hi"}, b'{"data": [{"embedding": [NaN]}]}', "not a JSON object"),
        ("/api/chat", {"messages": SAID, "stream": False}, b"{}", "not a chat completion"),
        ("/api/chat", {"messages": SAID, "stream": False}, b'{"error": "out of memory"}', "memory"),
        ("/v1/messages", {"messages": SAID, "max_tokens": 9}, b'{"error": "too hot"}', "too hot"),
        ("/v1/responses", {"input": "Hi"}, b'{"error": {"message": "too hot"}}', "too hot"),
        ("/v1/completions", {"prompt": "Hi"}, b'{"error": {"code": 7}}', "status 502"),
    ],
)
async def test_an_upstream_that_answers_nonsense_is_a_bad_gateway(
    bench: Bench, path: str, body: dict[str, Any], answer: bytes, said: str
) -> None:
    """Though it says that all is well: the client learns what the upstream said, or lacks."""
    bench.upstairs.answers.append(Scripted(blocks=(answer,)))
    response = await bench.client.post(path, json={"model": "m", **body}, headers=ANA)
    assert response.status_code == 502
    assert said in response.text


@pytest.mark.parametrize("body", [{}, {"text": "Hi", "messages": SAID}], ids=["neither", "both"])
async def test_an_exchange_is_begun_with_a_text_or_with_messages(
    bench: Bench, body: dict[str, Any]
) -> None:
    """Not with both and not with neither; nothing is recorded."""
    response = await bench.client.post("/api/exchanges", params={"user": "ana"}, json=body)
    assert response.status_code == 422
    assert "either text or messages" in response.text
    assert await bench.said() == []


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [
        ("1.0", 201, "Miso"),
        ("1.5", 422, "version must be integer"),
        ("9007199254740992.0", 422, "version must be integer"),
        ("1e300", 422, "version must be integer"),
    ],
)
async def test_a_whole_number_may_be_written_with_a_point(
    bench: Bench, number: str, status: int, said: str
) -> None:
    """As JSON Schema has it, up to where such a number is no longer exact."""
    await bench.remember()
    response = await bench.client.post(
        "/api/memory/rollback",
        params={"user": "ana"},
        content=f'{{"version": {number}}}',
        headers={"Content-Type": "application/json"},
    )
    assert response.status_code == status
    assert said in response.text


async def test_a_user_is_named_by_a_text(bench: Bench) -> None:
    """A number in a vendor's field is refused, and nobody else's memory is used instead."""
    response = await bench.client.post(CHAT, json={"model": "m", "messages": SAID, "user": 7})
    assert 400 <= response.status_code < 500
    assert bench.upstairs.requests == []


async def test_a_receipt_of_another_format_is_not_genuine(bench: Bench) -> None:
    """It is told so, like one that was changed; as it was written it is genuine."""
    await bench.remember()
    erased = await bench.memory().erase("ana")
    assert erased.receipt is not None
    receipt = json.loads(erased.receipt.to_json())
    for change, genuine in (({}, True), ({"format": 99}, False), ({"scope": "x"}, False)):
        response = await bench.client.post("/api/receipts/check", json=receipt | change)
        assert (response.status_code, response.json()) == (200, {"genuine": genuine})


async def test_nothing_waits_where_nothing_can(bench: Bench) -> None:
    """The metric is there without a folder for waiting words, and says none."""
    assert "omoide_waiting 0" in (await bench.client.get("/metrics")).text.splitlines()


def test_durations_are_counted_in_every_bucket_that_holds_them() -> None:
    """As Prometheus wants it: bounds that grow, counts that never fall, a bound included, and the
    rest only in the last one."""
    histogram = Histogram()
    for seconds in (0.0005, 0.001, 0.03, 0.03, 7.0):
        histogram.observe(seconds)
    *buckets, total, number = histogram.lines("t")
    found = [re.fullmatch(r't_bucket\{le="(.+)"\} (\d+)', line) for line in buckets]
    counts = {float(match[1].replace("+", "")): int(match[2]) for match in found if match}
    assert len(counts) == len(buckets)
    assert list(counts) == sorted(counts)
    assert list(counts.values()) == sorted(counts.values())
    assert counts[0.001] == 2
    assert {counts[bound] for bound in counts if 0.001 < bound < 0.03} == {2}
    assert {counts[bound] for bound in counts if 0.03 < bound < 7} == {4}
    assert counts[float("inf")] == 5
    assert (total, number) == ("t_sum 7.061500", "t_count 5")


async def test_metrics_tell_what_a_chat_did(bench: Bench) -> None:
    """Requests by route and status, tokens and calls by purpose, and nobody's name or words."""
    await bench.chat("Hello from Lyon.")
    await bench.client.get("/api/none")
    metrics = bench.server.metrics
    lost = ModelCall(
        purpose=CallPurpose.REPLY,
        model="m",
        session=None,
        prompt_tokens=1000,
        completion_tokens=50,
        seconds=0.1,
        time=bench.server.runtime.clock.now(),
    )
    tokens = {way: metrics.tokens["reply", way] for way in ("prompt", "completion")}
    for failed in (False, True, True):
        metrics.call(replace(lost, failed=failed))
    text = (await bench.client.get("/metrics")).text
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    route = 'omoide_requests_total{method="POST",route="/v1/chat/completions",status="200"}'
    assert lines[route] == "1"
    assert any("404" in name and value == "1" for name, value in lines.items())
    named = 'omoide_model_tokens_total{purpose="reply",direction="%s"}'
    assert int(lines[named % "prompt"]) == tokens["prompt"] + 3000
    assert int(lines[named % "completion"]) == tokens["completion"] + 150
    calls = 'omoide_model_calls_total{purpose="reply",outcome="%s"}'
    assert lines[calls % "failed"] == "2"
    assert int(lines[calls % "ok"]) >= 1
    assert lines["omoide_recall_seconds_count"] == "1"
    assert lines["omoide_streams"] == "0"
    assert not {"ana", "Lyon", "default"} & set(re.findall(r"\w+", text))


async def test_a_head_request_is_a_get_without_a_body(bench: Bench) -> None:
    """On every path that may be read, and no other."""
    for row in ROUTES:
        if row.method == "GET" and "{" not in row.path:
            url = f"{row.path}?user=ana"
            read, head = await bench.client.get(url), await bench.client.head(url)
            assert head.status_code == read.status_code, row.path
            assert head.content == b""
    assert (await bench.client.head("/api/sessions/end")).status_code == 405


@pytest.mark.parametrize("tenants", [("acme", "beta"), ()])
async def test_work_that_was_left_is_done_before_anybody_asks(
    tmp_path: Path, tenants: tuple[str, ...]
) -> None:
    """For the tenants that have keys, or for the server's own if there are none."""
    keys = ApiKeys(tmp_path / "keys")
    for tenant in tenants:
        keys.create(tenant=tenant, name="k", scopes=tuple(Access), at=NOW)
    store = await SqliteStore.open(":memory:")
    served = tenants or ("default",)
    for tenant in (*served, "stranger"):
        owner, said = (
            Owner(tenant=tenant, user="ana"),
            NewTurn(speaker=Speaker.USER, text="I moved to Lyon.", time=NOW, id="t", language="en"),
        )
        await store.turns.append(owner, [said], session="s", idle=timedelta(hours=1))

    async def open_jobs(tenant: str) -> int:
        jobs = await store.jobs.list(tenant)
        return sum(job.state in (JobState.WAITING, JobState.RUNNING) for job in jobs)

    assert all([await open_jobs(tenant) for tenant in served])
    async with serving(tmp_path, store=store):
        for _ in range(10_000):
            if not any([await open_jobs(tenant) for tenant in served]):
                break
            await asyncio.sleep(0.001)
        assert [await open_jobs(tenant) for tenant in served] == [0] * len(served)
        assert await open_jobs("stranger") == 1


async def test_a_route_answers_with_the_status_that_it_declares(bench: Bench) -> None:
    """What is created is told by 201, in the answer and in the OpenAPI document."""
    sent: dict[str, Any] = {"language": "en"}
    for path in ("/api/demo", "/api/facts/correct"):
        [declared] = [route.status for route in ROUTES if route.path == path]
        made = await bench.client.post(path, params={"user": "demo"}, json=sent)
        assert made.status_code == declared == 201, made.text
        await bench.memory().run_jobs()
        [fact, *_] = await bench.memory().facts("demo")
        sent = {"id": fact.id, "text": "The user lives in Rome."}


@pytest.mark.parametrize(("known", "session"), [(False, None), (True, None), (True, 1)])
async def test_what_is_erased_elsewhere_meanwhile_is_not_kept_for_a_retry(
    tmp_path: Path, known: bool, session: int | None
) -> None:
    """Another process erases the user, or a session, while the first request with a key still runs,
    be it the first that is heard of this user or not."""
    stores = [await SqliteStore.open(tmp_path / "db") for _ in range(2)]
    options = Options(patience=300.0, work=False)
    async with (
        serving(tmp_path / "1", store=stores[0], options=options) as one,
        serving(tmp_path / "2", store=stores[1], options=options) as two,
    ):
        if known:
            await one.memory().record("ana", "Something else.")
        going_on = asyncio.Event()
        [block] = whole("Your secret.").blocks
        one.upstairs.answers += [Scripted(blocks=(going_on, block)), whole("Fresh.")]
        headers = {**ANA, "Idempotency-Key": "k"}
        body = {"model": "m", "messages": [{"role": "user", "content": "My secret"}]}
        first = asyncio.ensure_future(one.client.post(CHAT, json=body, headers=headers))
        while not one.upstairs.requests:  # noqa: ASYNC110 - the upstream has no event for it
            await asyncio.sleep(0)
        await two.memory().erase("ana", session=session)
        going_on.set()
        assert "Your secret." in (await first).text
        again = await one.client.post(CHAT, json=body, headers=headers)
        assert "Fresh." in again.text
        assert "idempotent-replayed" not in again.headers


async def test_the_upstream_is_a_url_or_the_servers_own_model(world: World) -> None:
    """Anything else is refused with what may be given."""
    own = world.runtime.settings.model
    assert isinstance(upstream_of("http://localhost:1/v1", world.runtime), HttpUpstream)
    assert isinstance(upstream_of(own, world.runtime), EngineUpstream)
    with pytest.raises(BadInput, match="not a URL"):
        upstream_of("another", world.runtime)


class Wire(asyncio.Transport):
    """A connection that notes what is sent, and when it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.closed_at: list[float] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """See `asyncio.Transport`."""
        self.sent += bytes(data)

    def close(self) -> None:
        """See `asyncio.Transport`."""
        self.closed_at.append(asyncio.get_running_loop().time())

    def is_closing(self) -> bool:
        """See `asyncio.Transport`."""
        return bool(self.closed_at)


def test_a_slow_answer_keeps_its_connection() -> None:
    """Only the request has to come in time: an answer may take an hour."""

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        await asyncio.sleep(3600)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"Yes."})

    async def main() -> Wire:
        config, wire = uvicorn.Config(slow, lifespan="off", log_config=None), Wire()
        config.load()
        made: Any = protocol(60.0)
        connection = made(config=config, server_state=ServerState(), app_state={})
        connection.connection_made(wire)
        connection.data_received(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await asyncio.sleep(3601)
        return wire

    wire = run(main())
    assert b"200 OK" in wire.sent
    assert all(time >= 3600 for time in wire.closed_at)


@pytest.mark.parametrize(
    ("path", "empty"), [("/api/chat", {"messages": []}), ("/api/generate", {"prompt": ""})]
)
@pytest.mark.parametrize("header", ["X-Omoide-Session", "X-Omoide-Memory"])
async def test_loading_a_model_checks_the_headers_of_a_chat(
    bench: Bench, path: str, empty: dict[str, Any], header: str
) -> None:
    """Ollama's clients send an empty request first: a wrong header is told then, not later."""
    body = {"model": "m", **empty}
    fine = await bench.client.post(path, json=body, headers=ANA)
    assert fine.status_code == 200
    wrong = await bench.client.post(path, json=body, headers={**ANA, header: "x" * 300})
    assert wrong.status_code == 400
    assert bench.upstairs.requests == []


@pytest.mark.parametrize(
    ("status", "openai", "anthropic"),
    [
        (400, "invalid_request_error", "invalid_request_error"),
        (401, "authentication_error", "authentication_error"),
        (403, "permission_error", "permission_error"),
        (404, "invalid_request_error", "not_found_error"),
        (409, "invalid_request_error", "invalid_request_error"),
        (413, "invalid_request_error", "request_too_large"),
        (422, "invalid_request_error", "invalid_request_error"),
        (429, "rate_limit_error", "rate_limit_error"),
        (499, "invalid_request_error", "invalid_request_error"),
        (500, "server_error", "api_error"),
        (503, "server_error", "api_error"),
        (504, "server_error", "timeout_error"),
    ],
)
def test_an_error_has_the_type_that_each_vendors_client_knows(
    status: int, openai: str, anthropic: str
) -> None:
    """So that it retries what may succeed, and nothing else. Ours alone has a status 422."""
    problem = HttpProblem(status, "thread-gone", "Try again.", param="input", headers={"A": "b"})

    def told(path: str) -> tuple[int, Any]:
        response = answer(problem, path=path)
        assert response.headers["a"] == "b"
        return response.status_code, json.loads(bytes(response.body))

    theirs = 400 if status == 422 else status
    code, body = told("/v1/chat/completions")
    assert (code, body["error"]["type"]) == (theirs, openai)
    assert (body["error"]["message"], body["error"]["param"]) == ("Try again.", "input")
    code, body = told("/v1/messages")
    assert (code, body["type"], body["error"]["type"]) == (theirs, "error", anthropic)
    assert body["error"]["details"] == {"error_code": "thread_gone"}
    assert told("/api/chat") == (theirs, {"error": "Try again."})
    code, body = told("/api/users")
    assert (code, body["status"], body["title"]) == (status, status, "Thread gone")
    assert (body["detail"], body["field"]) == ("Try again.", "input")
    assert body["type"] == "urn:omoide:problem:thread-gone"


@pytest.mark.parametrize(
    ("path", "body", "counts"),
    [
        ("/v1/completions", {"prompt": "Hi"}, (11, 3, 14)),
        ("/v1/responses", {"input": "Hi"}, (11, 3, 14)),
        (
            "/v1/messages",
            {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9},
            (11, 3),
        ),
        ("/api/generate", {"prompt": "Hi", "stream": False}, (11, 3)),
    ],
)
async def test_tokens_are_those_that_the_upstream_counted(
    bench: Bench, path: str, body: dict[str, Any], counts: tuple[int, ...]
) -> None:
    """What it did not count, such as what a cache saved or how long it took, is zero: nobody is
    billed for what we made up."""
    answered = (await bench.client.post(path, json=body, headers=ANA)).json()
    usage = answered.get("usage") or {
        name: value
        for name, value in answered.items()
        if name.endswith(("_count", "_duration")) and name != "total_duration"
    }
    numbers = [value for value in usage.values() if isinstance(value, int)]
    details = [n for value in usage.values() if isinstance(value, dict) for n in value.values()]
    assert sorted(n for n in numbers if n) == sorted(counts)
    assert not any(details)


async def test_entries_of_a_thread_keep_their_order(bench: Bench) -> None:
    """Also after one was removed: the next one is the last, and none takes another's place."""
    runtime = bench.server.runtime
    owner = Owner(tenant="default", user="ana")
    threads = Threads(runtime.store, owner, runtime.clock, patience=300.0)
    name, said, thread = "0" * 24, list[str](), None
    for number in range(12):
        await threads.add(name, after=thread, input=[{"type": "message", "content": str(number)}])
        said.append(str(number))
        thread = await threads._thread(f"conv_{name}", "conv")
        assert thread is not None
        if number in (3, 5, 6):
            await threads.remove(thread, thread.entries[1])
            del said[1]
            thread = await threads._thread(f"conv_{name}", "conv")
            assert thread is not None
        assert [entry.input[0]["content"] for entry in thread.entries] == said
