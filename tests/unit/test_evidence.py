"""The kinds of evidence, by hand on a few turns."""

from __future__ import annotations

from dataclasses import astuple, replace
from datetime import UTC, date, datetime, timedelta
from math import exp, log

import numpy as np
import pytest

from omoide.domain import Speaker
from omoide.mechanisms.search import word_evidence
from omoide.mechanisms.search.evidence import (
    SUBJECT_TERMS,
    judge_support,
    weigh_evidence,
)
from omoide.mechanisms.search.question import ParsedQuery
from omoide.mechanisms.search.visible import visible
from omoide.mechanisms.search.weights import EvidenceWeights
from omoide.mechanisms.search.word_evidence import weigh_words
from omoide.ports.store import Features, NamedSpeaker, Postings, SearchData, TurnTable

DAY = datetime(2023, 6, 14, 12, tzinfo=UTC)


def survey(
    *sessions: int,
    postings: dict[str, dict[int, int]] | None = None,
    cosines: list[float] | None = None,
    named: list[tuple[int, int, int]] | None = None,
) -> SearchData:
    """Turns of these sessions, a day apart, by two voices in turn, ten terms long each."""
    count = len(sessions)
    times = [(DAY + timedelta(i)).replace(tzinfo=None) for i in range(count)]
    outline = TurnTable(
        ids=[f"t{i}" for i in range(count)],
        row_by_id={f"t{i}": i for i in range(count)},
        session=np.array(sessions, np.int64),
        speakers=(
            NamedSpeaker(speaker=Speaker.USER, name=None),
            NamedSpeaker(speaker=Speaker.ASSISTANT, name=None),
        ),
        voice=np.arange(count) % 2,
        time=np.array(times, "datetime64[us]"),
        length=np.full(count, 10, np.float32),
        features=Features(
            values=np.full(count, 0.5, np.float32),
            spans=np.array(named or [], np.int64).reshape(-1, 3),
        ),
    )
    return SearchData(
        table=outline,
        postings={
            term: Postings(
                rows=np.array(list(where), np.int64),
                counts=np.array(list(where.values()), np.float32),
            )
            for term, where in (postings or {}).items()
        },
        cosines=None if cosines is None else np.array(cosines, np.float32),
        other_kinds=frozenset(),
    )


ASK = ParsedQuery(terms=("tea",))


def test_words_are_bm25_and_neighbours_hear() -> None:
    """A turn scores BM25 by its own terms, its neighbours in the session a fading part of it."""
    found = weigh_evidence(
        survey(1, 1, 1, 1, 1, 2, postings={"tea": {0: 1}}), ASK, EvidenceWeights()
    )
    own = log(1 + 5.5 / 1.5) * 1.9 / (1 + 0.9)
    near = [0, own * exp(-1 / 1.5), own * exp(-2 / 1.5), own * exp(-3 / 1.5), 0, 0]
    assert found.words.tolist() == pytest.approx([own, 0, 0, 0, 0, 0], rel=1e-5)
    assert found.near_words.tolist() == pytest.approx(near, rel=1e-5)


def test_the_best_neighbour_counts_not_the_sum() -> None:
    """Two neighbours that say a term are worth the nearer one of them."""
    found = weigh_evidence(survey(1, 1, 1, postings={"tea": {0: 1, 2: 1}}), ASK, EvidenceWeights())
    assert found.near_words[1] == pytest.approx(found.words[0] * exp(-1 / 1.5))


def test_a_statement_hears_half() -> None:
    """For what is no question, neighbours count half and the speaker a quarter, a turn's own words
    in full."""
    turns = survey(1, 1, postings={"tea": {0: 1}}, cosines=[1, 0])
    asking = replace(ASK, about=frozenset({0}))
    asked, told = (
        weigh_evidence(turns, replace(asking, asks=asks), EvidenceWeights())
        for asks in (True, False)
    )
    assert told.words[0] == asked.words[0]
    assert told.near_words[1] == pytest.approx(asked.near_words[1] / 2)
    assert told.near_meaning[0] == pytest.approx(asked.near_meaning[0] / 2)
    assert told.speaker.tolist() == [0.25, 0]


def test_one_person_alone_is_no_conversation() -> None:
    """The notes before and after a note of the same person do not speak for it."""
    turns = survey(1, 1, 1, postings={"tea": {0: 1}}, cosines=[1, 0, 0])
    alone = replace(turns, table=replace(turns.table, voice=np.zeros(3, np.int64)))
    found = weigh_evidence(alone, ASK, EvidenceWeights())
    assert found.near_words.tolist() == found.near_meaning.tolist() == [0, 0, 0]


