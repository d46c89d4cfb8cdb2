"""The scores of what turns support: facts, events, memos and sentences of the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.claims.overlap import coverage, rarity
from omoide.domain import MemoryKind, RecalledItem
from omoide.language import content_terms, estimate_tokens
from omoide.language.terms import is_prefix, terms

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from omoide.domain import Summary
    from omoide.mechanisms.search.evidence import TurnEvidence
    from omoide.ports.store import TurnTable


def derived_scores(
    evidence: TurnEvidence,
    table: TurnTable,
    sources: Sequence[Sequence[str]],
    *,
    words: Sequence[float],
    cosines: Sequence[float | None],
) -> list[float]:
    """The scores of items that turns support, given the sources of each and how well its own words
    and vector match."""
    if not sources:
        return []
    rows, weights, context = table.row_by_id, evidence.weights, evidence.context
    scores = []
    for item_sources, own_words, cosine in zip(sources, words, cosines, strict=True):
        own_meaning = 0.0
        if cosine is not None and evidence.spread is not None:
            own_meaning = (cosine - evidence.spread.mean) / evidence.spread.deviation
        without_sources = weights.words * own_words + weights.meaning * own_meaning
        scores.append(
            max(
                (
                    float(context[i])
                    + weights.words * max(own_words, float(evidence.words[i]))
                    + weights.meaning * max(own_meaning, float(evidence.meaning[i]))
                    for name in item_sources
                    if (i := rows.get(name)) is not None
                ),
                default=without_sources,
            )
        )
    return scores


def word_score(text: str, evidence: TurnEvidence) -> float:
    """The words score of a text that is not in the index, as if it had each of the query's terms
    that it has once."""
    its_terms = set(terms(text))
    return sum(
        rarity
        for alternatives, rarity in evidence.rarities
        if any(t in its_terms or (is_prefix(t) and t in text) for t in alternatives)
    )


def matching_sentences(
    query: str,
    summary: Summary,
    evidence: TurnEvidence,
    table: TurnTable,
    *,
    stated: AbstractSet[str],
) -> list[RecalledItem]:
    """The summary's sentences that share terms with the query, but for those that state a fact of
    `stated`."""
    if not summary.sentences:
        return []
    wanted = content_terms(query)
    known = [
        content_terms(sentence.text) | {t for t in wanted if is_prefix(t) and t in sentence.text}
        for sentence in summary.sentences
    ]
    weight = rarity(known)
    shares = [coverage(wanted, its_terms, weight) for its_terms in known]
    chosen = [
        (s, share)
        for s, share in zip(summary.sentences, shares, strict=True)
        if share > 0 and not (s.fact and s.fact in stated)
    ]
    scores = derived_scores(
        evidence,
        table,
        [sentence.sources for sentence, _ in chosen],
        words=[share * evidence.possible for _, share in chosen],
        cosines=[None] * len(chosen),
    )
    numbers = {id(sentence): number for number, sentence in enumerate(summary.sentences, 1)}
    return [
        RecalledItem(
            kind=MemoryKind.SENTENCE,
            id=f"v{summary.number}-{numbers[id(sentence)]}",
            text=sentence.text,
            score=score,
            sources=sentence.sources,
            time=summary.time,
            tokens=estimate_tokens(sentence.text),
            session=summary.session,
        )
        for (sentence, _), score in zip(chosen, scores, strict=True)
    ]
