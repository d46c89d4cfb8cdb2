"""Webhooks: what is told, to whom, how it is signed, and what happens if nobody listens."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from omoide.adapters.webhooks import HttpWebhooks
from omoide.bootstrap import open_runtime
from omoide.domain import JobState, JobTask, Owner
from omoide.domain.webhook import WebhookEvent, WebhookKind, signed_headers, verify
from omoide.engine.webhooks import SOON
from omoide.engine.worker import DELIVERIES
from omoide.errors import BadInput, WebhookFailed
from omoide.settings import Settings
from omoide.testing import FrozenClock
from tests.unit.fact_stories import BERGEN, CAT, FACTS, OSLO, add, answer, moved, replaced

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tests.unit.conftest import World

    Make = Callable[..., Awaitable[World]]

HOOK = "https://hooks.example/omoide?token=t0ken"
LISBON = "The user will move to Lisbon on 2030-01-01."
SECRET = "s3cret"  # noqa: S105 - of nobody
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
PING = WebhookEvent(kind=WebhookKind.PING, time=NOW)


class Receiver:
    """Another program: notes what it is sent, and answers as it is told."""

    def __init__(self, *statuses: int | Exception) -> None:
        self.statuses = list(statuses)
        self.requests: list[httpx.Request] = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        """For `httpx.MockTransport`."""
        await request.aread()
        self.requests.append(request)
        status = self.statuses.pop(0) if self.statuses else 204
        if isinstance(status, Exception):
            raise status
        return httpx.Response(status, headers={"location": "http://169.254.169.254/"})

    @property
    def events(self) -> list[dict[str, Any]]:
        """The bodies."""
        return [json.loads(request.content) for request in self.requests]


def sender(
    receiver: Receiver,
    *addresses: str,
    clock: FrozenClock | None = None,
    **more: Any,  # noqa: ANN401
) -> HttpWebhooks:
    """Delivers to it."""
    return HttpWebhooks(
        addresses or (HOOK,),
        secret=SECRET,
        clock=clock or FrozenClock(),
        transport=httpx.MockTransport(receiver),
        **more,
    )


async def told(make_world: Make, receiver: Receiver, **settings: Any) -> World:  # noqa: ANN401
    """A world in which Ana moved, and its webhooks are delivered."""
    made = partial(make_world, webhooks=sender(receiver))
    world = await moved(made, settings=replace(FACTS, **settings))
    world.clock.advance(SOON)
    await world.memory.run_jobs()
    return world


async def test_a_digested_session_and_a_changed_fact_are_told(make_world: Make) -> None:
    """With ids, and without a word of what was said."""
    receiver = Receiver()
    world = await told(make_world, receiver)
    facts = {fact.text: fact.id for fact in await world.memory.facts("ana", ended=True)}
    first, second, superseded = receiver.events
    assert [first["type"], second["type"]] == ["memory.updated", "memory.updated"]
    assert {fact["id"] for fact in first["data"]["facts"]} == {facts[OSLO], facts[CAT]}
    assert (second["tenant"], second["user"], second["data"]["session"]) == ("default", "ana", 2)
    assert second["data"]["version"] == (await world.memory.summary("ana")).number
    assert superseded["type"] == "fact.superseded"
    assert superseded["data"]["fact"] == {"id": facts[OSLO]}
    assert superseded["data"]["by"] == {"id": facts[BERGEN]}
    sent = b"".join(request.content for request in receiver.requests)
    assert not any(word in sent for word in (b"Oslo", b"Bergen", b"Miso", b"moved"))
    assert await world.memory.jobs("ana", states=[JobState.WAITING, JobState.DEAD]) == ()


async def test_a_digest_without_a_summary_is_told_without_a_version(make_world: Make) -> None:
    """Where no mechanism writes one."""
    receiver = Receiver()
    settings = replace(FACTS, mechanisms=("memos", "search"))
    world = await make_world(webhooks=sender(receiver), settings=settings)
    await world.session("ana", "I live in Oslo.", answers=(answer(add(OSLO)),))
    world.clock.advance(SOON)
    await world.memory.run_jobs()
    assert [event["data"]["version"] for event in receiver.events] == [0]


async def test_texts_are_told_only_if_asked_for(make_world: Make) -> None:
    """By a setting of the operator's."""
    receiver = Receiver()
    await told(make_world, receiver, webhook_texts=True)
    assert receiver.events[-1]["data"]["fact"]["text"] == OSLO


