"""The verbs of the library over HTTP, and how their errors are told."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import JobState, Receipt, Speaker
from omoide.engine.messages import Utterance
from omoide.errors import ModelRefused, ModelUnavailable, StoreLocked
from omoide.server.keys import Scope
from omoide.server.logs import JsonLines
from omoide.server.options import Options
from omoide.transfer import from_record

from .serving import CAT, M1, Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server."""
    async with serving(tmp_path) as bench:
        yield bench


async def get(bench: Bench, path: str, **params: Any) -> Any:  # noqa: ANN401 - JSON
    """A read about ana."""
    response = await bench.client.get(path, params={"user": "ana", **params})
    assert response.status_code == 200, response.text
    return response.json()


async def post(bench: Bench, path: str, body: object, **headers: str) -> httpx.Response:
    """A write about ana."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return await bench.client.post(path, params={"user": "ana"}, json=body, headers=sent)


async def remembered(bench: Bench) -> None:
    """Returns when the background work has made a memory of ana."""
    while not (await get(bench, "/api/memory"))["number"]:  # noqa: ASYNC110 - it is seen by asking
        await asyncio.sleep(0.001)


async def test_turns_are_recorded_and_read_in_pages(bench: Bench) -> None:
    """Each page begins where the one before ended; nothing is seen twice or left out."""
    said = [{"speaker": "user", "text": f"Turn {i}."} for i in range(7)]
    made = await post(bench, "/api/turns", {"turns": said, "session": "s"})
    assert made.status_code == 201
    assert [t["position"] for t in made.json()["turns"]] == list(range(1, 8))
    texts: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(3):
        page = await get(bench, "/api/turns", limit=3, session=1, **cursor)
        texts += [t["text"] for t in page["items"]]
        cursor = {"cursor": page["next"]}
    assert texts == [s["text"] for s in said]
    assert page["next"] is None


async def test_a_turn_may_bring_its_time_id_and_name(bench: Bench) -> None:
    """Times are kept in UTC; an id given before with other words is a conflict."""
    turn = {"speaker": "user", "text": "Hi", "id": "x1", "name": "Ana"}
    time = {"time": "2026-01-02T10:00:00+02:00"}
    made = await post(bench, "/api/turns", {"turns": [{**turn, **time}]})
    assert made.json()["turns"][0]["time"] == "2026-01-02T08:00:00+00:00"
    assert (await post(bench, "/api/turns", {"turns": [turn]})).status_code == 201
    other = await post(bench, "/api/turns", {"turns": [{**turn, "text": "Ho"}]})
    assert (other.status_code, other.json()["type"]) == (409, "urn:omoide:problem:conflicting-turn")


async def test_a_line_break_behind_a_line_is_one_too_many(bench: Bench) -> None:
    """What is described as one line is refused with another begun; patterns hold for the whole."""
    bad = await post(bench, "/api/memory/amend", {"sentence": "x", "text": "One line.\n"})
    assert (bad.status_code, bad.json()["field"]) == (422, "text")
    bad = await post(
        bench, "/api/turns", {"turns": [{"speaker": "user", "text": "Hi", "id": "a\n"}]}
    )
    assert (bad.status_code, bad.json()["field"]) == (422, "turns[0].id")
    made = await post(bench, "/api/turns", {"turns": [{"speaker": "user", "text": "Hi\n"}]})
    assert made.status_code == 201


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/api/erase", {"turns": ["\ud83d"]}, "turns[0]"),
        ("/api/erase", {"sentences": ["x\ud83d"]}, "sentences[0]"),
        ("/api/explain", {"text": "\ud83d"}, "text"),
        ("/api/turns", {"turns": [{"speaker": "user", "text": "\ude00"}]}, "turns[0].text"),
        ("/api/reply", {"text": "Hi", "session": "\ud83d"}, "session"),
    ],
)
async def test_half_a_character_is_refused(
    bench: Bench, path: str, body: object, field: str
) -> None:
    """JSON can escape what no text holds; it is told at the door, by its field."""
    sent = {"content-type": "application/json"}
    text = json.dumps(body)
    bad = await bench.client.post(path, params={"user": "ana"}, content=text, headers=sent)
    assert (bad.status_code, bad.json()["field"]) == (422, field)


async def test_recall_finds_what_was_said(bench: Bench) -> None:
    """Best first, with the turns it rests on, and no more than asked for."""
    await bench.remember()
    found = (await post(bench, "/api/recall", {"query": "cat", "k": 1})).json()
    items = found["items"]
    assert len(items) == 1
    assert found["support"].keys() == {"known", "best", "mismatch"}
    mine = (await post(bench, "/api/recall", {"query": "my cat"})).json()
    yours = (await post(bench, "/api/recall", {"query": "my cat", "asker": "assistant"})).json()
    assert mine["items"][0]["score"] != yours["items"][0]["score"]
    assert "Miso" in items[0]["text"]
    assert items[0]["sources"]


async def test_a_reply_comes_with_what_memory_gave_to_it(bench: Bench) -> None:
    """Both sides are recorded."""
    await bench.remember()
    bench.replier.answers.append("How is Miso?")
    reply = (await post(bench, "/api/reply", {"text": "My cat is ill."})).json()
    assert reply["text"] == "How is Miso?"
    assert {c["place"] for c in reply["contributions"]} == {"memory", "recalled"}
    assert (await bench.said())[-2:] == ["My cat is ill.", "How is Miso?"]


async def test_a_reply_may_come_in_events(bench: Bench) -> None:
    """The beginning says why, then come pieces, then the end; or the error that ended it."""
    bench.replier.answers += ["One is first. Two is next.", ModelUnavailable("down")]
    whole = (await post(bench, "/api/reply", {"text": "Count.", "stream": True})).text
    kinds = [line[7:] for line in whole.splitlines() if line.startswith("event: ")]
    assert kinds == ["begin", "piece", "piece", "end"]
    broken = (await post(bench, "/api/reply", {"text": "Again.", "stream": True})).text
    assert "event: error" in broken
    assert '"status":502' in broken


async def test_the_memory_is_seen_through_time(bench: Bench) -> None:
    """By version, session and time; what changed, what it rests on, and back again."""
    await bench.remember()
    assert (await get(bench, "/api/memory"))["sentences"][0]["text"] == M1
    assert (await get(bench, "/api/memory", version=0))["number"] == 0
    assert (await get(bench, "/api/memory", at="2025-01-01T00:00:00Z"))["number"] == 0
    assert (await get(bench, "/api/memory", session=1))["number"] == 1
    assert [v["number"] for v in (await get(bench, "/api/memory/versions"))["items"]] == [1]
    assert (await get(bench, "/api/memory/diff"))["items"] == [
        {
            "change": "added",
            "old": None,
            "new": M1,
            "old_addressed": None,
            "new_addressed": "You have a cat called Miso.",
        }
    ]
    because = (await get(bench, "/api/memory/why"))["items"]
    assert [t["text"] for t in because[0]["turns"]] == [CAT]
    back = await post(bench, "/api/memory/rollback", {"version": 0})
    assert (back.status_code, back.json()["number"], back.json()["restored"]) == (201, 2, 0)
    assert (await get(bench, "/api/memory/diff", **{"from": 1, "to": 2}))["items"][0]["old"] == M1
    assert (await get(bench, "/api/memory/rejected"))["items"] == []


async def test_sessions_end_and_are_digested_in_the_background(bench: Bench) -> None:
    """Nobody has to ask for it."""
    await bench.memory().record("ana", [Utterance(speaker=Speaker.USER, text=CAT)])
    bench.iterator.answers.append(M1)
    ended = (await post(bench, "/api/sessions/end", {"session": 1})).json()["sessions"]
    assert [s["number"] for s in ended] == [1]
    await remembered(bench)
    assert (await get(bench, "/api/sessions"))["items"][0]["turns"] == 1
    assert {j["task"] for j in (await get(bench, "/api/jobs", state="done"))["items"]} >= {"digest"}


async def given_up(bench: Bench) -> int:
    """A session that could not be digested; the job's number."""
    await bench.memory().record("ana", [Utterance(speaker=Speaker.USER, text=CAT)])
    bench.iterator.answers.append(ModelRefused("the key is wrong"))
    await bench.memory().end_session("ana")
    await bench.memory().run_jobs()
    (dead,) = (await get(bench, "/api/jobs", state="dead"))["items"]
    assert (dead["task"], dead["error"]) == ("digest", "the key is wrong")
    return int(dead["id"])


