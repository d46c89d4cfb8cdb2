"""Multi-Session Chat (Xu et al. 2022), valid split: sentences of gold persona summaries, and the
turns they were written from.

The corpus does not name these turns. We take the turn of that speaker in that session that has at
least 60 % of the sentence's content words, weighted by rarity, and more than any other turn; a
sentence without such a turn, or with fewer than three content words, is left out. **The evidence
shares words with the query by construction**: the set shows that statements are found among four
sessions, not how well questions are answered.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.claims import coverage, rarity
from omoide.domain import Speaker
from omoide.language import content_terms
from omoide_bench.corpora.questions import EvidenceConversation, EvidenceQuestion, conversation
from omoide_bench.data import msc

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from omoide_bench.data.shapes import DatasetLine, DatasetSession, Dialogue

FILE = "valid.jsonl.gz"
CATEGORY = 15
DIALOGUES = 60
MIN_EVIDENCE_SHARE = 0.6


def load(folder: Path) -> tuple[EvidenceConversation, ...]:
    """The first dialogues, one per owner."""
    return tuple(map(_conversation, msc.load(folder, "valid", limit=DIALOGUES)))


def _conversation(dialogue: Dialogue) -> EvidenceConversation:
    lines = [line for line in dialogue.lines if line.text.strip()]
    terms = {line.id: content_terms(line.text) for line in lines}
    weight = rarity(list(terms.values()))
    questions = (
        question
        for session in dialogue.sessions
        for question in _asked(session, dialogue.speakers, lines, terms=terms, weight=weight)
    )
    return conversation(dialogue, questions)


def _asked(
    session: DatasetSession,
    speakers: tuple[str, ...],
    lines: list[DatasetLine],
    *,
    terms: Mapping[str, set[str]],
    weight: Mapping[str, float],
) -> Iterator[EvidenceQuestion]:
    for speaker, facts in zip(speakers, session.facts, strict=False):
        candidates = [x for x in lines if x.session == session.number and x.speaker == speaker]
        for sentence in facts:
            wanted = content_terms(sentence)
            shares = sorted((coverage(wanted, terms[x.id], weight), x.id) for x in candidates)
            if len(wanted) < 3 or not shares or shares[-1][0] < MIN_EVIDENCE_SHARE:
                continue
            if len(shares) > 1 and shares[-2][0] == shares[-1][0]:
                continue
            yield EvidenceQuestion(
                text=sentence,
                category=CATEGORY,
                evidence=frozenset({shares[-1][1]}),
                at=lines[-1].time + timedelta(days=1),
                asker=Speaker.USER if speaker == speakers[0] else Speaker.ASSISTANT,
            )