async def test_work_that_was_given_up_is_told(make_world: Make) -> None:
    """Which job of whom, not why: the reason may quote the model."""
    receiver = Receiver()
    world = await make_world(webhooks=sender(receiver))
    await world.session("ana", "I have a cat called Miso.", answers=("",) * 9)
    (dead,) = await world.memory.jobs("ana", states=[JobState.DEAD])
    await world.memory.run_jobs()
    (event,) = receiver.events
    assert event["type"] == "job.dead"
    assert event["data"] == {"number": dead.id, "task": "digest", "session": 1}


async def test_a_session_that_is_digested_after_all_is_told(make_world: Make) -> None:
    """Nothing of it stays given up."""
    receiver = Receiver()
    world = await make_world(webhooks=sender(receiver), settings=FACTS)
    await world.session("ana", "I live in Oslo.", answers=("",) * 9)
    await world.memory.run_jobs()
    world.iterator.answers.clear()
    world.iterator.answers.append(answer(add(OSLO)))
    (queued,) = await world.memory.digest("ana", session=1)
    await world.memory.run_jobs()
    world.clock.advance(SOON)
    await world.memory.run_jobs()
    assert [event["type"] for event in receiver.events] == ["job.dead", "memory.updated"]
    assert await world.memory.jobs("ana", states=[JobState.DEAD]) == ()
    assert [fact.text for fact in await world.memory.facts("ana")] == [OSLO]
    assert queued.task is JobTask.DIGEST


async def test_work_without_a_session_is_told_without_reading_what_was_said(
    make_world: Make,
) -> None:
    """Embedding that was given up, say: the user may have said a million things."""
    receiver = Receiver()
    world = await make_world(webhooks=sender(receiver))
    await world.memory.record("ana", "I have a cat called Miso.")
    owner = Owner(tenant="default", user="ana")
    queue = world.store.jobs
    embed = await queue.claim("default", worker="w", now=world.clock.now(), lease=SOON)
    assert embed is not None
    await queue.set_state(embed, state=JobState.DEAD, error="the embedder cannot be used")
    await queue.enqueue(owner, JobTask.NOTIFY, session=None, at=world.clock.now())
    read: list[object] = []

    async def reading(*_: object, **wanted: object) -> tuple[()]:
        read.append(wanted)
        return ()

    world.store.turns.read = reading  # type: ignore[method-assign]
    await world.memory.run_jobs()
    (event,) = receiver.events
    assert event["data"] == {"number": embed.id, "task": "embed", "session": None}
    assert read == []


async def test_a_receiver_that_is_away_is_tried_again_with_the_same_event(
    make_world: Make,
) -> None:
    """Later each time, across restarts, since the job is in the database."""
    receiver = Receiver(500, httpx.ConnectError("refused"), 302)
    world = await make_world(webhooks=sender(receiver), settings=FACTS)
    await world.session("ana", "Hi", answers=('{"changes": [], "topics": []}',))
    for tries in range(1, 5):
        await world.memory.run_jobs()
        assert len(receiver.requests) == tries
        world.clock.advance(timedelta(minutes=20))
    assert len({request.headers["webhook-id"] for request in receiver.requests}) == 1
    assert {str(request.url) for request in receiver.requests} == {HOOK}  # no redirect
    assert await world.memory.jobs("ana", states=[JobState.WAITING]) == ()


async def test_an_event_keeps_its_id_if_the_memory_changes_until_it_is_delivered(
    make_world: Make,
) -> None:
    """A receiver that took it, but whose answer was lost, knows it again."""
    receiver = Receiver(500)
    world = await make_world(webhooks=sender(receiver), settings=FACTS)
    await world.session("ana", "I live in Oslo.", answers=(answer(add(OSLO)),))
    await world.memory.run_jobs()
    (fact,) = await world.memory.facts("ana")
    await world.memory.correct("ana", fact.id, BERGEN)
    world.clock.advance(timedelta(minutes=20))
    await world.memory.run_jobs()
    assert [event["data"]["version"] for event in receiver.events] == [1, 2]
    assert len({event["id"] for event in receiver.events}) == 1


async def test_what_ends_before_a_plan_would_end_it_is_told(make_world: Make) -> None:
    """By the session that says so, and once."""
    receiver = Receiver()
    world = await make_world(webhooks=sender(receiver), settings=FACTS)
    await world.session("ana", "I live in Oslo.", answers=(answer(add(OSLO)),))
    plan = {**replaced(1, LISBON, "she moves"), "kind": "plan", "since": "2030-01-01"}
    await world.session("ana", "I move to Lisbon on 1 January 2030.", answers=(answer(plan),))
    await world.memory.run_jobs()
    receiver.requests.clear()
    (oslo, *_) = await world.memory.facts("ana")
    over = {"do": "end", "facts": [1], "turns": [1], "why": "moved out"}
    await world.session("ana", "I do not live in Oslo any more.", answers=(answer(over),))
    await world.memory.run_jobs()
    told = [event["data"] for event in receiver.events if event["type"] == "fact.superseded"]
    assert [(data["session"], data["fact"]) for data in told] == [(3, {"id": oslo.id})]


