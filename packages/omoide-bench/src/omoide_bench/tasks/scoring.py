"""How replies, answers and memories are scored: where tasks meet metrics and judges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.language import content_terms
from omoide.prompts import vocabulary
from omoide_bench.metrics import (
    bleu_against_characters,
    corpus_bleu,
    distinct,
    locomo_f1,
    memory_score,
    parlai_f1,
    plain_memory_score,
    reply_length,
)
from omoide_bench.metrics.auditing import Fault, audit, audit_rates
from omoide_bench.metrics.encoded import BertScore, encoded_scores
from omoide_bench.tasks.base import Measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.ports import TokenEncoder
    from omoide_bench.data.shapes import DatasetQuestion, Dialogue
    from omoide_bench.running.items import ScoredItem

EVIDENCE = "evidence"
LENGTH = Measure(name="length", about="words of the reply", percent=False, better=0)
JUDGED = Measure(name="faithful", about="to what was said; a judge's mark, 1-100", percent=False)
EVIDENCE_MEASURE = Measure(name=EVIDENCE, about="share of the evidence turns in the prompt")
LIKENESS = Measure(name="likeness", about="token similarity by the encoder named in the notes")
VALID = Measure(name="valid", about="whether the first answer was usable, without a retry")
WORDS = Measure(
    name="gold words",
    about="share of the gold reply's words from earlier sessions only that memory recalls",
)
SPOKE = Measure(name="spoke up", about="whether memory put anything into the prompt", better=0)
REPLY = (
    Measure(name="F1", about="words shared with the gold reply (ParlAI)"),
    LENGTH,
    LIKENESS,
    WORDS,
    SPOKE,
)
MEMORY = (
    Measure(name="memory F1", about="words against annotated facts, ignoring person and endings"),
    Measure(name="memory precision", about="how much of the memory is in the annotated facts"),
    Measure(name="memory recall", about="how much of the annotated facts is in the memory"),
    Measure(name="memory plain F1", about="the same with ParlAI's words, perhaps the paper's"),
    Measure(name="sentences", about="number of sentences in memory", percent=False, better=0),
    Measure(name="fabricated", about="sentences that no turn supports (audit)", better=-1),
    Measure(name="relation", about="sentences about the wrong person (audit)", better=-1),
    Measure(name="missing", about="sentences that leave out a detail (audit)", better=-1),
    Measure(name="valid", about="sessions digested without a rejected answer"),
    Measure(name="usable", about="sessions digested in the end"),
)
ANSWER_WORDS = Measure(
    name="answer words", about="share of the right answer's words that memory puts into the prompt"
)
EVIDENCE_WORDS = Measure(
    name="evidence words", about="share of the evidence's words that memory recalls"
)
ANSWER_GIVEN = Measure(
    name="answer given", about="whether the answer has every content word of the right one"
)
QUESTIONS = (
    Measure(name="F1", about="as published with LoCoMo, by category"),
    EVIDENCE_MEASURE,
    ANSWER_WORDS,
)
WHOLE = (
    Measure(name="BLEU-1", about="corpus BLEU, correct, without smoothing"),
    Measure(name="BLEU-2", about="corpus BLEU, correct, without smoothing"),
    Measure(name="paper's BLEU-1", about="the published formula: words against characters"),
    Measure(name="paper's BLEU-2", about="the published formula: words against characters"),
    Measure(name="distinct-1", about="distinct words divided by words, over all replies"),
    Measure(name="distinct-2", about="distinct word pairs divided by word pairs"),
)
GIVEN, GOLD = "reply", "gold"
"""Keys of the reply and the gold reply in an item's texts."""


def reply_scores(reply: str, gold: str, *, language: str) -> dict[str, float]:
    """The scores of a reply against the gold reply."""
    return {
        "F1": parlai_f1(reply, gold, language=language),
        LENGTH.name: float(reply_length(reply, language=language)),
    }


