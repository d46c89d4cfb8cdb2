"""Finds the turns that support a sentence of the memory, without a model.

A sentence that restates one of the old memory inherits its sources. It also cites the turns of
the new session that contain most of its content terms. A sentence with neither has no sources and
is shown as unsupported.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.claims.names import introducing_turns
from omoide.claims.noted_facts import JOINED
from omoide.claims.overlap import UNSPACED, coverage, rarity, stems
from omoide.domain import Speaker
from omoide.language import content_terms, split_sentences
from omoide.language.pack import over_packs, packs
from omoide.language.sentences import QUESTION
from omoide.prompts.transcript import spoken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import Sentence, Turn

LEAST = 0.4
"""Share of a sentence's weighted terms that a turn must contain to be cited (docs/experiments)."""
MOST = 4
"""Maximum number of turns of the session that a sentence cites."""


def cite_sources(
    sentences: Sequence[Sentence],
    *,
    old: Sequence[Sentence],
    turns: Sequence[Turn],
    cited: Sequence[Turn] = (),
) -> tuple[Sentence, ...]:
    """The same sentences with their supporting turns. `cited` are the turns that support the old
    sentences: with them, a fact split off from a joined sentence keeps only its own sources."""
    known = [_predicate_terms(sentence.text) for sentence in old]
    turn_terms = [_predicate_terms(spoken(turn)) for turn in turns]
    weight = rarity([*known, *turn_terms])
    cited_terms = {turn.id: _predicate_terms(spoken(turn)) for turn in cited}
    return tuple(
        replace(
            sentence,
            sources=tuple(
                dict.fromkeys(
                    source
                    for part in JOINED.split(sentence.text)
                    for source in (
                        *_inherited(part, sentence, old, known, cited_terms, weight),
                        *(
                            introducing_turns(part, turns)
                            or _sources(
                                replace(sentence, text=part), known, turns, turn_terms, weight
                            )
                        ),
                    )
                )
            ),
        )
        for sentence in sentences
    )


def _inherited(
    part: str,
    sentence: Sentence,
    old: Sequence[Sentence],
    known: Sequence[set[str]],
    cited_terms: Mapping[str, set[str]],
    weight: Mapping[str, float],
) -> list[str]:
    """The sources of the old sentences that say the same. If one says more, only the sources that
    support this part, or whose text is unknown."""
    wanted = _predicate_terms(part)
    inherited: list[str] = []
    for older, its_terms in zip(old, known, strict=True):
        if older.about is not sentence.about or coverage(wanted, its_terms, weight) < 0.6:
            continue
        sources = older.sources
        if JOINED.search(older.text):
            sources = tuple(
                id_
                for id_ in older.sources
                if id_ not in cited_terms or coverage(wanted, cited_terms[id_], weight) >= LEAST
            )
        inherited += sources or older.sources
    return inherited


def _sources(
    sentence: Sentence,
    known: Sequence[set[str]],
    turns: Sequence[Turn],
    turn_terms: Sequence[set[str]],
    weight: Mapping[str, float],
) -> tuple[str, ...]:
    """The turns of the session that support a sentence."""
    wanted = _predicate_terms(sentence.text)
    scores = {
        i: _score(sentence, turn, coverage(wanted, its_terms, weight), known, its_terms)
        for i, (turn, its_terms) in enumerate(zip(turns, turn_terms, strict=True))
    }
    cited = [i for i, s in scores.items() if s >= LEAST]
    if any(turns[i].speaker is sentence.about for i in cited):  # prefer the subject's own words
        cited = [i for i in cited if turns[i].speaker is sentence.about]
    best = max((scores[i] for i in cited), default=0.0)
    cited = [i for i in cited if scores[i] >= 0.7 * best]
    cited = sorted(sorted(cited, key=lambda i: -scores[i])[:MOST])
    return tuple(id_ for i in cited for id_ in _with_answer(i, sentence, turns))


@over_packs
def _subject() -> re.Pattern[str]:
    """Matches the subject at the start of a memory sentence, in any language."""
    labels = (label.strip() for pack in packs() for label in (pack.note.user, pack.note.assistant))
    return re.compile(rf"^(?:the )?(?:{'|'.join(map(re.escape, labels))})", re.IGNORECASE)


def _predicate_terms(text: str) -> set[str]:
    """The content terms of a text without its subject. In scripts without spaces, inflection is
    flattened: 飼い始めました supports 飼っている."""
    predicate = _subject().sub("", text)
    return set(stems(predicate)) if UNSPACED.search(predicate) else content_terms(predicate)


def _score(
    sentence: Sentence,
    turn: Turn,
    covered: float,
    known: Sequence[set[str]],
    its_terms: set[str],
) -> float:
    """Coverage, reduced if the turn is not by the speaker whom the sentence is about.

    An assistant's turn that only repeats the memory is no evidence; otherwise a mistake would
    confirm itself.
    """
    if turn.speaker is Speaker.ASSISTANT and any(
        len(its_terms) > 1 and coverage(its_terms, memory) >= 0.8 for memory in known
    ):
        return 0.0
    return covered if sentence.about in (None, turn.speaker) else covered * 0.8


def _with_answer(index: int, sentence: Sentence, turns: Sequence[Turn]) -> list[str]:
    """The turn, and if it is the other speaker's question about the fact, also the answer to it."""
    turn, after = turns[index], turns[index + 1 : index + 2]
    if sentence.about and turn.speaker is not sentence.about:
        asked = [s for s in split_sentences(spoken(turn)) if QUESTION.search(s)]
        if _predicate_terms(sentence.text) & _predicate_terms(" ".join(asked)):
            return [turn.id, *(answer.id for answer in after if answer.speaker is sentence.about)]
    return [turn.id]
