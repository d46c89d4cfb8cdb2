"""The map from cosine to relevance: rising, shipped with its numbers, refitted on request."""

from __future__ import annotations

import json
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.domain.forgetting import THRESHOLD, recall_probability
from omoide.errors import BadInput
from omoide.mechanisms.events.calibration import (
    IDENTITY,
    STORE,
    TARGET,
    Calibration,
    HitRate,
    calibration_for,
    fit_to_background,
    from_json_object,
    relevance_for,
    shipped_calibration,
    to_json_object,
)
from omoide.ports import Space

SHIPPED = ["use-multilingual", "all-minilm-l6-v2-int8", "gte-small", "words"]
VERSIONS = {
    name: json.loads(
        (
            __import__("importlib.resources", fromlist=["files"]).files("omoide.mechanisms.events")
            / "calibrations"
            / f"{name}.json"
        ).read_text()
    )["version"]
    for name in SHIPPED
}


def fresh(relevance: float) -> float:
    """The recall probability of an event told just now."""
    return recall_probability(relevance=relevance, elapsed=timedelta(), consolidation=1)


@given(st.floats(0, 1))
def test_relevance_for_undoes_equation_8(probability: float) -> None:
    """The relevance that stands for a probability gives it back."""
    assert fresh(relevance_for(probability)) == pytest.approx(probability, abs=1e-9)


@pytest.mark.parametrize("name", SHIPPED)
@given(one=st.floats(-1, 1), other=st.floats(-1, 1))
def test_shipped_maps_rise_within_bounds(name: str, one: float, other: float) -> None:
    """More alike is never less relevant, and relevance is a share."""
    known = shipped_calibration(name, VERSIONS[name])
    assert known is not None
    low, high = sorted((one, other))
    assert 0 <= known(low) <= known(high) <= 1


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_maps_keep_what_the_threshold_means(name: str) -> None:
    """Held-out people: the target lies within the interval of the false recalls, or they are
    fewer; and recall is alive, unlike with raw cosines."""
    known = shipped_calibration(name, VERSIONS[name])
    assert known is not None
    assert known.false_recalls is not None
    assert known.true_recalls is not None
    assert known.false_recalls.low <= TARGET
    assert known.false_recalls.n >= 500
    assert known.true_recalls.low > (0.2 if name == "words" else 0.4)
    assert known.measured
    crossing = [x for x, _ in known.points if fresh(known(x)) > THRESHOLD]
    assert crossing[0] < 0.95
    assert known(1.0) == 1


def test_a_map_belongs_to_one_version() -> None:
    """Other weights have other cosines: no map is better than a wrong one."""
    assert shipped_calibration("use-multilingual", "2") is None
    assert calibration_for(Space(name="nobody", version="1", dimensions=3)) is None


def test_the_guess_from_ones_own_data_is_cautious() -> None:
    """The likest of a store's worth of unrelated events passes at about the target rate."""
    dice = Random(2)
    space = Space(name="x", version="1", dimensions=2)
    made = fit_to_background([dice.gauss(0.2, 0.08) for _ in range(2000)], space=space)
    likest = [max(dice.gauss(0.2, 0.08) for _ in range(STORE)) for _ in range(2000)]
    passed = sum(fresh(made(value)) > THRESHOLD for value in likest) / len(likest)
    assert passed == pytest.approx(TARGET, abs=0.015)
    assert not made.measured


@pytest.mark.parametrize("points", [((0.1, 0.2),), ((0.1, 0.5), (0.2, 0.4)), ((0.2, 0), (0.1, 1))])
def test_a_map_that_does_not_rise_is_refused(points: tuple[tuple[float, float], ...]) -> None:
    """A falling map would recall the unlike."""
    with pytest.raises(BadInput, match="needs at least 2 increasing points"):
        Calibration(embedder="x", version="1", points=points, n=0, data="")


def test_too_little_data_is_refused() -> None:
    """The spread of ten numbers is none."""
    with pytest.raises(BadInput, match="pairs"):
        fit_to_background([0.1] * 10, space=Space(name="x", version="1", dimensions=2))


@pytest.mark.parametrize("name", SHIPPED)
def test_a_map_survives_its_file(name: str) -> None:
    """Written and read back, it is the same."""
    known = shipped_calibration(name, VERSIONS[name])
    assert known is not None
    assert from_json_object(to_json_object(known)) == known


@given(st.integers(0, 500), st.integers(1, 500))
def test_an_interval_holds_its_share(hits: int, n: int) -> None:
    """Wilson's interval stays within 0 and 1 and around the share."""
    rate = HitRate.of(min(hits, n), n)
    assert 0 <= rate.low <= rate.share + 1e-9
    assert rate.share - 1e-9 <= rate.high <= 1


def test_the_papers_scale() -> None:
    """Cosines as they are."""
    assert IDENTITY(0.776) == pytest.approx(0.776)
    assert IDENTITY.holds_for("vi")


@pytest.mark.parametrize(("hits", "n"), [(0, 7), (1, 1), (3, 10), (5, 10), (40, 90), (999, 1000)])
def test_a_rate_lies_at_the_edge_of_what_each_end_makes_likely(hits: int, n: int) -> None:
    """Wilson's ends are the true rates from which the share found is 1.96 standard errors away."""
    rate = HitRate.of(hits, n)
    assert rate.share == hits / n
    assert rate.low <= rate.share <= rate.high
    for end in (rate.low, rate.high):
        if 0 < end < 1:
            error = (end * (1 - end) / n) ** 0.5
            assert abs(rate.share - end) / error == pytest.approx(1.959964, abs=1e-4)
    assert (rate.low == 0) == (hits == 0)
    assert (rate.high == 1) == (hits == n)


def test_nothing_counted_says_nothing() -> None:
    """Without cases any rate is possible."""
    rate = HitRate.of(0, 0)
    assert (rate.share, rate.low, rate.high, rate.n) == (0, 0, 1, 0)
