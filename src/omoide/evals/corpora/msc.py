"""Multi-Session Chat (Xu et al. 2022), valid part: a sentence of a gold persona summary, and the
turn that it was written from.

The corpus does not say which turn that is. Taken is the one turn of that speaker in that session
that has at least 60 % of the sentence's content words, by rarity, and more than any other; a
sentence without such a turn, or with fewer than three content words, is left out. **The evidence
shares words with the query by construction**: the set tells that statements are found among four
sessions, not how well questions are. Of one dialogue, with words of our own:

    {"id": "d1", "sessions": [{"session": 1, "turns": [{"speaker": "Speaker 1", "text": "Hi!"}],
     "gold_persona_summary": [["I grow tomatoes."], []]}]}
"""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from omoide.domain import Speaker
from omoide.evals.locomo import Asked, Conversation, Line
from omoide.language import content_terms
from omoide.memory.overlap import coverage, rarity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FILE = "valid.jsonl.gz"
CATEGORY = 15
DIALOGUES = 60
LEAST = 0.6
_START = datetime(2022, 1, 1, tzinfo=UTC)
_SPEAKERS = ("Speaker 1", "Speaker 2")


def load(folder: Path) -> tuple[Conversation, ...]:
    """The first dialogues, each an owner."""
    with gzip.open(folder / FILE, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line, _ in zip(file, range(DIALOGUES), strict=False)]
    return tuple(map(_conversation, records))


def _conversation(record: dict[str, Any]) -> Conversation:
    lines = [
        Line(
            id=f"{session['session']}:{place}",
            session=session["session"],
            speaker=turn["speaker"],
            text=turn["text"],
            time=_START + timedelta(weeks=session["session"], minutes=place),
        )
        for session in record["sessions"]
        for place, turn in enumerate(session["turns"])
        if turn["text"].strip()
    ]
    terms = {line.id: content_terms(line.text) for line in lines}
    weight = rarity(list(terms.values()))
    return Conversation(
        name=str(record["id"]),
        speakers=_SPEAKERS,
        lines=tuple(lines),
        questions=tuple(
            asked
            for session in record["sessions"]
            for asked in _asked(session, lines, terms, weight)
        ),
        unanswerable=(),
        named=False,
    )


def _asked(
    session: dict[str, Any],
    lines: list[Line],
    terms: Mapping[str, set[str]],
    weight: Mapping[str, float],
) -> Iterator[Asked]:
    for speaker, summary in zip(_SPEAKERS, session.get("gold_persona_summary") or (), strict=False):
        own = [x for x in lines if x.session == session["session"] and x.speaker == speaker]
        for sentence in summary:
            wanted = content_terms(sentence)
            shares = sorted((coverage(wanted, terms[x.id], weight), x.id) for x in own)
            if len(wanted) < 3 or not shares or shares[-1][0] < LEAST:
                continue
            if len(shares) > 1 and shares[-2][0] == shares[-1][0]:
                continue
            yield Asked(
                text=sentence,
                category=CATEGORY,
                evidence=frozenset({shares[-1][1]}),
                at=lines[-1].time + timedelta(days=1),
                asker=Speaker.USER if speaker == _SPEAKERS[0] else Speaker.ASSISTANT,
            )
