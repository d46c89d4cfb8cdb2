"""Cosines that a store only estimates, as of very many turns: what counts is made exact."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omoide.mechanisms.search import meaning
from omoide.mechanisms.search.evidence import TurnEvidence, weigh_evidence
from omoide.mechanisms.search.question import ParsedQuery
from omoide.mechanisms.search.visible import visible
from omoide.mechanisms.search.weights import KINDS, EvidenceWeights

from .test_evidence import DAY, survey

if TYPE_CHECKING:
    from omoide.ports.store import SearchData

ASK = ParsedQuery(terms=("tea",), about=frozenset({0}), days=((DAY.toordinal(),) * 2,))


def estimated(count: int, *, missing: bool = False) -> tuple[SearchData, SearchData]:
    """The same turns twice, in sessions of ten: with exact cosines, and with estimates that are
    off by two fifths of the cosines' deviation."""
    dice = np.random.default_rng(count)
    true = dice.normal(0.1, 0.1, count).astype(np.float32)
    if missing:
        true[::7] = np.nan
    tea = {int(row): 1 for row in dice.choice(count, count // 20, replace=False)}
    data = survey(*(n // 10 for n in range(count)), postings={"tea": tea}, cosines=true.tolist())
    off = dice.normal(0.003, 0.04, count).astype(np.float32)
    return data, replace(data, cosines=true + off, exact=lambda rows: true[rows])


def both(count: int, *, missing: bool = False) -> tuple[TurnEvidence, TurnEvidence]:
    """The evidence by exact cosines, and by estimates."""
    return tuple(  # type: ignore[return-value]
        weigh_evidence(data, ASK, EvidenceWeights()) for data in estimated(count, missing=missing)
    )


def shared(one: TurnEvidence, other: TurnEvidence) -> int:
    """How many of the ten best turns are the same."""
    first, second = (set(np.argsort(-each.total)[:10].tolist()) for each in (one, other))
    return len(first & second)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("count", [1, 2, 5, 150])
def test_of_few_turns_nothing_is_left_to_estimates(count: int, *, missing: bool) -> None:
    """All of them are among the best and in the sample, so every kind of evidence is the same."""
    exact, found = both(count, missing=missing)
    for kind in KINDS:
        values = getattr(exact, kind).tolist()
        assert getattr(found, kind).tolist() == pytest.approx(values, rel=1e-3, abs=1e-3), kind
    assert found.total.tolist() == pytest.approx(exact.total.tolist(), rel=1e-3, abs=1e-3)
    assert (found.spread is None) == (exact.spread is None)
    if found.spread and exact.spread:
        assert found.spread.best == pytest.approx(exact.spread.best)


def test_the_best_of_many_turns_are_compared_exactly() -> None:
    """Their scores are those by exact cosines, but for what the sample leaves uncertain for all
    alike; of the far ones the estimates stay."""
    exact, found = both(20_000)
    best = np.argsort(-exact.total)[:20]
    apart = found.total[best] - exact.total[best]
    assert np.abs(apart - apart.mean()).max() < 0.05
    assert abs(apart.mean()) < 0.1
    assert shared(found, exact) >= 9
    worst = np.argsort(exact.total)[:1000]
    assert np.abs(found.meaning[worst] - exact.meaning[worst]).max() > 0.3
    assert found.spread is not None
    assert exact.spread is not None
    assert found.spread.best == pytest.approx(exact.spread.best)


def test_without_exact_ones_the_best_would_be_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the test above sees is the work of the exact cosines."""
    monkeypatch.setattr(meaning, "BEST", 1)
    monkeypatch.setattr(meaning, "NEAREST", 1)
    exact, found = both(20_000)
    assert shared(found, exact) < 9


@pytest.mark.parametrize("left_out", [{"t149"}, {"t3", "t70"}, {"t0", "t149"}])
def test_exact_cosines_are_of_the_turns_that_are_left(left_out: set[str]) -> None:
    """Rows move when turns that are in the prompt already are left out."""
    for data in estimated(150):
        if data.exact is None:
            continue
        part = visible(data, at=DAY + timedelta(1000), besides=left_out)
        assert part.exact is not None
        for row, name in enumerate(part.table.ids):
            was = data.table.row_by_id[name]
            assert part.exact(np.array([row])) == data.exact(np.array([was]))


def test_no_vector_in_the_sample_corrects_nothing() -> None:
    """A turn in a thousand may have a vector, and none of the sample."""
    data, _ = estimated(10)
    cosines = np.full(10, np.nan, np.float32)
    cosines[3] = 0.5
    nothing = replace(
        data, cosines=cosines, exact=lambda rows: np.full(len(rows), np.nan, np.float32)
    )
    found = weigh_evidence(nothing, ASK, EvidenceWeights())
    assert found.spread is not None
    assert found.spread.mean == 0.5
