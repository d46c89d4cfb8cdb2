"""Whether two methods differ on the same questions."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from omoide_bench.statistics import auc, difference, mean, paired_t, sign_flip, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

ONE = [0.8, 0.6, 0.9, 0.7, 0.5, 0.9, 0.8, 0.7]
OTHER = [0.5, 0.6, 0.7, 0.6, 0.4, 0.6, 0.8, 0.5]


def flipped(one: Sequence[float], other: Sequence[float]) -> float:
    """p of the sign-flip test of two lists."""
    return sign_flip(np.array(one) - np.array(other), np.random.default_rng(0))


@pytest.mark.parametrize("count", [3, 8, 30])
def test_flipping_signs_is_scipys_permutation_test(count: int) -> None:
    """The same p as `permutation_test` of paired samples, but for what chance leaves."""
    dice = np.random.default_rng(count)
    one, other = dice.normal(0.4, 1, count), dice.normal(0, 1, count)
    found = stats.permutation_test(
        (one, other),
        lambda x, y, axis: (x - y).sum(axis=axis),
        permutation_type="samples",
        n_resamples=50_000,
        rng=1,
    )
    assert flipped(list(one), list(other)) == pytest.approx(found.pvalue, abs=0.015)


def test_a_worked_t_test() -> None:
    """t = 3.549648, p = 0.009348 for these eight pairs."""
    found = paired_t(ONE, OTHER)
    assert found.mean == pytest.approx(0.15)
    assert found.t == pytest.approx(3.549648, abs=1e-6)
    assert found.p == pytest.approx(0.009348, abs=1e-6)


def test_both_agree_where_there_is_much_to_see() -> None:
    """300 questions, a real difference: both tests find it, with nearly the same interval."""
    dice = random.Random(7)
    one = [dice.gauss(0.5, 0.2) for _ in range(300)]
    other = [x - dice.gauss(0.05, 0.1) for x in one]
    names = [str(i) for i in range(300)]
    found = difference(
        dict(zip(names, one, strict=True)),
        dict(zip(names, other, strict=True)),
        {name: name for name in names},
    )
    t = paired_t(one, other)
    assert found is not None
    assert max(found.p, t.p) < 0.001
    assert found.low == pytest.approx(t.low, abs=0.005)
    assert found.high == pytest.approx(t.high, abs=0.005)
    assert (found.count, found.clusters, found.over) == (300, 300, "dialogues")


def test_an_interval_as_it_was_before_scipy() -> None:
    """The figures that our own bootstrap gave for the same seed: published ones stay."""
    dice = np.random.default_rng(5)
    values, clusters = list(dice.normal(0.5, 0.2, 40)), [f"d{i % 10}" for i in range(40)]
    found = mean(values, clusters, seed=3)
    before = (0.38973766296543, 0.4823448692961263)
    assert (found.low, found.high) == pytest.approx(before, abs=1e-12)
    assert (found.clusters, found.over) == (10, "dialogues")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_nothing_differs_from_itself(values: list[float]) -> None:
    """The same figures give a difference of 0 and no grounds to see one."""
    assert flipped(values, values) == 1
    found = paired_t(values, values)
    assert found.mean == 0
    assert found.p == 1


def test_chance_is_seldom_taken_for_a_difference() -> None:
    """Of 200 pairs of methods that are alike, about one in twenty is called different."""
    dice = random.Random(3)
    called = {"flips": 0, "t": 0}
    for _ in range(200):
        one = [dice.random() for _ in range(30)]
        other = [dice.random() for _ in range(30)]
        called["flips"] += flipped(one, other) < 0.05
        called["t"] += paired_t(one, other).p < 0.05
    assert all(2 <= count <= 22 for count in called.values()), called


def test_unlike_lists_are_refused() -> None:
    """Pairs need the same questions."""
    with pytest.raises(ValueError, match="same questions"):
        paired_t([1.0], [1.0, 2.0])


def test_shares_and_areas() -> None:
    """Worked figures: 3 of 10 by Wilson; nothing counted says nothing; ties count half."""
    assert wilson(3, 10) == pytest.approx((10.78, 60.32), abs=0.01)
    assert wilson(0, 0) == (0.0, 100.0)
    assert auc([2, 3], [1, 2]) == pytest.approx(0.875)
    assert auc([1], [1]) == 0.5
