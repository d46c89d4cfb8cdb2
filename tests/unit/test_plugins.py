"""Parts that other packages bring through entry points."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from omoide import plugins
from omoide.adapters.embedders import embedder_named
from omoide.adapters.models.catalogue import PluggedModel, resolve
from omoide.adapters.stores.plugged import open_plugged
from omoide.bootstrap import chat_model, key_rows, migrate, open_memory, open_runtime
from omoide.cli.main import cli
from omoide.errors import BadInput, BadPlugin, BadPrompt, StoreError, UnknownModel
from omoide.mechanisms.registry import BUILT_IN, MECHANISMS
from omoide.plugins import Group, Registry
from omoide.prompts import render
from omoide.settings import Address, Settings, database
from omoide.testing import HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from omoide.mechanisms import MechanismEntry

MODULE = """
from omoide.mechanisms import MechanismEntry
from omoide.mechanisms.baselines.plain import SessionOnly
from omoide.testing import HashEmbedder, ScriptedModel

DIARY = MechanismEntry(
    make=lambda parts: SessionOnly(), about="a diary", paper="none", calls="none"
)
WRONG = "not an entry"

CLOSED = []

class Model(ScriptedModel):
    async def close(self):
        CLOSED.append(self.name)

class Embedder(HashEmbedder):
    async def close(self):
        CLOSED.append(self.space.name)

def model(spec, settings):
    return Model(["hello"], name=spec)

def embedder(spec, settings):
    return Embedder(name=spec)

async def store(url, settings):
    from omoide.bootstrap import temporary_store
    return await temporary_store()
"""
ENTRY_POINTS = """
[omoide.mechanisms]
diary = plugged_in:DIARY
wrong = plugged_in:WRONG
lost = plugged_in:NOWHERE
summary = plugged_in:WRONG
[omoide.models]
echo = plugged_in:model
[omoide.embedders]
mine = plugged_in:embedder
[omoide.stores]
ram = plugged_in:store
[omoide.benchmarks]
mine = plugged_in:WRONG
"""


def install(folder: Path, name: str, entry_points: str) -> None:
    """What an installer leaves behind of a package."""
    info = folder / f"{name}-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(entry_points)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path with a package that brings one part of each kind."""
    folder = tmp_path / "site"
    install(folder, "plugged-in", ENTRY_POINTS)
    (folder / "plugged_in.py").write_text(MODULE)
    monkeypatch.syspath_prepend(folder)
    plugins.forget()
    yield folder
    plugins.forget()


@pytest.mark.usefixtures("site")
def test_a_mechanism_is_found_by_name() -> None:
    """A plug-in's mechanism stands behind ours, and may be named like them."""
    assert "diary" in MECHANISMS
    assert MECHANISMS["diary"].about == "a diary"
    assert list(MECHANISMS)[: len(BUILT_IN)] == list(BUILT_IN)
    assert MECHANISMS["summary"] is BUILT_IN["summary"]
    assert "nobody" not in MECHANISMS


@pytest.mark.usefixtures("site")
def test_a_plug_in_that_is_no_use_says_so() -> None:
    """Neither a part of another kind nor one that is not there is taken for a mechanism."""
    with pytest.raises(BadPlugin, match="must be a MechanismEntry, not str"):
        MECHANISMS["wrong"]
    with pytest.raises(BadPlugin, match="plugged-in cannot be loaded"):
        MECHANISMS["lost"]


@pytest.mark.usefixtures("site")
def test_the_command_lists_them() -> None:
    """Those that can be loaded, and why the others cannot."""
    shown = CliRunner().invoke(cli, ["mechanisms"], catch_exceptions=False).output
    assert "a diary" in shown
    assert "! 'lost' of the package plugged-in cannot be loaded" in shown
    listed = CliRunner().invoke(cli, ["--json", "mechanisms"], catch_exceptions=False).output
    assert "diary" in {entry["name"] for entry in json.loads(listed)}