def answer_scores(answer: str, question: DatasetQuestion, *, language: str) -> dict[str, float]:
    """The F1 of a short answer: by the category's rule for LoCoMo, else as for a single fact."""
    if question.answer is None and question.category != "adversarial":
        return {}
    return {"F1": locomo_f1(answer, question.answer, question.category, language=language)}


def answer_given(answer: str, gold: str) -> float:
    """1 if every content word of the gold answer is in the answer, however long it is.

    >>> answer_given("I think you drive a Jeep.", "a jeep"), answer_given("a car", "a jeep")
    (1.0, 0.0)
    """
    return float(content_terms(gold) <= content_terms(answer))


def memory_scores(held: Sequence[str], facts: Sequence[str], *, language: str) -> dict[str, float]:
    """Precision, recall and F1 of a memory against annotated facts."""
    fair = memory_score(held, facts, language=language)
    return {
        "memory F1": fair.f1,
        "memory precision": fair.precision,
        "memory recall": fair.recall,
        "memory plain F1": plain_memory_score(held, facts, language=language).f1,
        "sentences": float(len(held)),
    }


def audit_scores(held: Sequence[str], dialogue: Dialogue, *, until: int) -> dict[str, float]:
    """Paper A's audit, by words: the share of a memory's sentences with each fault. Sentences that
    do not begin with their subject are left out."""
    names = vocabulary(dialogue.language)
    lines = [line for session in dialogue.sessions if session.number <= until
             for line in session.lines]  # fmt: skip
    findings = [
        audit(sentence, about=who, lines=lines, language=dialogue.language)
        for sentence in held
        for who, label in zip(dialogue.speakers, (names["user"], names["assistant"]), strict=False)
        if sentence.startswith(label)
    ]
    rates = audit_rates(findings)
    faults = (Fault.FABRICATED, Fault.RELATION, Fault.MISSING)
    return {fault.value: rates[fault] for fault in faults} if findings else {}


async def with_likeness(
    items: Sequence[ScoredItem], encoder: TokenEncoder | BertScore
) -> list[ScoredItem]:
    """The items with likeness scores, where there is a reply and a gold reply. The score is
    BERTScore's formula with the given encoder, which is not the paper's score, or the bert-score
    library."""
    paired = [item for item in items if item.texts.get(GIVEN) and item.texts.get(GOLD)]
    texts = [item.texts[GIVEN] for item in paired], [item.texts[GOLD] for item in paired]
    if isinstance(encoder, BertScore):
        result = await encoder.scores(*texts)
    else:
        result = await encoded_scores(encoder, *texts)
    scores = {item.id: score.f1 for item, score in zip(paired, result.scores, strict=True)}
    return [
        replace(item, scores={**item.scores, LIKENESS.name: scores[item.id]})
        if item.id in scores
        else item
        for item in items
    ]


def whole_replies(
    items: Sequence[ScoredItem], *, language: str = "en"
) -> Mapping[str, Mapping[str, float]]:
    """Corpus-level measures of the replies, by group."""
    groups: dict[str, list[ScoredItem]] = {}
    for item in items:
        if GIVEN in item.texts and GOLD in item.texts:
            groups.setdefault(item.group, []).append(item)
    return {group: _whole(replies, language) for group, replies in sorted(groups.items())}


def _whole(items: Sequence[ScoredItem], language: str) -> dict[str, float]:
    items = sorted(items, key=lambda item: item.id)
    replies = [item.texts[GIVEN] for item in items]
    gold = [item.texts[GOLD] for item in items]
    scores = {}
    for order in (1, 2):
        scores[f"BLEU-{order}"] = corpus_bleu(replies, gold, order=order, language=language)
        scores[f"paper's BLEU-{order}"] = bleu_against_characters(replies, gold, order=order)
        scores[f"distinct-{order}"] = distinct(replies, order, language=language)
    return scores
