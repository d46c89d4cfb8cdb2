"""Which turns a sentence of the memory rests on, found without asking a model.

A sentence that restates one of the old memory inherits its sources; beyond that it cites the
turns of the new session that hold most of its meaningful terms. A sentence with neither is left
without sources, and so is shown as unsupported.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.language import content_terms, split_sentences
from omoide.memory.overlap import coverage, rarity, stems
from omoide.memory.summary.facts import VOICES
from omoide.memory.summary.naming import introducing
from omoide.memory.transcript import spoken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import Sentence, Turn

LEAST = 0.4
"""Share of a sentence's weighted terms that a turn must hold to be cited (docs/LOG.md)."""
MOST = 4


def attribute(
    sentences: Sequence[Sentence],
    *,
    old: Sequence[Sentence],
    turns: Sequence[Turn],
    cited: Sequence[Turn] = (),
) -> tuple[Sentence, ...]:
    """The same sentences, each with the turns it rests on. `cited` are turns that the old ones
    rest on: by them, a fact that moves out of a sentence with others takes its own turns along."""
    known = [_told(sentence.text) for sentence in old]
    heard = [_told(spoken(turn)) for turn in turns]
    weight = rarity([*known, *heard])
    before = {turn.id: _told(spoken(turn)) for turn in cited}
    return tuple(
        replace(
            sentence,
            sources=tuple(
                dict.fromkeys(
                    source
                    for part in JOINED.split(sentence.text)
                    for source in (
                        *_inherited(part, sentence, old, known, before, weight),
                        *(
                            introducing(part, turns)
                            or _sources(replace(sentence, text=part), known, turns, heard, weight)
                        ),
                    )
                )
            ),
        )
        for sentence in sentences
    )


JOINED = re.compile(r"\s*[;；]\s*")
"""Between facts that share a sentence."""


def _inherited(
    part: str,
    sentence: Sentence,
    old: Sequence[Sentence],
    known: Sequence[set[str]],
    before: Mapping[str, set[str]],
    weight: Mapping[str, float],
) -> list[str]:
    """The sources of the old sentences that say the same; of one that says more, those that bear
    this part out, as far as their words are at hand."""
    wanted = _told(part)
    found: list[str] = []
    for one, its_terms in zip(old, known, strict=True):
        if one.about is not sentence.about or coverage(wanted, its_terms, weight) < 0.6:
            continue
        own = one.sources
        if JOINED.search(one.text):
            own = tuple(
                id_
                for id_ in one.sources
                if id_ not in before or coverage(wanted, before[id_], weight) >= LEAST
            )
        found += own or one.sources
    return found


def _sources(
    sentence: Sentence,
    known: Sequence[set[str]],
    turns: Sequence[Turn],
    heard: Sequence[set[str]],
    weight: Mapping[str, float],
) -> tuple[str, ...]:
    """The turns of the session that bear a sentence out."""
    wanted = _told(sentence.text)
    scores = {
        i: _score(sentence, turn, coverage(wanted, its_terms, weight), known, its_terms)
        for i, (turn, its_terms) in enumerate(zip(turns, heard, strict=True))
    }
    cited = [i for i, s in scores.items() if s >= LEAST]
    if any(turns[i].speaker is sentence.about for i in cited):  # told by the one it is about
        cited = [i for i in cited if turns[i].speaker is sentence.about]
    best = max((scores[i] for i in cited), default=0.0)
    cited = [i for i in cited if scores[i] >= 0.7 * best]
    cited = sorted(sorted(cited, key=lambda i: -scores[i])[:MOST])
    return tuple(id_ for i in cited for id_ in _with_answer(i, sentence, turns))


_SUBJECT = re.compile(
    "^(?:the )?(?:"
    + "|".join(re.escape(v.user.strip()) for v in VOICES.values())
    + "|"
    + "|".join(re.escape(v.assistant.strip()) for v in VOICES.values())
    + ")",
    re.IGNORECASE,
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def _told(text: str) -> set[str]:
    """The terms of what is said about somebody, without who it is said of. Where words are not
    spaced, inflection is flattened: 飼い始めました supports 飼っている."""
    predicate = _SUBJECT.sub("", text)
    return set(stems(predicate)) if _CJK.search(predicate) else content_terms(predicate)


def _score(
    sentence: Sentence,
    turn: Turn,
    covered: float,
    known: Sequence[set[str]],
    its_terms: set[str],
) -> float:
    """Coverage, lower where the words are not the subject's own.

    An assistant's turn that only repeats what memory already said is no evidence at all, or a
    mistake would be confirmed by its own echo.
    """
    if turn.speaker is Speaker.ASSISTANT and any(
        len(its_terms) > 1 and coverage(its_terms, memory) >= 0.8 for memory in known
    ):
        return 0.0
    return covered if sentence.about in (None, turn.speaker) else covered * 0.8


def _with_answer(index: int, sentence: Sentence, turns: Sequence[Turn]) -> list[str]:
    """The turn; and where it is the other's question about it, the answer that made it a fact."""
    turn, after = turns[index], turns[index + 1 : index + 2]
    if sentence.about and turn.speaker is not sentence.about:
        asked = [s for s in split_sentences(spoken(turn)) if s.rstrip().endswith(("?", "？"))]
        if _told(sentence.text) & _told(" ".join(asked)):
            return [turn.id, *(answer.id for answer in after if answer.speaker is sentence.about)]
    return [turn.id]
