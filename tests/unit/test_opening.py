"""Opening a memory: from the environment, by keywords, with ready objects."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest

import omoide
from omoide import bootstrap
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.engine.memory import Memory
from omoide.errors import BadInput, NoModel
from omoide.settings import Settings
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from pathlib import Path

CAT = "I adopted a cat called Miso."


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of this machine, and a home of one's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OMOIDE_EMBEDDER", "none")
    monkeypatch.setenv("OMOIDE_MODEL", "none")


def test_the_environment_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`omoide.open()` writes where `OMOIDE_DB` says, and nowhere else."""
    monkeypatch.setenv("OMOIDE_DB", str(tmp_path / "mine.sqlite"))
    monkeypatch.setenv("OMOIDE_TENANT", "acme")
    with omoide.open() as memory:
        memory.record("ana", CAT)
        assert memory.tenant == "acme"
    assert (tmp_path / "mine.sqlite").exists()
    assert not (tmp_path / ".local").exists()


def test_settings_that_are_given_go_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole, or field by field."""
    monkeypatch.setenv("OMOIDE_DB", str(tmp_path / "other.sqlite"))
    settings = omoide.Settings(db=tmp_path / "whole.sqlite", model="none", embedder="none")
    with omoide.open(settings) as memory:
        memory.record("ana", CAT)
    with omoide.open(db=str(tmp_path / "field.sqlite"), mechanisms=["search"]) as memory:
        memory.record("ana", CAT)
        assert memory.about.mechanisms == ("search",)
    made = {path.name for path in tmp_path.glob("*.sqlite")}
    assert made == {"whole.sqlite", "field.sqlite"}


@pytest.mark.parametrize("given", ["bm25, search", "bm25"])
def test_mechanisms_may_be_written_as_in_their_variable(tmp_path: Path, given: str) -> None:
    """One text with commas, as every variable is also a keyword."""
    with omoide.open(db=tmp_path / "memory.sqlite", mechanisms=given) as memory:
        assert memory.about.mechanisms == tuple(given.split(", "))


def test_models_may_be_given_by_name(tmp_path: Path) -> None:
    """The model that writes the memory may be named apart from the one that replies."""
    with omoide.open(
        db=tmp_path / "m.sqlite",
        model="http://127.0.0.1:9/v1#large",
        summariser="http://127.0.0.1:9/v1#small",
        background=False,
    ) as memory:
        assert (memory.about.model, memory.about.summariser) == ("large", "small")


def test_an_unknown_field_is_told() -> None:
    """With the names that there are."""
    with pytest.raises(BadInput, match=r"unknown setting databse; there are .*db"):
        omoide.open(databse="x")


def test_a_memory_without_a_model_records_and_recalls(tmp_path: Path) -> None:
    """Asked to reply, it says what to do."""
    with omoide.open(db=tmp_path / "m.sqlite") as memory:
        memory.record("ana", CAT)
        assert [item.text for item in memory.recall("ana", "cat")] == [CAT]
        assert CAT in memory.context("ana", "my cat?").text
        with pytest.raises(NoModel, match="OMOIDE_MODEL"):
            memory.reply("ana", "Hello").text()


async def test_ready_objects_stay_the_callers(tmp_path: Path) -> None:
    """They are used as they are, and not closed."""
    store = await SqliteStore.open(tmp_path / "m.sqlite")
    model = ScriptedModel(["Nice!"])
    async with omoide.open_async(
        store=store, model=model, embedder=HashEmbedder(), clock=FrozenClock(), background=False
    ) as memory:
        reply = await memory.reply("ana", CAT)
        assert await reply.text() == "Nice!"
        assert memory.about.model == model.name
    owner = omoide.Owner(tenant="default", user="ana")
    assert len(await store.turns.read(owner)) == 2
    await store.close()


def test_every_verb_is_there_without_await() -> None:
    """The sync façade has every verb of the async one, with the same arguments."""
    verbs = {
        name: verb
        for name, verb in inspect.getmembers(Memory)
        if not name.startswith("_") and (inspect.isfunction(verb) or isinstance(verb, property))
    }
    verbs.pop("begin")  # its exchange outlives a block, which needs an event loop
    missing = [name for name in verbs if not hasattr(omoide.SyncMemory, name)]
    assert missing == []
    for name, verb in verbs.items():
        if isinstance(verb, property):
            continue
        ours = inspect.signature(getattr(omoide.SyncMemory, name))
        assert list(ours.parameters) == list(inspect.signature(verb).parameters), name


def test_an_exchange_without_await(tmp_path: Path) -> None:
    """The same block as in asyncio, and a reply that says why."""
    model = ScriptedModel(["Miso!"])
    with omoide.open(db=tmp_path / "m.sqlite", model=model, background=False) as memory:
        memory.record("ana", CAT, session="past")
        memory.end_session("ana")
        with memory.exchange("ana", "My cat?") as turn:
            assert CAT in turn.messages[-1]["content"]
            assert turn.why
            turn.finish("Miso.")
        assert [turn.text for turn in memory.turns("ana")] == [CAT, "My cat?", "Miso."]
        reply = memory.reply("ana", "Who is my cat again?")
        assert reply.text() == "Miso!"
        assert any(CAT in c.text for c in reply.why)


def test_a_longer_timeout_holds_for_answers_in_one_piece() -> None:
    """Benchmarks ask for whole answers, which come with their last token: `timeout` counts there
    too; a shorter one leaves long prompts their time."""
    spec = "http://127.0.0.1:9/v1#m"
    for timeout, first in ((900.0, 900.0), (20.0, 300.0)):
        model = bootstrap.chat_model(Settings(timeout=timeout), spec, whole=True)
        assert vars(model)["_endpoint"].timeouts.first == first
