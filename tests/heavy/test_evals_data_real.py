"""The real data sets, which may not be kept in this repository: their counts."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from omoide_bench.corpora.memdaily import KINDS as MEMDAILY
from omoide_bench.data import (
    beam,
    dialogsum,
    dulemon,
    japanese_daily_dialogue,
    locomo,
    longmemeval,
    memdaily,
    memochat,
    memorybank,
    msc,
    personamem,
    real_persona_chat,
    synthetic_persona_chat,
)
from omoide_bench.metrics import bleu_against_characters, corpus_bleu

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not (DATA / "msc").is_dir(), reason=f"the public data sets are not at {DATA}"
    ),
]


def test_msc() -> None:
    """501 and 500 dialogues, session 5 for 200, with 988 replies of the assistant."""
    test = msc.load(DATA, "test")
    assert (len(test), len(msc.load(DATA, "valid"))) == (501, 500)
    last = [d.sessions[4] for d in test if len(d.sessions) == 5]
    assert len(last) == 200
    assert sum(len(session.replies("Speaker 2")) for session in last) == 988
    assert all(len(session.facts) == 2 for d in test for session in d.sessions[:4])


def test_the_published_bleu_cannot_tell_methods_apart() -> None:
    """On 988 real replies: always right gives 21.0 and 12.1, another dialogue's reply 20.7 and
    11.9, and the same sentence to everyone more than either; the paper has 20.96 to 21.83 and
    12.09 to 12.59 for all that it compares. BLEU-1 gives 100 and 14."""
    gold = [
        session.lines[place].text
        for dialogue in msc.load(DATA, "test")
        for session in dialogue.sessions[4:]
        for place in session.replies("Speaker 2")
    ]
    foolish = random.Random(0).sample(gold, len(gold))
    for order, published in ((1, 0.21), (2, 0.12)):
        right = bleu_against_characters(gold, gold, order=order)
        wrong = bleu_against_characters(foolish, gold, order=order)
        assert right == pytest.approx(published, abs=0.002)
        assert abs(right - wrong) < 0.004
        same = ["I think that is a great idea, I love it"] * len(gold)
        assert bleu_against_characters(same, gold, order=order) > right
    assert corpus_bleu(gold, gold, order=1) == pytest.approx(1)
    assert corpus_bleu(foolish, gold, order=1) < 0.15


def test_locomo() -> None:
    """Ten conversations: 272 sessions, 5,882 turns, 1,986 questions."""
    found = locomo.load(DATA)
    assert len(found) == 10
    assert sum(len(d.sessions) for d in found) == 272
    assert sum(len(d.lines) for d in found) == 5882
    assert Counter(q.category for d in found for q in d.questions) == {
        "multi-hop": 282,
        "temporal": 321,
        "open": 96,
        "single-hop": 841,
        "adversarial": 446,
    }


def test_memochat() -> None:
    """54 dialogues of MT-Bench+, each with evidence; 402 and 1,000 instructions."""
    talks = memochat.load_mtbench_plus(DATA)
    assert Counter(talk.kind for talk in talks) == dict.fromkeys(memochat.KINDS, 18)
    assert all(talk.evidence for talk in talks)
    test = memochat.load_instructions(DATA)
    assert (len(test), len(memochat.load_instructions(DATA, "train"))) == (402, 1000)
    assert all(
        one.topics[-1].span.last == len(one.lines)
        for one in test
        if isinstance(one, memochat.WritingInstruction)
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_memorybank(language: str) -> None:
    """15 users of 10 days, 100 questions."""
    users = memorybank.load(DATA, language)
    assert [len(user.sessions) for user in users] == [10] * 15
    assert sum(len(user.questions) for user in users) == 100


def test_dialogsum() -> None:
    """12,460, 500 and 500 dialogues."""
    assert [len(dialogsum.load(DATA, split)) for split in dialogsum.SPLITS] == [12460, 500, 500]


def test_japanese() -> None:
    """5,256 daily dialogues with 41,737 utterances; 60 pairs who talked 1,540 times."""
    daily = japanese_daily_dialogue.load(DATA)
    assert (len(daily), sum(len(d.lines) for d in daily)) == (5256, 41737)
    pairs = real_persona_chat.load(DATA)
    assert (len(pairs), sum(len(pair.sessions) for pair in pairs)) == (60, 1540)


def test_synthetic_persona_chat() -> None:
    """968 rows, one of them empty, and 1,000."""
    assert len(synthetic_persona_chat.load(DATA, "test")) == 967
    assert len(synthetic_persona_chat.load(DATA, "valid")) == 1000


def test_longmemeval_and_dulemon() -> None:
    """One question over 53 sessions; 20 dialogues."""
    [item] = longmemeval.load(DATA)
    assert len(item.sessions) == 53
    assert len(dulemon.load(DATA)) == 20


def test_beam_personamem_and_memdaily() -> None:
    """11 chats with 220 questions, all with a rubric and 176 with an ideal answer; 37 users with
    589 questions; 1,100 Chinese questions in the hybrid files that are used for evidence."""
    asked = [question for chat in beam.load(DATA) for question in chat.questions]
    assert len(asked) == sum(bool(question.rubric) for question in asked) == 220
    assert sum(question.answer is not None for question in asked) == 176
    users = personamem.load(DATA)
    questions = [question for user in users for question in user.questions]
    assert (len(users), len(questions)) == (37, 589)
    assert all(len(question.choices) == 4 for question in questions)
    assert sum(len(user.lines) for user in users) == 6267
    daily = memdaily.load(DATA, kinds=MEMDAILY)
    assert sum(len(dialogue.questions) for dialogue in daily) == 1100


def test_locomo_with_the_audit() -> None:
    """The audit is about the same questions; 155 change, 120 of them in the answer."""
    asked = [question for one in locomo.load_audited(DATA) for question in one.questions]
    changed = [question for question in asked if question.audited is not None]
    assert (len(asked), len(changed)) == (1986, 155)
    assert sum(q.audited is not None and q.audited.answer != q.answer for q in changed) == 120