async def test_a_receiver_that_never_comes_back_is_given_up(make_world: Make) -> None:
    """Its job is dead and says why, without the secret part of the address; no event about it."""
    receiver = Receiver(*[500] * 99)
    world = await make_world(webhooks=sender(receiver), settings=FACTS)
    await world.session("ana", "Hi", answers=('{"changes": [], "topics": []}',))
    for _ in range(DELIVERIES + 2):
        await world.memory.run_jobs()
        world.clock.advance(timedelta(minutes=20))
    assert len(receiver.requests) == DELIVERIES
    (dead,) = await world.memory.jobs("ana", states=[JobState.DEAD])
    assert dead.task is JobTask.NOTIFY
    assert dead.error == "the webhook at hooks.example answered with status 500"


async def test_what_was_erased_is_not_told(make_world: Make) -> None:
    """The user was erased after the session was digested and before it was told, and the events do
    not bring them back."""
    receiver = Receiver()
    world = await make_world(webhooks=sender(receiver), settings=FACTS)
    await world.memory.record("ana", "Hi")
    await world.memory.end_session("ana")
    world.iterator.answers.append('{"changes": [], "topics": []}')
    await world.memory.run_jobs()
    await world.memory.erase("ana")
    world.clock.advance(SOON)
    await world.memory.run_jobs()
    assert receiver.requests == []
    assert await world.memory.users() == ()


async def test_no_jobs_are_queued_where_nobody_is_told(make_world: Make) -> None:
    """Webhooks cost nothing if there are none."""
    world = await moved(make_world)
    assert all(job.task is not JobTask.NOTIFY for job in await world.memory.jobs("ana"))


async def test_a_receiver_that_does_not_answer_is_not_waited_for() -> None:
    """And the other addresses get the event all the same."""
    reached: list[str] = []

    async def handle(request: httpx.Request) -> httpx.Response:
        if request.url.host == "slow.example":
            await asyncio.Event().wait()
        reached.append(request.url.host)
        return httpx.Response(200)

    hooks = HttpWebhooks(
        ("https://slow.example/", "https://quick.example/"),
        secret=SECRET,
        clock=FrozenClock(),
        transport=httpx.MockTransport(handle),
        patience=0.05,
    )
    with pytest.raises(WebhookFailed, match=r"slow\.example did not answer"):
        await hooks.send(PING)
    assert reached == ["quick.example"]
    await hooks.close()


def test_the_signature_is_that_of_standard_webhooks() -> None:
    """HMAC-SHA256 over id, time and body, in base64; worked out here by hand."""
    secret = "whsec_" + base64.b64encode(b"k3y").decode()
    headers = signed_headers(PING, secret=secret, now=NOW)
    content = f"{PING.id}.{int(NOW.timestamp())}.".encode() + PING.body()
    expected = base64.b64encode(hmac.new(b"k3y", content, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["webhook-id"] == PING.id


def test_a_delivery_can_be_verified() -> None:
    """Not if it was changed, is old, or was signed with another secret."""
    headers = signed_headers(PING, secret=SECRET, now=NOW)
    check = partial(verify, headers, PING.body(), secret=SECRET, now=NOW)
    assert check()
    assert not verify(headers, PING.body() + b" ", secret=SECRET, now=NOW)
    assert not check(secret=f"{SECRET}!")
    assert not check(now=NOW + timedelta(minutes=6))
    assert not check(now=NOW - timedelta(minutes=6))
    assert not verify({}, PING.body(), secret=SECRET, now=NOW)
    several = {**headers, "webhook-signature": f"v1,old {headers['webhook-signature']}"}
    assert verify(several, PING.body(), secret=SECRET, now=NOW)


@pytest.mark.parametrize(
    ("addresses", "secret"),
    [(("ftp://x/",), "s"), (("x",), "s"), (("https://x/",), "")],
)
async def test_a_wrong_setting_is_refused_at_the_start(
    tmp_path: Path, addresses: tuple[str, ...], secret: str
) -> None:
    """Before anything could be told unsigned, or to a wrong place."""
    settings = Settings(
        db=tmp_path / "m.sqlite", model="none", webhooks=addresses, webhook_secret=secret
    )
    with pytest.raises(BadInput):
        await open_runtime(settings)
