"""The paper's protocol: the loss and the t-test that `benchmarks/recall_protocol.py` uses."""

from __future__ import annotations

import math
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide_bench.metrics import choice_loss
from omoide_bench.statistics import paired_t


def test_the_papers_own_t_and_p() -> None:
    """t = −5.687 over 10 tasks is p = 0.000299, and the critical value is 2.26."""
    spread = [x - 4.5 for x in range(10)]
    error = stdev(spread) / math.sqrt(10)
    found = paired_t([x - 5.687 * error for x in spread], [0.0] * 10)
    assert found.t == pytest.approx(-5.687)
    assert found.p == pytest.approx(0.000299, abs=2e-6)
    assert (found.high - found.mean) / error == pytest.approx(2.262, abs=1e-3)


def test_a_worked_paired_test() -> None:
    """Differences 1, 2, 3, 4: mean 2.5, t = 3.873, p = 0.0305."""
    found = paired_t([2, 4, 6, 8], [1, 2, 3, 4])
    assert found.mean == 2.5
    assert found.t == pytest.approx(3.873, abs=1e-3)
    assert found.p == pytest.approx(0.0305, abs=1e-4)
    assert found.low < 2.5 < found.high
    assert paired_t([1, 2, 3], [1, 2, 3]).p == 1
    assert paired_t([2, 3, 4], [1, 2, 3]).p == 0, "the same gap each time leaves no doubt"


def test_the_least_and_the_greatest_loss() -> None:
    """The right event alone on top is as good as it gets; alone at the bottom, as bad."""
    e = math.e
    best = choice_loss([1, 0, 0, 0])
    assert best == pytest.approx(0.5 * ((e / (e + 3) - 1) ** 2 + 3 * (1 / (e + 3)) ** 2))
    assert choice_loss([0, 1, 1, 1]) == pytest.approx(
        0.5 * ((1 / (1 + 3 * e) - 1) ** 2 + 3 * (e / (1 + 3 * e)) ** 2)
    )
    assert choice_loss([0, 0, 1, 0], right=2) == pytest.approx(best)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_loss_is_bounded_and_blind_to_scale(scores: list[float]) -> None:
    """Min-max makes any positive scale the same."""
    found = choice_loss(scores)
    assert 0.17 < found < 0.6
    assert choice_loss([s * 8 for s in scores]) == pytest.approx(found, abs=1e-6)
