"""Presets over HTTP: what each is, and a user's choice of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.presets import PRESETS
from omoide.settings import Settings

from .serving import Bench, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx

SAID = "I adopted a cat called Miso."
MEMORY = "The user adopted a cat called Miso. The assistant likes cats."


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A running server with the default preset."""
    async with serving(tmp_path) as bench:
        yield bench


async def shown(bench: Bench, user: str = "ana") -> dict[str, Any]:
    """The presets as the user sees them."""
    response = await bench.client.get("/api/presets", params={"user": user})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def chosen(bench: Bench, preset: str, user: str = "ana") -> httpx.Response:
    """The user chooses a preset."""
    return await bench.client.patch("/api/presets", params={"user": user}, json={"preset": preset})


async def test_presets_are_described(bench: Bench) -> None:
    """By name, with what the terminal says too: two sentences, numbers and departures."""
    found = await shown(bench)
    assert (found["preset"], found["server"], found["open"]) == ("omoide", "omoide", True)
    assert [item["name"] for item in found["items"]] == list(PRESETS)
    for item in found["items"]:
        preset = PRESETS[item["name"]]
        assert (item["about"], item["paper"]) == (preset.about, preset.paper)
        assert tuple(item["mechanisms"]) == Settings.of(preset.name).mechanisms
        assert [d["what"] for d in item["departures"]] == [d.what for d in preset.departures]
        assert [n["value"] for n in item["numbers"]] == [n.value for n in preset.numbers]


async def test_a_user_chooses_and_nobody_else_is_touched(bench: Bench) -> None:
    """From then on the prompts are the paper's, for sessions and for replies; the choice can be
    taken back."""
    assert (await chosen(bench, "wang2023")).json() == {"preset": "wang2023"}
    assert (await shown(bench))["preset"] == "wang2023"
    assert (await shown(bench, "bob"))["preset"] == "omoide"
    bench.replier.answers.append("How lovely!")
    said = await bench.client.post("/api/reply", params={"user": "ana"}, json={"text": SAID})
    assert said.json()["text"] == "How lovely!"
    assert "Weigh how relevant" in bench.replier.requests[-1].messages[0].content
    bench.iterator.answers.append(MEMORY)
    await bench.memory().end_session("ana")
    await bench.memory().run_jobs()
    assert "You maintain the long-term memory" in bench.iterator.requests[-1].messages[0].content
    assert (await bench.memory().summary("ana")).text.split("\n")[0].endswith("called Miso.")
    bench.replier.answers.append("Hello, Bob!")
    await bench.client.post("/api/reply", params={"user": "bob"}, json={"text": "Hello."})
    assert "Weigh how relevant" not in bench.replier.requests[-1].messages[0].content
    assert (await chosen(bench, "omoide")).json() == {"preset": "omoide"}
    assert (await shown(bench))["preset"] == "omoide"


async def test_a_choice_is_durable(tmp_path: Path) -> None:
    """It is there after a restart, and after an erasure of something that was said; an erasure of
    the whole user takes it along."""
    db = tmp_path / "memory.sqlite"
    async with serving(tmp_path, store=await SqliteStore.open(db)) as bench:
        await chosen(bench, "hou2024")
        await bench.memory().record("ana", SAID)
    async with serving(tmp_path, store=await SqliteStore.open(db)) as bench:
        assert (await shown(bench))["preset"] == "hou2024"
        (turn,) = await bench.memory().turns("ana")
        erase = {"turns": [turn.id]}
        await bench.client.post("/api/erase", params={"user": "ana"}, json=erase)
        assert (await shown(bench))["preset"] == "hou2024"
        await bench.client.post("/api/erase", params={"user": "ana"}, json={"all": True})
        assert (await shown(bench))["preset"] == "omoide"


async def test_a_preset_that_cannot_be_chosen_is_refused(tmp_path: Path) -> None:
    """An unknown one, with the names; and any, where the server was started as a paper's."""
    async with serving(tmp_path) as bench:
        refused = await chosen(bench, "wang2024")
        assert refused.status_code == 422
        assert "preset must be one of ['omoide', 'wang2023'" in refused.text
    async with serving(tmp_path, settings=Settings.of("memochat")) as bench:
        found = await shown(bench)
        assert (found["preset"], found["open"]) == ("memochat", False)
        refused = await chosen(bench, "wang2023")
        assert refused.status_code == 422
        assert "opened as memochat for everybody" in refused.text
