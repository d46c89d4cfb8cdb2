"""Looking inside over HTTP: what the page is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omoide.server.page import GUARD

from .serving import M1, Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server with the demo in it."""
    async with serving(tmp_path) as bench:
        made = await post(bench, "/api/demo", {"language": "en"})
        assert made.status_code == 201, made.text
        await bench.memory().run_jobs()
        yield bench


async def get(bench: Bench, path: str, user: str = "demo", **params: Any) -> Any:  # noqa: ANN401 - JSON
    """A look at the demo."""
    response = await bench.client.get(path, params={"user": user, **params})
    assert response.status_code == 200, response.text
    return response.json()


async def post(bench: Bench, path: str, body: object, user: str = "demo") -> httpx.Response:
    """A write."""
    return await bench.client.post(path, params={"user": user}, json=body)


async def test_the_demo_is_loaded_once(bench: Bench) -> None:
    """Into a user of its own; erasing that user removes it."""
    assert (await bench.client.get("/api/users")).json()["items"] == ["demo"]
    assert (await post(bench, "/api/demo", {})).status_code == 409
    assert (await post(bench, "/api/erase", {"all": True})).json()["turns"] == 30
    assert (await post(bench, "/api/demo", {})).status_code == 201


async def test_about_says_what_the_caller_may(bench: Bench) -> None:
    """And which model and mechanisms there are."""
    about = (await bench.client.get("/api/about")).json()
    assert about["model"] == "replier"
    assert about["mechanisms"] == ["summary", "search"]
    assert about["preset"] == "omoide"
    assert about["scopes"] == ["admin", "read", "write"]
    assert about["demos"] == ["en", "zh", "ja", "ko", "vi"]


async def test_sessions_come_newest_first_with_their_opening_words(bench: Bench) -> None:
    """So many as asked for, and older ones before a number."""
    first = (await get(bench, "/api/sessions/latest", limit=2))["items"]
    assert [card["number"] for card in first] == [5, 4]
    assert first[0]["opening"].startswith("I want to bake a cake")
    older = (await get(bench, "/api/sessions/latest", before=4))["items"]
    assert [card["number"] for card in older] == [3, 2, 1]


async def test_an_imported_conversation_stands_at_its_own_time(bench: Bench) -> None:
    """Not above newer ones because it came in later; pages go on where the last one ended, and
    from the beginning if that session was erased meanwhile."""
    said = [{"role": "user", "content": "I planted tomatoes."}]
    old = {"id": "c", "title": "A garden", "create_time": 1_577_836_800, "messages": said}
    await post(bench, "/api/import", {"conversations": [old]})

    async def listed(**query: Any) -> list[int]:  # noqa: ANN401 - JSON
        cards = (await get(bench, "/api/sessions/latest", **query))["items"]
        return [card["number"] for card in cards]

    assert await listed() == [5, 4, 3, 2, 1, 6]
    assert await listed(before=2, limit=1) == [1]
    assert await listed(before=1) == [6]
    assert await listed(before=6) == []
    assert await listed(before=7) == [5, 4, 3, 2, 1, 6]


async def test_memos_and_events_are_read_in_pages(bench: Bench) -> None:
    """Whichever mechanisms run."""
    memos = await get(bench, "/api/memos", limit=3)
    rest = await get(bench, "/api/memos", limit=100, cursor=memos["next"])
    assert len(memos["items"] + rest["items"]) == 7
    assert {m["topic"] for m in memos["items"]} >= {"Restoring books"}
    books = next(m for m in memos["items"] if m["topic"] == "Restoring books")
    assert books["summary"].startswith("Nadia binds")
    assert books["addressed"].startswith("You bind")
    events = (await get(bench, "/api/events"))["items"]
    assert len(events) == 10
    assert [e["superseded_by"] for e in events if e["id"] == "demo-lisbon"] == ["demo-move"]


