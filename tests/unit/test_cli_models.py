"""How models are recommended, and how downloads are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omoide.adapters.models.machine import Machine, this_machine
from omoide.bootstrap.models import list_models, recommendation
from omoide.bootstrap.recommending import SHARE, CandidateModel, recommend
from omoide.cli.progress import DownloadProgress, duration
from omoide.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

GB = 10**9
CANDIDATES = (
    CandidateModel(alias="default", name="d", memory=2.0),
    CandidateModel(alias="small", name="s", memory=1.0),
    CandidateModel(alias="4b", name="f", memory=5.5),
    CandidateModel(alias="8b", name="e", memory=8.5),
)


@pytest.mark.parametrize(
    ("memory", "cores", "alias"),
    [
        (64, 8, "8b"),
        (64, 4, "4b"),
        (64, 2, "default"),
        (10, 8, "4b"),
        (4, 8, "default"),
        (2, 8, "small"),
        (1, 1, "small"),
        (0, 2, "default"),
    ],
)
def test_the_model_suits_the_machine(memory: float, cores: int, alias: str) -> None:
    """Memory decides what fits, cores what is quick enough; the reason says which."""
    best = recommend(Machine(memory=memory, cores=cores), CANDIDATES)
    assert best.alias == alias
    assert f"{best.memory:g} GB" in best.reason
    fits_more = any(best.memory < c.memory <= memory * SHARE for c in CANDIDATES)
    assert ("slow" in best.reason) is fits_more


def test_this_machine_is_seen(tmp_path: Path) -> None:
    """A container's limits count; what is recommended here is in the catalogue."""
    (tmp_path / "fs/cgroup").mkdir(parents=True)
    (tmp_path / "fs/cgroup/memory.max").write_text("1500000000\n")
    assert this_machine(system=tmp_path).memory == 1.5
    (tmp_path / "fs/cgroup/memory.max").write_text("max\n")
    assert this_machine(system=tmp_path).memory > 1.5 or this_machine().memory == 0
    settings = Settings(weights_dir=tmp_path)
    machine, best = recommendation(settings)
    assert machine.cores >= 1
    assert best.alias in {m.alias for m in list_models(settings)} - {"tiny"}


def test_larger_models_say_that_they_were_not_measured(tmp_path: Path) -> None:
    """Each has a licence, a size and the memory it needs."""
    larger = [m for m in list_models(Settings(weights_dir=tmp_path)) if m.memory > 2]
    assert len(larger) == 4
    for model in larger:
        assert "not measured here" in model.note
        assert model.licence == "Apache-2.0"
        assert model.memory > model.megabytes / 1000


def test_a_download_shows_size_share_and_time_left() -> None:
    """By the speed of this attempt; the end only when it is verified."""
    now = 100.0
    progress = DownloadProgress(clock=lambda: now)
    assert progress.line(GB, 4 * GB, "hub:a/b") == "hub:a/b: 1.00 of 4.00 GB, 25 %"
    now = 110.0
    assert progress.line(2 * GB, 4 * GB, "hub:a/b").endswith("50 %, about 20 s left")
    assert progress.line(4 * GB - 1, 4 * GB, "hub:a/b").endswith("99 %, being checked")
    assert progress.line(4 * GB, 4 * GB, "hub:a/b") == "hub:a/b: 4.00 of 4.00 GB, 100 %"
    now = 200.0
    assert "left" not in progress.line(GB, 4 * GB, "pip:other")


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "about 1 s"), (200, "about 3 min"), (7300, "about 2 h")]
)
def test_durations_in_words(seconds: float, words: str) -> None:
    """Rough, as an estimate is."""
    assert duration(seconds) == words