async def test_work_that_was_given_up_is_listed_and_tried_again(bench: Bench) -> None:
    """By its number, or all of the user's; once is enough, and there must be such a job."""
    job = await given_up(bench)
    bench.iterator.answers.append(M1)
    retried = (await post(bench, "/api/jobs/retry", {"job": job})).json()["items"]
    assert [(one["id"], one["state"], one["user"]) for one in retried] == [(job, "dead", "ana")]
    await remembered(bench)
    again = await post(bench, "/api/jobs/retry", {"job": job})
    assert (again.status_code, again.json()["type"].rpartition(":")[2]) == (404, "no-such-job")
    assert (await post(bench, "/api/jobs/retry", {})).json() == {"items": []}
    assert (await post(bench, "/api/jobs/retry", {"job": 0})).status_code == 422


async def test_nobody_retries_anothers_work(bench: Bench) -> None:
    """Neither with another tenant's key, nor under another user's name, nor without `write`."""
    job = await given_up(bench)
    for headers, user, status in (
        (bench.key("elsewhere"), "ana", 404),
        (bench.key("default"), "bob", 404),
        (bench.key("default", Scope.READ, Scope.ADMIN), "ana", 403),
    ):
        sent = {**headers, "X-Omoide-User": user}
        response = await bench.client.post("/api/jobs/retry", json={"job": job}, headers=sent)
        assert response.status_code == status
    (dead,) = await bench.memory().jobs("ana", states=[JobState.DEAD])
    assert dead.id == job


