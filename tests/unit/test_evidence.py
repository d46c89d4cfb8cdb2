"""The seven kinds of evidence, by hand on a few turns."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from math import exp, log

import numpy as np
import pytest

from omoide.domain import Speaker, Support
from omoide.memory.search.evidence import (
    Weights,
    _hear_best,
    _hear_best_of_many,
    _shape,
    support,
    weigh,
)
from omoide.memory.search.question import Question
from omoide.memory.search.visible import visible
from omoide.ports.store import Outline, Postings, Survey, Voice

DAY = datetime(2023, 6, 14, 12, tzinfo=UTC)


def survey(
    *sessions: int,
    postings: dict[str, dict[int, int]] | None = None,
    cosines: list[float] | None = None,
    named: list[tuple[int, int, int]] | None = None,
) -> Survey:
    """Turns of these sessions, a day apart, by two voices in turn, ten terms long each."""
    count = len(sessions)
    times = [(DAY + timedelta(i)).replace(tzinfo=None) for i in range(count)]
    outline = Outline(
        ids=[f"t{i}" for i in range(count)],
        places={f"t{i}": i for i in range(count)},
        session=np.array(sessions, np.int64),
        voices=(
            Voice(speaker=Speaker.USER, name=None),
            Voice(speaker=Speaker.ASSISTANT, name=None),
        ),
        voice=np.arange(count) % 2,
        time=np.array(times, "datetime64[us]"),
        length=np.full(count, 10, np.float32),
        telling=np.full(count, 0.5, np.float32),
        named=np.array(named or [], np.int64).reshape(-1, 3),
    )
    return Survey(
        outline=outline,
        postings={
            term: Postings(
                places=np.array(list(where), np.int64),
                counts=np.array(list(where.values()), np.float32),
            )
            for term, where in (postings or {}).items()
        },
        cosines=None if cosines is None else np.array(cosines, np.float32),
        others=frozenset(),
    )


ASK = Question(terms=("tea",))


def test_words_are_bm25_and_neighbours_hear() -> None:
    """A turn scores BM25 by its own terms, its neighbours in the session a fading part of it."""
    found = weigh(survey(1, 1, 1, 1, 1, 2, postings={"tea": {0: 1}}), ASK, Weights())
    own = log(1 + 5.5 / 1.5) * 1.9 / (1 + 0.9)
    expected = [own, own * exp(-1 / 1.5), own * exp(-2 / 1.5), own * exp(-3 / 1.5), 0, 0]
    assert found.words.tolist() == pytest.approx(expected, rel=1e-5)


def test_the_best_neighbour_counts_not_the_sum() -> None:
    """Two neighbours that say a term are worth the nearer one of them."""
    found = weigh(survey(1, 1, 1, postings={"tea": {0: 1, 2: 1}}), ASK, Weights())
    assert found.words[1] == pytest.approx(found.words[0] * exp(-1 / 1.5))


def test_frequent_terms_are_heard_like_rare_ones() -> None:
    """Going through all turns gives what going through those with the term gives."""
    dice = np.random.default_rng(5)
    for count in (1, 2, 3, 40, 400):
        sessions = np.sort(dice.integers(0, 1 + count // 7, count)).tolist()
        where = np.flatnonzero(dice.random(count) < 0.4)
        turns = survey(*sessions, postings={"tea": {int(i): 1 + int(i) % 3 for i in where}})
        gain = dice.random(len(where)).astype(np.float32)
        few, many = np.zeros(count, np.float32), np.zeros(count, np.float32)
        room, session = np.zeros(count, np.float32), turns.outline.session
        _hear_best(few, where, gain, heard=room, session=session, strength=0.5)
        _hear_best_of_many(many, where, gain, shape=_shape(turns.outline), strength=0.5)
        assert many.tolist() == few.tolist()


def test_a_statement_hears_half() -> None:
    """For what is no question, neighbours and telling count half, a turn's own words in full."""
    turns = survey(1, 1, postings={"tea": {0: 1}}, cosines=[1, 0])
    asked, told = (weigh(turns, replace(ASK, asks=asks), Weights()) for asks in (True, False))
    assert told.words[0] == asked.words[0]
    assert told.words[1] == pytest.approx(asked.words[1] / 2)
    assert told.telling.tolist() == (asked.telling / 2).tolist()
    assert asked.meaning[0] - 1 == pytest.approx(2 * (told.meaning[0] - 1))


