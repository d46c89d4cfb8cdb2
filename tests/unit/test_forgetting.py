"""The formulas of forgetting, against the papers' own numbers and by their properties."""

from __future__ import annotations

from datetime import timedelta
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.domain.forgetting import (
    UNIT,
    consolidated,
    recall_probability,
    recency,
    retention,
)

# Hou et al. 2024, Table 1: relevance, seconds, g, p.
TABLE_1 = {
    "A": (0.776, 434_700, 5.102, 0.850),
    "B": (0.745, 148_800, 5.229, 0.830),
    "C": (0.757, 331_500, 5.028, 0.836),
    "D": (0.756, 55_800, 1.000, 0.836),
}

relevances = st.floats(0.01, 1)
seconds = st.floats(0, 1e8)
strengths = st.floats(1, 50)


@pytest.mark.parametrize("event", TABLE_1)
@pytest.mark.parametrize("unit", [1.01e7, UNIT.total_seconds(), 1.21e7])
def test_equation_8_gives_table_1(event: str, unit: float) -> None:
    """Each row within the rounding of its three printed figures."""
    r, t, g, p = TABLE_1[event]
    found = recall_probability(
        relevance=r,
        elapsed=timedelta(seconds=t),
        consolidation=g,
        unit=timedelta(seconds=unit),
    )
    assert found == pytest.approx(p, abs=0.0009)


@pytest.mark.parametrize("unit", [timedelta(days=1), timedelta(weeks=1), timedelta(days=30)])
def test_no_ordinary_unit_gives_table_1(unit: timedelta) -> None:
    """The erratum: the paper's unit is no day, week or month."""
    worst = max(
        abs(
            p
            - recall_probability(
                relevance=r, elapsed=timedelta(seconds=t), consolidation=g, unit=unit
            )
        )
        for r, t, g, p in TABLE_1.values()
    )
    assert worst > 0.01


def test_a_perfect_match_now_is_certain() -> None:
    """p = 1 at r = 1, t = 0."""
    p = recall_probability(relevance=1, elapsed=timedelta(0), consolidation=1)
    assert p == pytest.approx(1)


@given(relevances, seconds, strengths)
def test_probability_is_bounded_and_never_zero(r: float, t: float, g: float) -> None:
    """Nothing is ever wholly forgotten."""
    p = recall_probability(relevance=r, elapsed=timedelta(seconds=t), consolidation=g)
    assert 0 < p <= 1


@given(relevances, seconds, strengths, st.floats(1.01, 3))
def test_probability_is_monotone(r: float, t: float, g: float, more: float) -> None:
    """More relevant or better consolidated: likelier. Longer ago: less likely."""

    def p(r: float, t: float, g: float) -> float:
        return recall_probability(relevance=r, elapsed=timedelta(seconds=t), consolidation=g)

    assert p(min(1, r * more), t, g) >= p(r, t, g)
    assert p(r, t, g * more) >= p(r, t, g)
    assert p(r, t * more, g) <= p(r, t, g)


@given(strengths, seconds)
def test_a_recall_adds_less_than_one(g: float, t: float) -> None:
    """Consolidation grows, but never by 1."""
    grown = consolidated(g, elapsed=timedelta(seconds=t))
    assert g <= grown < g + 1 or (grown == g + 1 and t > 30 * UNIT.total_seconds())


@given(st.floats(0.5, 4), st.integers(2, 10))
def test_spaced_recalls_beat_massed_ones(span: float, recalls: int) -> None:
    """The same number of recalls over the same span strengthens more when spread out evenly."""
    spaced = massed = 1.0
    for _ in range(recalls):
        spaced = consolidated(spaced, elapsed=UNIT * span / recalls)
    massed = consolidated(massed, elapsed=UNIT * span)
    for _ in range(recalls - 1):
        massed = consolidated(massed, elapsed=timedelta(0))
    assert spaced > massed


def test_equation_9_by_hand() -> None:
    """S(t) = (1 − e^−t) / (1 + e^−t)."""
    assert consolidated(1, elapsed=UNIT) == pytest.approx(1 + (1 - exp(-1)) / (1 + exp(-1)))


def test_a_clock_that_went_back_forgets_nothing() -> None:
    """Negative elapsed time counts as none."""
    back = timedelta(days=-3)
    assert recall_probability(relevance=0.5, elapsed=back, consolidation=1) == recall_probability(
        relevance=0.5, elapsed=timedelta(0), consolidation=1
    )
    assert consolidated(2, elapsed=back) == 2


def test_memory_bank_retains_strong_memories_longer() -> None:
    """R = e^(−t/S): after a day 37 % of a memory never recalled, more of one recalled."""
    day = timedelta(days=1)
    assert retention(elapsed=day, strength=1) == pytest.approx(exp(-1))
    assert retention(elapsed=day, strength=3) > retention(elapsed=day, strength=1)


def test_generative_agents_recency_decays_by_the_hour() -> None:
    """0.995 an hour."""
    assert recency(elapsed=timedelta(hours=2)) == pytest.approx(0.995**2)