async def test_cost_is_summed_by_group(bench: Bench) -> None:
    """Of the user alone."""
    await bench.remember()
    cost = await get(bench, "/api/cost", by="model")
    assert {g["name"] for g in cost["groups"]} >= {"iterator"}
    assert cost["total"]["calls"] == sum(g["calls"] for g in cost["groups"])


async def test_an_export_can_be_brought_back(bench: Bench) -> None:
    """JSON lines behind a header, each a record that the library reads."""
    await bench.remember()
    response = await bench.client.get("/api/export", params={"user": "ana"})
    assert response.headers["content-type"] == "application/x-ndjson"
    header, *records = map(json.loads, response.text.splitlines())
    assert header["user"] == "ana"
    assert len([from_record(record, "line") for record in records]) == sum(
        header["records"].values()
    )


async def test_erasing_takes_exactly_one_target(bench: Bench) -> None:
    """A forgotten field must not erase a person."""
    await bench.remember()
    await bench.memory().run_jobs()  # work that ends after an erasure still writes its account
    bodies: tuple[dict[str, Any], ...] = (
        {},
        {"all": True, "session": 1},
        {"all": False},
        {"turns": []},
    )
    for body in bodies:
        assert (await post(bench, "/api/erase", body)).status_code == 422
    none = await post(bench, "/api/erase", {"facts": ["unknown"]})
    counts = {name: n for name, n in none.json().items() if name != "receipt"}
    assert set(counts.values()) == {0}
    assert {"sessions", "turns", "sentences", "facts", "pending"} <= counts.keys()
    gone = await post(bench, "/api/erase", {"sentences": [M1]})
    assert gone.json()["sentences"] == 1
    assert (await post(bench, "/api/erase", {"session": 2})).json()["turns"] == 1
    assert (await post(bench, "/api/erase", {"all": True})).json()["turns"] == 2
    assert (await bench.client.get("/api/users")).json()["items"] == []