def test_a_reply_is_credited_with_the_question_before_it() -> None:
    """The turn after a fitting question of somebody else, not the turn after a statement."""
    turns = survey(1, 1, 1, 1, postings={"tea": {0: 1, 2: 1}})
    values = np.array([0, 0.5, 0.5, 0.5], np.float32)  # the first turn only asks
    features = replace(turns.table.features, values=values)  # type: ignore[type-var]
    turns = replace(turns, table=replace(turns.table, features=features))
    found = weigh_evidence(turns, ASK, EvidenceWeights())
    assert found.answers[1] > 0
    assert found.answers[[0, 2, 3]].tolist() == [0, 0, 0]
    assert found.question[0] == pytest.approx(exp(-10 / 16))
    assert found.question[1:].tolist() == [0, 0, 0]
    assert found.total[1] > found.total[0]


def test_what_counted_adds_up_to_the_score() -> None:
    """The parts of a score are named, the largest first, and sum up to it."""
    turns = survey(1, 1, 2, postings={"tea": {0: 1}}, cosines=[0.9, 0.1, 0.2])
    found = weigh_evidence(turns, replace(ASK, about=frozenset({0})), EvidenceWeights())
    parts = found.parts([0])[0]
    assert {"words", "meaning", "speaker", "session"} <= {kind for kind, _ in parts}
    assert sum(points for _, points in parts) == pytest.approx(float(found.total[0]), rel=1e-4)
    sizes = [abs(points) for _, points in parts]
    assert sizes == sorted(sizes, reverse=True)


def test_meaning_in_standard_deviations() -> None:
    """Cosines are centred and scaled; a turn without a vector stands at the mean and hears."""
    nan = float("nan")
    found = weigh_evidence(survey(1, 2, 3, 3, cosines=[0.2, 0.4, 0.6, nan]), ASK, EvidenceWeights())
    z = 0.2 / np.std([0.2, 0.4, 0.6])
    assert found.meaning.tolist() == pytest.approx([-z, 0, z, 0], abs=1e-5)
    assert found.near_meaning[3] == pytest.approx(z * exp(-1 / 1.5) / 2, abs=1e-5)
    assert found.spread is not None
    assert astuple(found.spread) == pytest.approx((0.4, 0.2 / z, 0.6))
    for none in (None, [nan] * 4):
        assert (
            weigh_evidence(survey(1, 2, 3, 3, cosines=none), ASK, EvidenceWeights()).spread is None
        )


def test_session_speaker_time_and_when() -> None:
    """Each further kind marks the turns it should."""
    day = date(2023, 6, 14).toordinal()
    turns = survey(1, 1, 2, 2, postings={"tea": {0: 2}}, named=[(3, day, day), (2, day - 300, day)])
    question = ParsedQuery(
        terms=("tea",), about=frozenset({1}), days=((day, day),), wants_time=True
    )
    found = weigh_evidence(turns, question, EvidenceWeights())
    assert found.session[0] == found.session[1] > 0
    assert found.session[2:].tolist() == [0, 0]
    assert found.speaker.tolist() == [0, 1, 0, 1]
    assert found.time.tolist() == pytest.approx([1, exp(-0.1), exp(-0.2), 1])
    assert found.when.tolist() == [0, 0, 1, 1]
    w = EvidenceWeights()
    assert found.total[0] == pytest.approx(
        w.words * found.words[0] + w.session * found.session[0] + w.time
    )


def test_folded_forms_that_nothing_has_say_nothing() -> None:
    """What the query could score does not grow by forms that are there just in case."""
    turns = survey(1, 1, postings={"tea": {0: 1}})
    plain = weigh_evidence(turns, ASK, EvidenceWeights())
    folded = weigh_evidence(turns, ParsedQuery(terms=("tea", "~tea")), EvidenceWeights())
    assert folded.session.tolist() == plain.session.tolist()
    assert (
        weigh_evidence(turns, ParsedQuery(terms=("tea", "milk")), EvidenceWeights()).session[0]
        < plain.session[0]
    )


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
    assert list(cut.table.ids) == ["t1", "t2"]
    assert dict(cut.table.row_by_id) == {"t1": 0, "t2": 1}
    assert "t0" not in cut.table.row_by_id
    assert cut.postings.keys() == {"tea"}
    assert cut.table.features is not None
    assert cut.postings["tea"].rows.tolist() == [0, 1]
    assert cut.table.features.spans.tolist() == [[1, 5, 6]]
    assert cut.cosines is not None
    assert cut.cosines.tolist() == pytest.approx([0.2, 0.3])
    ending = visible(
        survey(1, 1, 2, 2, cosines=[1, 2, 3, 4]), at=DAY + timedelta(9), besides={"t3", "x"}
    )
    assert list(ending.table.ids) == list(ending.table.row_by_id) == ["t0", "t1", "t2"]
    assert len(ending.table.row_by_id) == 3
    assert "t3" not in ending.table.row_by_id
    whole = survey(1, 2)
    assert visible(whole, at=DAY + timedelta(9), besides=set()) is whole
    nothing = visible(whole, at=DAY - timedelta(9), besides=set())
    assert weigh_evidence(nothing, ASK, EvidenceWeights()).total.tolist() == []
    assert judge_support(nothing, ASK, weigh_evidence(nothing, ASK, EvidenceWeights())).known == 0