def test_two_packages_with_one_name(site: Path) -> None:
    """Neither is chosen at random."""
    install(site, "rival", "[omoide.mechanisms]\ndiary = plugged_in:DIARY\n")
    plugins.forget()
    with pytest.raises(BadPlugin, match=r"both provide 'diary'"):
        MECHANISMS["diary"]


@pytest.mark.usefixtures("site")
async def test_models_are_closed_if_the_database_cannot_be_opened(tmp_path: Path) -> None:
    """Whoever opens a memory gets either all of it or an error, and nothing to close."""
    (tmp_path / "no database").mkdir()
    settings = Settings(db=tmp_path / "no database", model="echo", embedder="mine")
    closed = importlib.import_module("plugged_in").CLOSED
    closed.clear()
    with pytest.raises(StoreError):
        await open_runtime(settings)
    assert closed == ["echo", "mine"]


@pytest.mark.usefixtures("site")
def test_a_model_is_made_by_its_scheme(tmp_path: Path) -> None:
    """All of what was written reaches the plug-in; unknown names are listed with the known."""
    assert resolve("echo:loud") == PluggedModel(spec="echo:loud")
    model = chat_model(Settings(), "echo:loud")
    assert isinstance(model, ScriptedModel)
    assert model.name == "echo:loud"
    with pytest.raises(UnknownModel, match="echo"):
        resolve("nothing")


@pytest.mark.usefixtures("site")
def test_an_embedder_is_made_by_its_name() -> None:
    """With or without more behind a colon."""
    for spec in ("mine", "mine:large"):
        embedder = embedder_named(Settings(embedder=spec))
        assert isinstance(embedder, HashEmbedder)
        assert embedder.space.name == spec
    with pytest.raises(UnknownModel, match="mine"):
        embedder_named(Settings(embedder="nothing"))


@pytest.mark.usefixtures("site")
async def test_a_store_is_opened_by_its_scheme(tmp_path: Path) -> None:
    """A memory is kept in it; what only our own databases can do is refused in words."""
    settings = Settings(db=database("ram://here"), embedder="none", model="echo")
    async with open_memory(settings, background=False) as memory:
        await memory.record("ana", "I have a cat.")
        assert len(await memory.turns("ana")) == 1
    with pytest.raises(BadInput, match="postgresql, ram"):
        await open_plugged(Settings(db=Address("redis://here")))
    with pytest.raises(BadInput, match="OMOIDE_VECTORS"):
        await open_plugged(Settings(db=Address("ram://here"), vectors="qdrant://there"))
    with pytest.raises(BadInput, match="omoide export"):
        await migrate(Address("ram://here"), tmp_path / "there.sqlite")
    assert str(key_rows(settings)).endswith(".keys")


def test_a_registry_of_ours_alone() -> None:
    """Where nothing is installed, it is what it was given."""
    entry = next(iter(BUILT_IN.values()))
    ours: Registry[MechanismEntry] = Registry(Group.STORES, own={"one": entry})
    assert dict(ours) == {"one": entry}
    with pytest.raises(KeyError):
        ours["two"]


def test_prompts_of_another_package(site: Path) -> None:
    """A prompt is looked for in the language, then in English, and missed in words."""
    for language in ("en", "ja"):
        folder = site / "talking" / "prompts" / language
        folder.mkdir(parents=True)
        (folder / "greet.txt").write_text(f"=== user\n{language} $name\n")
    (site / "talking" / "__init__.py").touch()
    assert render("talking:greet", "ja", name="A").messages[0].content == "ja A"
    assert render("talking:greet", "vi", name="A").messages[0].content == "en A"
    with pytest.raises(BadPrompt, match=r"prompts/en/part\.txt"):
        render("talking:part", "en")
    with pytest.raises(BadPrompt, match="nowhere"):
        render("nowhere:part", "en")