async def test_users_are_listed_in_pages(bench: Bench) -> None:
    """In order, whatever their names hold."""
    for user in ("b/c", "ana", "日本"):
        await bench.memory().record(user, [Utterance(speaker=Speaker.USER, text="Hi")])
    first = (await bench.client.get("/api/users?limit=2")).json()
    rest = (await bench.client.get(f"/api/users?limit=2&cursor={first['next']}")).json()
    assert first["items"] + rest["items"] == ["ana", "b/c", "日本"]
    found = await bench.client.get("/api/turns", params={"user": "b/c"})
    assert len(found.json()["items"]) == 1


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/memory?user=ana&version=7", 404),
        ("/api/memory?user=ana&version=1&session=1", 404),
        ("/api/memory?user=ana&version=x", 422),
        ("/api/memory?user=ana&at=yesterday", 422),
        ("/api/memory?user=ana&at=2026-01-05T09:00:00", 422),
        ("/api/memory?user=ana&verison=1", 422),
        ("/api/memory?user=ana&version=1&version=2", 422),
        ("/api/turns?user=ana&limit=0", 422),
        ("/api/turns?user=ana&cursor=x", 422),
        ("/api/jobs?user=ana&state=odd", 422),
        ("/api/turns", 400),
        ("/api/turns?user=%00", 422),
        ("/nowhere", 404),
        ("/api/recall", 405),
    ],
)
async def test_errors_are_problem_details(bench: Bench, path: str, status: int) -> None:
    """RFC 9457, with what to do in it."""
    response = await bench.client.get(path)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["type"].startswith("urn:omoide:problem:")
    assert problem["detail"]
    if status == 405:
        assert "POST" in response.headers["allow"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "turns"),
        ({"turns": []}, "turns"),
        ({"turns": [{"speaker": "user"}]}, "turns[0].text"),
        ({"turns": [{"speaker": "dog", "text": "x"}]}, "turns[0].speaker"),
        ({"turns": [{"speaker": "user", "text": ""}]}, "turns[0].text"),
        ({"turns": [{"speaker": "user", "text": "x", "time": "now"}]}, "turns[0].time"),
        ({"turns": [{"speaker": "user", "text": "x", "tiem": 1}]}, "turns[0].tiem"),
        ({"turns": [{"speaker": "user", "text": "x"}], "session": 7}, "session"),
        ([], None),
    ],
)
async def test_a_wrong_field_is_named(bench: Bench, body: object, field: str | None) -> None:
    """The one who has to mend it can find it, and nothing was recorded."""
    response = await post(bench, "/api/turns", body)
    assert response.status_code == 422
    assert response.json().get("field") == field
    assert await bench.said() == []


async def test_a_write_under_the_same_key_is_done_once(bench: Bench) -> None:
    """The second time the first answer comes back; another body under the key is refused."""
    await bench.remember()
    first = await post(bench, "/api/memory/rollback", {"version": 0}, Idempotency_Key="k1")
    again = await post(bench, "/api/memory/rollback", {"version": 0}, Idempotency_Key="k1")
    assert again.content == first.content
    assert again.headers["idempotent-replayed"] == "true"
    assert len((await get(bench, "/api/memory/versions"))["items"]) == 2
    other = await post(bench, "/api/memory/rollback", {"version": 1}, Idempotency_Key="k1")
    assert other.json()["type"] == "urn:omoide:problem:idempotency-key-reused"


async def test_recording_once_outlives_a_restart(tmp_path: Path) -> None:
    """The turns' ids come from the key."""
    body = {"turns": [{"speaker": "user", "text": "Hi"}, {"speaker": "user", "text": "Hi"}]}
    for _ in range(2):
        store = await SqliteStore.open(tmp_path / "m.sqlite")
        async with serving(tmp_path, store=store) as bench:
            await post(bench, "/api/turns", body, Idempotency_Key="k1")
            assert await bench.said() == ["Hi", "Hi"]


async def test_a_write_under_way_is_not_done_beside_itself(bench: Bench) -> None:
    """The second asker is told to come back; a failed first may be tried again."""
    gate, begun = asyncio.Event(), asyncio.Event()

    async def slowly(_: object) -> str:
        begun.set()
        await gate.wait()
        return "Done."

    bench.replier.answers += [slowly, ModelUnavailable("down"), "Again."]
    first = asyncio.create_task(post(bench, "/api/reply", {"text": "Go."}, Idempotency_Key="k"))
    await begun.wait()
    second = await post(bench, "/api/reply", {"text": "Go."}, Idempotency_Key="k")
    assert (second.status_code, second.headers["retry-after"]) == (409, "1")
    gate.set()
    assert (await first).json()["text"] == "Done."
    failed = await post(bench, "/api/reply", {"text": "Go on."}, Idempotency_Key="k2")
    mended = await post(bench, "/api/reply", {"text": "Go on."}, Idempotency_Key="k2")
    assert (failed.status_code, mended.json()["text"]) == (502, "Again.")
    assert await bench.said() == ["Go.", "Done.", "Go on.", "Again."]


