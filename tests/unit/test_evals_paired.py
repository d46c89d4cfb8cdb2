"""Whether two methods differ on the same questions."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.evals.bootstrap import paired_bootstrap, paired_permutation, paired_t

ONE = [0.8, 0.6, 0.9, 0.7, 0.5, 0.9, 0.8, 0.7]
OTHER = [0.5, 0.6, 0.7, 0.6, 0.4, 0.6, 0.8, 0.5]


def test_permutation_over_all_ways() -> None:
    """Differences 1, 2, 3: of the 8 ways of signing them 2 are as far from 0, so p = 0.25."""
    assert paired_permutation([1, 2, 3], [0, 0, 0]).p == 0.25
    assert paired_permutation([1, -1], [0, 0]).p == 1


def test_permutation_as_scipy_has_it() -> None:
    """p as recorded from scipy 1.17, `permutation_test((one, other), mean difference,
    permutation_type="samples", n_resamples=inf)`: 0.03125; and its `ttest_rel`: t = 3.549648, p =
    0.009348."""
    found = paired_permutation(ONE, OTHER)
    assert found.p == pytest.approx(0.03125)
    assert found.mean == pytest.approx(0.15)
    t = paired_t(ONE, OTHER)
    assert t.statistic == pytest.approx(3.549648, abs=1e-6)
    assert t.p == pytest.approx(0.009348, abs=1e-6)


def test_the_three_agree_where_there_is_much_to_see() -> None:
    """300 questions, a real difference: all find it, with nearly the same interval."""
    dice = random.Random(7)
    one = [dice.gauss(0.5, 0.2) for _ in range(300)]
    other = [x - dice.gauss(0.05, 0.1) for x in one]
    found = [test(one, other) for test in (paired_bootstrap, paired_permutation, paired_t)]
    assert all(f.p < 0.001 for f in found)
    assert found[0].low == pytest.approx(found[2].low, abs=0.005)
    assert found[0].high == pytest.approx(found[2].high, abs=0.005)
    assert {f.count for f in found} == {300}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_nothing_differs_from_itself(values: list[float]) -> None:
    """The same figures give a difference of 0 and no grounds to see one."""
    for test in (paired_bootstrap, paired_permutation, paired_t):
        found = test(values, values)
        assert found.mean == 0
        assert found.p == 1


def test_chance_is_seldom_taken_for_a_difference() -> None:
    """Of 200 pairs of methods that are alike, about one in twenty is called different."""
    dice = random.Random(3)
    called = {"bootstrap": 0, "permutation": 0, "t": 0}
    for _ in range(200):
        one = [dice.random() for _ in range(30)]
        other = [dice.random() for _ in range(30)]
        called["bootstrap"] += paired_bootstrap(one, other, rounds=1000).p < 0.05
        called["permutation"] += paired_permutation(one, other, rounds=1000).p < 0.05
        called["t"] += paired_t(one, other).p < 0.05
    assert all(2 <= count <= 22 for count in called.values()), called


def test_unlike_lists_are_refused() -> None:
    """Pairs need the same questions."""
    for test in (paired_bootstrap, paired_permutation, paired_t):
        with pytest.raises(ValueError, match="same questions"):
            test([1.0], [1.0, 2.0])
