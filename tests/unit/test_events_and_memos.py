"""Events that consolidate and memos that cover."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.domain.event import Event
from omoide.domain.memo import Span, repaired_spans

TOLD = datetime(2026, 1, 5, tzinfo=UTC)


def event() -> Event:
    """The user's marathon, told once."""
    return Event(
        id="e1",
        session=1,
        text="The user ran a marathon.",
        time=TOLD,
        sources=("t1",),
        last_recalled=TOLD,
    )


def test_each_recall_consolidates() -> None:
    """An event that came to mind fades slower from then on."""
    month = timedelta(days=30)
    once = event().recalled(TOLD + month)
    assert once.recalls == 1
    assert once.consolidation > 1
    assert once.last_recalled == TOLD + month
    later = TOLD + 4 * month
    fresh = event().recalled(TOLD)  # recalled at once: no pause, so nothing gained
    assert fresh.consolidation == 1
    assert once.probability(relevance=0.8, now=later) > fresh.probability(relevance=0.8, now=later)


def test_recalling_does_not_change_the_event_itself() -> None:
    """Values are frozen: a prompt that is cancelled consolidates nothing."""
    one = event()
    one.recalled(TOLD + timedelta(days=1))
    assert one.recalls == 0


@pytest.mark.parametrize(
    ("given_spans", "wanted"),
    [
        ([(1, 3), (4, 9)], [(1, 3), (4, 9)]),
        ([(1, 4), (4, 9)], [(1, 3), (4, 9)]),
        ([(1, 2), (5, 9)], [(1, 4), (5, 9)]),
        ([(2, 3), (4, 7)], [(1, 3), (4, 9)]),
        ([(4, 9), (1, 3)], [(4, 9), (1, 3)]),
        ([(1, 99)], [(1, 9)]),
        ([(0, 0)], [(1, 9)]),
        ([(9, 9), (9, 9)], [(1, 9), None]),
        ([(3, 3), (3, 3)], [(1, 3), (4, 9)]),
    ],
)
def test_spans_are_mended(
    given_spans: list[tuple[int, int]], wanted: list[tuple[int, int] | None]
) -> None:
    """Overlap, gaps, wrong ends and wrong order."""
    spans = [Span(first=a, last=b) for a, b in given_spans]
    found = [(s.first, s.last) if s else None for s in repaired_spans(spans, lines=9)]
    assert found == wanted


@given(
    st.lists(st.tuples(st.integers(-3, 40), st.integers(-3, 40)), min_size=1, max_size=12),
    st.integers(1, 30),
)
def test_mended_spans_cover_every_line_once(pairs: list[tuple[int, int]], lines: int) -> None:
    """Whatever a model says, no line is lost and none stands twice."""
    spans = [Span(first=a, last=b) for a, b in pairs]
    kept = sorted(span for span in repaired_spans(spans, lines=lines) if span)
    covered = [n for span in kept for n in range(span.first, span.last + 1)]
    assert covered == list(range(1, lines + 1))