async def test_kept_answers_go_when_their_user_is_erased(bench: Bench) -> None:
    """No words of an erased person are replayed."""
    bench.replier.answers += ["Secret.", "Fresh."]
    await post(bench, "/api/reply", {"text": "Hi"}, Idempotency_Key="k")
    await post(bench, "/api/erase", {"all": True})
    again = await post(bench, "/api/reply", {"text": "Hi"}, Idempotency_Key="k")
    assert again.json()["text"] == "Fresh."


async def test_a_database_that_fails_is_told_as_such(bench: Bench) -> None:
    """503 with a time to come back, and not ready."""

    async def locked(*_: object, **__: object) -> None:
        raise StoreLocked("another process holds it")

    bench.server.runtime.store.jobs.list = locked  # type: ignore[method-assign,assignment]
    response = await bench.client.get("/api/jobs?user=ana")
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    ready = await bench.client.get("/readyz")
    assert (ready.status_code, ready.json()["reason"]) == (503, "store-locked")
    assert (await bench.client.get("/healthz")).status_code == 200


async def test_an_error_of_ours_says_nothing_of_the_inside(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """A number to look for in the log, where the words of the error are left out."""

    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("My secret")

    bench.server.runtime.store.turns.sessions = broken  # type: ignore[method-assign,assignment]
    response = await bench.client.get("/api/sessions?user=ana")
    assert response.status_code == 500
    assert response.headers["x-request-id"] in response.json()["detail"]
    lines = [JsonLines().format(record) for record in caplog.records]
    assert any('"error": "RuntimeError"' in line for line in lines)
    assert "My secret" not in response.text + "".join(lines)


async def test_logs_hold_no_words_and_no_users(bench: Bench) -> None:
    """Everything said and everyone named stays out of every line."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("omoide")
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.DEBUG)
    try:
        await bench.chat("PRIVATE words", user="ana-PRIVATE", stream=True)
        await bench.client.get("/api/turns?user=ana-PRIVATE")
        await bench.client.get("/api/turns/PRIVATE")
        await post(bench, "/api/turns", {"PRIVATE": 1})
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    requests = [line for line in lines if line["event"] == "request"]
    assert [r["status"] for r in requests] == [200, 200, 404, 422]
    assert requests[0]["memory"] == "ok"
    assert "PRIVATE" not in stream.getvalue()


async def test_metrics_count_requests_tokens_recall_and_jobs(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Prometheus' text format."""
    monkeypatch.setattr("omoide.engine.exchange.monotonic", lambda: 1_000.0)
    await bench.chat("Hi")
    await bench.memory().run_jobs()
    owner_jobs = await bench.memory().jobs(states=[JobState.WAITING])
    text = (await bench.client.get("/metrics")).text
    assert (
        'omoide_requests_total{method="POST",route="/v1/chat/completions",status="200"} 1' in text
    )
    assert 'omoide_model_tokens_total{purpose="reply",direction="prompt"} 11' in text
    assert 'omoide_model_tokens_total{purpose="embed",direction="prompt"}' in text
    assert "omoide_recall_seconds_count 1" in text
    assert "omoide_recall_seconds_sum 0" in text
    assert f'omoide_jobs{{state="behind"}} {len(owner_jobs)}' in text
    for line in text.splitlines():
        assert line.startswith("#") or float(line.rpartition(" ")[2]) >= 0


async def test_idle_sessions_are_ended_without_anyone_asking(tmp_path: Path) -> None:
    """The server looks for them now and then."""
    async with serving(tmp_path, options=Options(idle_every=0.001)) as bench:
        bench.iterator.answers.append(M1)
        await bench.memory().record("ana", [Utterance(speaker=Speaker.USER, text=CAT)])
        bench.clock.advance(timedelta(hours=1))
        await remembered(bench)


async def test_an_erasure_is_answered_with_a_receipt(bench: Bench) -> None:
    """It can be checked against the database that erased."""
    await bench.remember()
    answer = await post(bench, "/api/erase", {"session": 1})
    receipt = Receipt.from_json(json.dumps(answer.json()["receipt"]))
    assert receipt.removed["turns"] == answer.json()["turns"] == 2
    assert receipt.clean
    assert await bench.memory().is_genuine(receipt)
