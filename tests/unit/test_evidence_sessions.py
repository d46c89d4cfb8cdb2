"""How long a session is, against the others of its owner."""

from __future__ import annotations

import pytest

from omoide.mechanisms.search.table_shape import shape_of

from .test_evidence import survey


@pytest.mark.parametrize(
    ("sessions", "norms"),
    [
        ((1, 1, 1), [1.2]),
        ((1,), [1.2]),
        ((1, 1, 1, 2), [1.44, 0.96]),
        ((1, 2, 3), [1.2, 1.2, 1.2]),
        ((), []),
    ],
)
def test_a_session_is_long_or_short_by_the_mean_of_all(
    sessions: tuple[int, ...], norms: list[float]
) -> None:
    """A single one is as long as the mean; what a term counts in one falls with its length."""
    assert shape_of(survey(*sessions).table).session_norm.tolist() == pytest.approx(norms)
