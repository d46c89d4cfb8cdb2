"""Another reply, a message said differently, a title: what a person may change in a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omoide import Speaker, Utterance

from .serving import Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server."""
    async with serving(tmp_path) as bench:
        yield bench


async def say(bench: Bench, text: str, **more: Any) -> Any:  # noqa: ANN401 - JSON
    """A message of ana's to the server's own model."""
    return await bench.client.post(
        "/api/reply", params={"user": "ana"}, json={"text": text, **more}
    )


async def test_another_reply_takes_the_place_of_the_former(bench: Bench) -> None:
    """With `again`; without it, the same id is a retry that keeps what was answered."""
    bench.replier.answers += ["One.", "Two.", "Two.", "Three."]
    await say(bench, "Count.", id="m1")
    for _ in range(2):  # the same words again are the same reply
        await say(bench, "Count.", id="m1", again=True)
        assert await bench.said() == ["Count.", "Two."]
    await say(bench, "Go on.", id="m2")
    assert await bench.said() == ["Count.", "Two.", "Go on.", "Three."]


async def test_the_prompt_for_another_reply_has_not_the_former_one(bench: Bench) -> None:
    """The model answers the message, not its own answer."""
    bench.replier.answers += ["A first answer.", "Another."]
    await say(bench, "Hello.", id="m1")
    await say(bench, "Hello.", id="m1", again=True)
    assert "A first answer." not in str(bench.replier.requests[-1])


async def test_a_message_is_said_differently(bench: Bench) -> None:
    """It and everything after it go in one step; what came before stays."""
    bench.replier.answers += ["Hi.", "In Oslo.", "I see.", "In Bergen."]
    await say(bench, "Hello.", id="m1")
    await say(bench, "Where is Ana?", id="m2")
    await say(bench, "Thanks.", id="m3")
    edited = await say(bench, "Where is Ben?", id="m4", replaces="m2")
    assert edited.status_code == 200
    assert await bench.said() == ["Hello.", "Hi.", "Where is Ben?", "In Bergen."]
    assert "Oslo" not in str(bench.replier.requests[-1])


async def test_nothing_is_taken_back_once_the_session_has_ended(bench: Bench) -> None:
    """Its memory is written: a conflict says so, and nothing changes."""
    bench.replier.answers += ["Hi."]
    await say(bench, "Hello.", id="m1")
    await bench.memory().end_session("ana")
    for more in ({"id": "m1", "again": True}, {"id": "m2", "replaces": "m1"}):
        refused = await say(bench, "Hello.", **more)
        assert refused.status_code == 409
        assert "has ended" in refused.json()["detail"]
    assert await bench.said() == ["Hello.", "Hi."]


async def test_another_users_message_is_neither_found_nor_replaced(bench: Bench) -> None:
    """An id is looked up among one's own turns only."""
    await bench.memory().record("ben", Utterance(speaker=Speaker.USER, text="Mine.", id="b1"))
    bench.replier.answers += ["Hi."]
    assert (await say(bench, "Hello.", id="m1", replaces="b1")).status_code == 200
    assert await bench.said("ben") == ["Mine."]


async def rename(bench: Bench, session: int, title: str) -> Any:  # noqa: ANN401 - JSON
    """Give a session of ana's a title."""
    return await bench.client.patch(
        "/api/sessions", params={"user": "ana"}, json={"session": session, "title": title}
    )


async def cards(bench: Bench) -> dict[int, str]:
    """The titles of ana's sessions."""
    listed = await bench.client.get("/api/sessions/latest", params={"user": "ana"})
    return {card["number"]: card["title"] for card in listed.json()["items"]}


async def test_a_conversation_is_renamed(bench: Bench) -> None:
    """The title is on its card and in the export; an empty one removes it."""
    await bench.memory().record("ana", "Hello.")
    assert await cards(bench) == {1: ""}
    renamed = await rename(bench, 1, "  My first \n day ")
    assert renamed.json() == {"session": 1, "title": "My first day"}
    assert await cards(bench) == {1: "My first day"}
    exported = await bench.client.get("/api/export", params={"user": "ana"})
    assert "My first day" in exported.text
    assert (await rename(bench, 1, " ")).json()["title"] == ""
    assert await cards(bench) == {1: ""}
    assert (await rename(bench, 7, "No")).status_code == 404


async def test_an_erasure_keeps_the_titles_that_it_does_not_concern(bench: Bench) -> None:
    """Those of the erased session and those with a word of it go; the others stay, and the receipt
    counts only what went."""
    memory = bench.memory()
    for number, text in enumerate(("I am allergic to walnuts.", "Hi.", "Bye."), 1):
        await memory.record("ana", text, session=f"s{number}")
    for number, title in enumerate(("Health", "No more walnuts", "Farewell"), 1):
        await memory.rename("ana", number, title)
    erased = await memory.erase("ana", session=1)
    assert await memory.titles("ana") == {3: "Farewell"}
    assert erased.notes == 2
    assert erased.receipt is not None
    assert erased.receipt.clean
    await memory.erase("ana")
    assert await memory.titles("ana") == {}


async def test_a_restored_title_of_no_session_breaks_nothing(bench: Bench) -> None:
    """A file may have such a note. The others are shown, and an erasure still gives its receipt."""
    memory = bench.memory()
    await memory.record("ana", ["Hello.", "I like tea."])
    await memory.rename("ana", 1, "Greetings")
    records = [record async for record in memory.export("ana")]
    titled = next(record for record in records if record["kind"] == "note")
    counts: Any = records[0]["records"]
    counts["note"] = 2
    await memory.restore("ben", [*records, {**titled, "key": "one"}])
    assert await memory.titles("ben") == {1: "Greetings"}
    turns = await memory.turns("ben")
    erased = await memory.erase("ben", turns=[turns[1].id])
    assert erased.receipt is not None