async def test_curves_fall_and_a_recall_lifts_them(bench: Bench) -> None:
    """From the last recall until now, and on from now, with and without a recall."""
    curves = (await get(bench, "/api/events/curves", days=700))["items"]
    # Neither the superseded one nor those whose fact is over; the paw has healed, but it happened.
    drawn = ["allergy", "biscuit", "paw", "move", "cake"]
    assert [curve["event"]["id"] for curve in curves] == [f"demo-{name}" for name in drawn]
    for curve in curves:
        past, fading, recalled = (
            [p for _, p in curve[name]] for name in ("since", "fading", "recalled")
        )
        assert past == sorted(past, reverse=True)
        assert fading == sorted(fading, reverse=True)
        assert past[-1] == pytest.approx(fading[0])
        assert recalled[0] > fading[0]
        assert recalled[-1] > fading[-1]
        assert curve["since"][-1][0] == 0
    assert len((await get(bench, "/api/events/curves", limit=2))["items"]) == 2


async def test_explain_tells_r_t_g_and_p(bench: Bench) -> None:
    """The likeliest first, each with the reason; a text decides, and nothing is changed."""
    before = await get(bench, "/api/events")
    body = {"text": "Biscuit the greyhound from the shelter"}
    weighed = (await post(bench, "/api/explain", body)).json()["items"]
    assert weighed[0]["event"]["id"] == "demo-biscuit"
    odds = weighed[0]["odds"]
    assert 0 < odds["r"] <= 1
    assert odds["t"] == pytest.approx(2, abs=1)
    assert odds["g"] > 1
    assert [w["odds"]["p"] for w in weighed if "no longer" not in w["why"]] == sorted(
        (w["odds"]["p"] for w in weighed if "no longer" not in w["why"]), reverse=True
    )
    assert await get(bench, "/api/events") == before
    then = (await post(bench, "/api/explain", {**body, "at": "2020-01-01T00:00:00Z"})).json()
    assert then["items"] == []


async def test_a_sentence_is_amended_over_http(bench: Bench) -> None:
    """A new version; one that is not there is a conflict."""
    old, new = "The user plays the guitar.", "The user plays the cello."
    made = await post(bench, "/api/memory/amend", {"sentence": old, "text": new})
    assert (made.status_code, made.json()["origin"]) == (201, "edit")
    again = await post(bench, "/api/memory/amend", {"sentence": old, "text": new})
    assert (again.status_code, again.json()["type"]) == (409, "urn:omoide:problem:stale-version")


async def test_a_sentence_may_be_amended_in_words_that_speak_to_the_user(bench: Bench) -> None:
    """As the page shows sentences: they are kept in the third person."""
    body = {"sentence": "The user plays the guitar.", "addressed": True}
    sent = {**body, "text": "You play the cello."}
    made = (await post(bench, "/api/memory/amend", sent)).json()
    texts = [sentence["text"] for sentence in made["sentences"]]
    assert "The user plays the cello." in texts
    assert body["sentence"] not in texts


async def test_the_latest_reply_is_kept_with_its_reasons(bench: Bench) -> None:
    """Through REST and through the proxy alike, until something of the user is erased."""
    await bench.remember()
    assert (await get(bench, "/api/latest", "ana"))["latest"] is None
    bench.replier.answers.append("How is Miso?")
    await post(bench, "/api/reply", {"text": "My cat is ill."}, "ana")
    latest = (await get(bench, "/api/latest", "ana"))["latest"]
    assert latest["text"] == "My cat is ill."
    assert [(c["mechanism"], c["text"]) for c in latest["contributions"]] == [("summary", M1)] * 2
    await bench.chat("Is my cat well?")
    latest = (await get(bench, "/api/latest", "ana"))["latest"]
    assert latest["text"] == "Is my cat well?"
    await post(bench, "/api/erase", {"sentences": [M1]}, "ana")
    assert (await get(bench, "/api/latest", "ana"))["latest"] is None


async def test_the_page_is_served_with_a_strict_policy(bench: Bench) -> None:
    """Every file, to everyone, with nothing from outside; known ones are not sent again."""
    bench.key()  # from now on REST wants a key, and the page does not
    page = await bench.client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"] == GUARD["Content-Security-Policy"]
    assert "default-src 'self'" in page.headers["content-security-policy"]
    same = await bench.client.get("/", headers={"If-None-Match": page.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    assert (await bench.client.get("/page/words/ja.json")).json()
    assert (await bench.client.get("/page/__init__.py")).status_code == 404
    assert (await bench.client.get("/page/../page/__init__.py")).status_code == 404
    assert (await bench.client.get("/api/about")).status_code == 401
