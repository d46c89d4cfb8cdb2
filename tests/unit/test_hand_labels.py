"""The labels that were given by hand, and how they are counted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks.hand_labels import FLAGGED, WRONG, Label, Labels, interval, load, rate

KEPT = Path(__file__).parents[2] / "docs/results/tuning/hand-labels.json"


def label(item: str, sentence: int, *, drawn: str, label: str) -> Label:
    """A label without what does not matter here."""
    audit = "fabricated" if drawn == "all" else "sound"
    return Label(
        item=item, sentence=sentence, audit=audit, drawn=drawn, label=label, kind="", away=False
    )


FEW = Labels(
    sentences={"a": 10, "b": 10},
    labels=(
        label("a", 1, drawn="all", label="made"),
        label("a", 2, drawn="all", label="said"),
        label("b", 1, drawn="chance", label="made"),
        label("b", 2, drawn="chance", label="said"),
        label("b", 3, drawn="chance", label="said"),
        label("a", 3, drawn="turned away", label="made"),
    ),
)


def test_what_was_read_by_chance_stands_for_all_that_was_let_pass() -> None:
    """One of the two that were called fabricated, and a third of the other eighteen."""
    assert rate(FEW, ("made",)) == pytest.approx((1 + 18 / 3) / 20)
    assert rate(FEW, ("person",)) == 0.0
    assert rate(FEW, ("made",), ["a", "a"]) == pytest.approx(2 / 20)
    low, high = interval(FEW, ("made",), times=200)
    assert low <= rate(FEW, ("made",)) <= high


def test_the_labels_are_whole_and_hold_no_words_of_the_data() -> None:
    """Each sentence once, all that the audit flags, at least 60 of the others."""
    found = load(KEPT)
    assert len({(one.item, one.sentence) for one in found.labels}) == len(found.labels)
    assert all(re.fullmatch(r"test_\d+/memory/5", one.item) for one in found.labels)
    assert all(1 <= one.sentence <= found.sentences[one.item] for one in found.labels)
    assert {one.label for one in found.labels} == {*WRONG, "said"}
    assert all(re.fullmatch("[a-z]*", one.kind) for one in found.labels)
    for one in found.labels:
        assert (one.drawn == "all") == (one.audit in FLAGGED)
    assert sum(one.drawn == "all" for one in found.labels) == 120
    assert sum(one.drawn == "chance" for one in found.labels) == 140


def test_what_the_guard_turns_away_is_mostly_wrong() -> None:
    """All that it turns away was read: two in three at least are made up or of somebody else."""
    away = [one for one in load(KEPT).labels if one.away]
    assert sum(one.label in WRONG for one in away) >= 2 / 3 * len(away)
