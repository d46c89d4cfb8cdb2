"""The script that fits the shipped maps from cosine to relevance."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from omoide.domain.forgetting import THRESHOLD, recall_probability
from omoide.errors import BadInput
from omoide.mechanisms.events import Calibration
from omoide.mechanisms.events.calibration import RATES, TARGET

FOLDER = Path(__file__).parents[2] / "benchmarks"
if not FOLDER.is_dir():
    pytest.skip("benchmarks are not part of this checkout", allow_module_level=True)
sys.path.insert(0, str(FOLDER))
fit_points = pytest.importorskip("calibrate").fit_points


def fitted(raw: list[float]) -> Calibration:
    """The map that measurements give."""
    return Calibration(embedder="x", version="1", points=fit_points(raw), n=len(raw), data="")


def fresh(relevance: float) -> float:
    """The recall probability of an event told just now."""
    return recall_probability(relevance=relevance, elapsed=timedelta(), consolidation=1)


def test_fitting_puts_the_threshold_at_the_target() -> None:
    """Of unrelated inputs, so many pass as was wanted."""
    dice = Random(1)
    raw = [dice.gauss(0.3, 0.1) for _ in range(5000)]
    made = fitted(raw)
    passed = sum(fresh(made(value)) > THRESHOLD for value in raw)
    assert passed / len(raw) == pytest.approx(TARGET, abs=0.003)
    for rate, probability in RATES:
        share = sum(fresh(made(value)) > probability for value in raw) / len(raw)
        assert share == pytest.approx(rate, abs=0.003)


def test_too_few_measurements_are_refused() -> None:
    """A quantile of ten numbers is none."""
    with pytest.raises(BadInput, match="at least 100"):
        fit_points([0.1] * 10)


def test_degenerate_measurements_still_rise() -> None:
    """All cosines alike: one point and the end."""
    made = fitted([0.5] * 200)
    assert made(0.4) < made(0.6) < made(1.0) == 1