def test_meaning_in_standard_deviations() -> None:
    """Cosines are centred and scaled; a turn without a vector stands at the mean and hears."""
    nan = float("nan")
    found = weigh(survey(1, 2, 3, 3, cosines=[0.2, 0.4, 0.6, nan]), ASK, Weights())
    z = 0.2 / np.std([0.2, 0.4, 0.6])
    assert found.meaning.tolist() == pytest.approx([-z, 0, z, z * exp(-1 / 1.5) / 2], abs=1e-5)
    assert found.spread == pytest.approx((0.4, 0.2 / z))
    for none in (None, [nan] * 4):
        assert weigh(survey(1, 2, 3, 3, cosines=none), ASK, Weights()).spread is None


def test_session_speaker_time_and_when() -> None:
    """Each further kind marks the turns it should."""
    day = date(2023, 6, 14).toordinal()
    turns = survey(1, 1, 2, 2, postings={"tea": {0: 2}}, named=[(3, day, day), (2, day - 300, day)])
    question = Question(terms=("tea",), about=frozenset({1}), days=((day, day),), wants_time=True)
    found = weigh(turns, question, Weights())
    assert found.session[0] == found.session[1] > 0
    assert found.session[2:].tolist() == [0, 0]
    assert found.speaker.tolist() == [0, 1, 0, 1]
    assert found.time.tolist() == pytest.approx([1, exp(-0.1), exp(-0.2), 1])
    assert found.when.tolist() == [0, 0, 1, 1]
    assert found.total[0] == pytest.approx(
        0.45 * found.words[0] + 2.5 * found.session[0] + 5 + 2.5 * 0.5
    )


def test_folded_forms_that_nothing_has_say_nothing() -> None:
    """What the query could score does not grow by forms that are there just in case."""
    turns = survey(1, 1, postings={"tea": {0: 1}})
    plain = weigh(turns, ASK, Weights())
    folded = weigh(turns, Question(terms=("tea", "~tea")), Weights())
    assert folded.session.tolist() == plain.session.tolist()
    assert weigh(turns, Question(terms=("tea", "milk")), Weights()).session[0] < plain.session[0]


def test_visible_leaves_out_before_weighing() -> None:
    """What was said later, or is to be passed over, is weighed as if it had never been."""
    cut = visible(
        survey(
            1, 1, 2, 2,
            postings={"tea": {1: 1, 2: 2}, "milk": {3: 1}},
            cosines=[0.1, 0.2, 0.3, 0.4],
            named=[(2, 5, 6), (3, 7, 8)],
        ),
        at=DAY + timedelta(2),
        besides={"t0"},
    )  # fmt: skip
    assert list(cut.outline.ids) == ["t1", "t2"]
    assert dict(cut.outline.places) == {"t1": 0, "t2": 1}
    assert "t0" not in cut.outline.places
    assert cut.postings.keys() == {"tea"}
    assert cut.postings["tea"].places.tolist() == [0, 1]
    assert cut.outline.named.tolist() == [[1, 5, 6]]
    assert cut.cosines is not None
    assert cut.cosines.tolist() == pytest.approx([0.2, 0.3])
    ending = visible(
        survey(1, 1, 2, 2, cosines=[1, 2, 3, 4]), at=DAY + timedelta(9), besides={"t3", "x"}
    )
    assert list(ending.outline.ids) == list(ending.outline.places) == ["t0", "t1", "t2"]
    assert len(ending.outline.places) == 3
    assert "t3" not in ending.outline.places
    whole = survey(1, 2)
    assert visible(whole, at=DAY + timedelta(9), besides=set()) is whole
    nothing = visible(whole, at=DAY - timedelta(9), besides=set())
    assert weigh(nothing, ASK, Weights()).total.tolist() == []
    assert support(nothing.outline, ASK, weigh(nothing, ASK, Weights())).known < 0.01


def test_support() -> None:
    """The best score speaks for an answer; words that fit the other's turns better against it."""
    question = Question(terms=("tea",), about=frozenset({1}))
    turns = survey(1, 2, postings={"tea": {0: 1}})
    found = support(turns.outline, question, weigh(turns, question, Weights()))
    assert found.mismatch > 0
    turns = survey(1, 2, postings={"tea": {1: 1}})
    assert support(turns.outline, question, weigh(turns, question, Weights())).mismatch < 0
    known = [Support(best=best, mismatch=0).known for best in (0, 10, 13, 20)]
    assert known == sorted(known)
    assert known[0] < 0.01
    assert known[-1] > 0.97