def test_support() -> None:
    """The share of the query's words that is found, and words that fit the other's turns better."""
    question = ParsedQuery(terms=("tea",), about=frozenset({1}))
    turns = survey(1, 2, postings={"tea": {0: 1}})
    found = judge_support(turns, question, weigh_evidence(turns, question, EvidenceWeights()))
    assert found.mismatch > 0
    assert found.turns == 2
    assert found.cosine is None
    turns = survey(1, 2, postings={"tea": {1: 1}}, cosines=[0.2, 0.5])
    found = judge_support(turns, question, weigh_evidence(turns, question, EvidenceWeights()))
    assert found.mismatch < 0
    assert found.words == pytest.approx(1)
    assert found.cosine == pytest.approx(0.5)


def test_a_long_message_is_known_by_its_rarest_words() -> None:
    """Nobody says all of a hundred words again; the twenty rarest are as good as all."""
    spoken = {f"word{n}": {0: 1} for n in range(SUBJECT_TERMS)}
    said = ParsedQuery(terms=tuple(f"word{n}" for n in range(5 * SUBJECT_TERMS)), asks=False)
    turns = survey(1, 2, postings=spoken)
    found = judge_support(turns, said, weigh_evidence(turns, said, EvidenceWeights()))
    assert 0.3 < found.words < 0.7
    few = replace(said, terms=said.terms[:SUBJECT_TERMS])
    all_heard = judge_support(turns, few, weigh_evidence(turns, few, EvidenceWeights()))
    assert found.words < all_heard.words


@pytest.mark.parametrize("seed", range(5))
def test_terms_counted_at_once_or_one_by_one_count_the_same(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many terms are counted at once decides only what is faster: not one bit differs."""
    random = np.random.default_rng(seed)
    sessions = np.sort(random.integers(1, 9, 60)).tolist()
    data = survey(
        *sessions,
        postings={
            f"term{n}": {
                int(row): int(random.integers(1, 4))
                for row in random.choice(60, random.integers(1, 40), replace=False)
            }
            for n in range(7)
        },
    )
    table = replace(data.table, length=random.integers(1, 200, 60).astype(np.float32))
    data, query = replace(data, table=table), ParsedQuery(terms=tuple(data.postings))
    at_once = weigh_words(data, query, 0.7)
    monkeypatch.setattr(word_evidence, "MOST_CELLS", 1)
    by_term = weigh_words(data, query, 0.7)
    for name in ("words", "near", "session"):
        assert np.array_equal(getattr(at_once, name), getattr(by_term, name))


@pytest.mark.parametrize("left_out", [("t4", "t5"), ("t1", "t4"), ("t0", "t3", "t5")])
@pytest.mark.parametrize(
    "days", [(0, 0, 1, 1, 2, 3), (2, 0, 1, 1, 0, 3)], ids=["in order", "mixed"]
)
def test_what_is_left_weighs_as_if_the_rest_had_never_been(
    left_out: tuple[str, ...], days: tuple[int, ...]
) -> None:
    """A part of a table takes columns from the whole, and comes to the same evidence."""
    data = survey(1, 1, 1, 2, 2, 2, postings={"tea": {1: 1, 2: 2}}, cosines=[1, 0, 0.5, 0.2, 0, 1])
    features = Features(
        values=np.linspace(0.1, 0.6, 6, dtype=np.float32), spans=np.zeros((0, 3), np.int64)
    )
    time = np.array([(DAY + timedelta(d)).replace(tzinfo=None) for d in days], "datetime64[us]")
    data = replace(data, table=replace(data.table, features=features, time=time))
    asked = (DAY + timedelta(1)).toordinal()
    query = replace(ASK, days=((asked, asked),), about=frozenset({0}))
    weigh_evidence(data, query, EvidenceWeights())
    part = visible(data, at=DAY + timedelta(9), besides=frozenset(left_out))
    alone = replace(part, table=replace(part.table))  # whose shape is not known
    found, expected = (weigh_evidence(d, query, EvidenceWeights()) for d in (part, alone))
    for kind in expected.present:
        assert getattr(found, kind).tolist() == getattr(expected, kind).tolist(), kind
    rows = {name: part.table.row_by_id.get(name) for name in data.table.ids}
    assert [n for n, row in rows.items() if row is None] == list(left_out)
    assert [part.table.ids[row] for row in rows.values() if row is not None] == list(part.table.ids)
