"""Facts over HTTP: read, marked, corrected and erased."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omoide.server.keys import Scope
from tests.unit.fact_stories import BERGEN, CAT, FACTS, OSLO, add, answer

from .serving import Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx

ROME = "The user lives in Rome."
ANA = {"user": "ana"}


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A server that knows where Ana lives, and that she has a cat."""
    async with serving(tmp_path, settings=FACTS) as bench:
        memory = bench.memory()
        bench.iterator.answers.append(answer(add(OSLO), add(CAT, kind="relation")))
        await memory.record("ana", "I live in Oslo and have a cat called Miso.")
        await memory.end_session("ana")
        await memory.run_jobs()
        yield bench


async def get(bench: Bench, path: str = "/api/facts", **params: Any) -> Any:  # noqa: ANN401 - JSON
    """A read about Ana."""
    response = await bench.client.get(path, params={**ANA, **params})
    assert response.status_code == 200, response.text
    return response.json()


async def patch(bench: Bench, **marks: object) -> httpx.Response:
    """A change of marks of one of Ana's facts."""
    return await bench.client.patch("/api/facts", params=ANA, json=marks)


async def named(bench: Bench, text: str) -> dict[str, Any]:
    """Ana's fact that says so."""
    items = (await get(bench, ended="true"))["items"]
    found: dict[str, Any] = next(item for item in items if item["text"] == text)
    return found


async def test_facts_are_read_in_pages_and_filtered(bench: Bench) -> None:
    """Each page begins where the one before ended; a day before anything was said has none."""
    first = await get(bench, limit=1)
    rest = await get(bench, limit=1, cursor=first["next"])
    texts = [item["text"] for item in (*first["items"], *rest["items"])]
    assert sorted(texts) == sorted([OSLO, CAT])
    turn = first["items"][0]["sources"][0]
    assert len((await get(bench, turn=[turn, "unknown"]))["items"]) == 2
    assert (await get(bench, turn="unknown"))["items"] == []
    assert rest["next"] is None
    assert [f["text"] for f in (await get(bench, kind="relation"))["items"]] == [CAT]
    assert (await get(bench, about="Rui"))["items"] == []
    assert (await get(bench, at="2020-01-01T00:00:00Z"))["items"] == []
    for wrong in ({"ended": "maybe"}, {"kind": "x"}, {"at": "yesterday"}):
        answered = await bench.client.get("/api/facts", params={**ANA, **wrong})
        assert answered.status_code == 422


async def test_the_words_behind_a_fact_are_one_request_away(bench: Bench) -> None:
    """Turns are read by the ids that a fact cites."""
    fact = await named(bench, OSLO)
    turns = (await get(bench, "/api/turns", id=fact["sources"]))["items"]
    assert [turn["text"] for turn in turns] == ["I live in Oslo and have a cat called Miso."]


async def test_marks_are_set_one_by_one(bench: Bench) -> None:
    """What is left out stays; null removes the time; what does not exist is not found."""
    fact = (await named(bench, CAT))["id"]
    assert (await patch(bench, id=fact, pinned=True, tags=["pets"])).json()["pinned"]
    timed = (await patch(bench, id=fact, expires="2030-01-01T00:00:00Z")).json()
    assert (timed["pinned"], timed["tags"]) == (False, ["pets"])
    assert timed["expires"] == "2030-01-01T00:00:00+00:00"
    assert (await patch(bench, id=fact, expires=None)).json()["expires"] is None
    assert (await patch(bench, id="none", pinned=True)).status_code == 404
    assert (await patch(bench, id=fact, pinned="yes")).status_code == 422
    found = await bench.client.post(
        "/api/recall", params=ANA, json={"query": "cat", "tags": ["pets"], "about": "user"}
    )
    assert [item["text"] for item in found.json()["items"]] == [CAT]


async def test_a_correction_is_seen_in_the_timeline(bench: Bench) -> None:
    """As a change, with what it replaced and why."""
    old = await named(bench, OSLO)
    sent = {"id": old["id"], "text": ROME}
    made = await bench.client.post("/api/facts/correct", params=ANA, json=sent)
    assert (made.status_code, made.json()["trust"]) == (201, "corrected")
    again = await bench.client.post("/api/facts/correct", params=ANA, json={**sent, "text": BERGEN})
    assert again.status_code == 422
    entry = (await get(bench, "/api/facts/timeline"))["items"][-1]
    assert (entry["change"], entry["reason"]) == ("changed", "corrected by the user")
    assert [fact["text"] for fact in entry["replaced"]] == [OSLO]


async def test_a_correction_may_speak_to_the_user(bench: Bench) -> None:
    """As the page shows facts: the note is kept in the third person, and what comes back as it was
    shown only confirms the fact."""
    old = await named(bench, OSLO)
    assert old["addressed"] == "You live in Oslo."
    sent = {"id": old["id"], "addressed": True}

    async def correct(**body: object) -> httpx.Response:
        return await bench.client.post("/api/facts/correct", params=ANA, json={**sent, **body})

    same = (await correct(text=old["addressed"])).json()
    assert (same["id"], same["text"]) == (old["id"], OSLO)
    assert (await correct(text="You live in Rome.")).json()["text"] == ROME
    assert (await correct(id="none", text="You live in Rome.")).status_code == 404


async def test_a_fact_is_erased_by_a_key_that_may(bench: Bench) -> None:
    """Only with the scope to erase; its text is nowhere afterwards, its words only if asked."""
    fact = (await named(bench, CAT))["id"]
    writer, admin = bench.key("default", Scope.READ, Scope.WRITE), bench.key()

    async def erase(id_: str, headers: dict[str, str], **params: str) -> httpx.Response:
        wanted = {**ANA, "id": id_, **params}
        return await bench.client.delete("/api/facts", params=wanted, headers=headers)

    assert (await erase(fact, writer)).status_code == 403
    assert (await erase(fact, admin)).json()["facts"] == 1
    assert (await erase(fact, admin)).status_code == 404
    memory = bench.memory()
    assert [f.text for f in await memory.facts("ana", ended=True)] == [OSLO]
    (left,) = await memory.facts("ana")
    assert (await erase(left.id, admin, words="true")).json()["turns"] == 1
    assert await memory.turns("ana") == ()
