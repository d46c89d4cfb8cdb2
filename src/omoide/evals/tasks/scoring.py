"""How replies, answers and memories are scored: where tasks meet metrics and judges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.evals.metrics import (
    bleu_against_characters,
    corpus_bleu,
    distinct,
    locomo_f1,
    memory_score,
    parlai_f1,
    plain_memory_score,
    reply_length,
)
from omoide.evals.metrics.auditing import Fault, audit, audit_rates
from omoide.evals.metrics.encoded import BertScore, encoded_scores
from omoide.evals.tasks.base import Measure
from omoide.prompts import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.evals.data.shapes import Dialogue, Question
    from omoide.evals.running.items import Item
    from omoide.ports import TokenEncoder

EVIDENCE = "evidence"
LENGTH = Measure(name="length", about="words of the reply", percent=False, better=0)
JUDGED = Measure(name="faithful", about="to what was said; a judge's mark, 1-100", percent=False)
EVIDENCE_MEASURE = Measure(name=EVIDENCE, about="share of the evidence that the prompt rests on")
LIKENESS = Measure(name="likeness", about="token by token, by the encoder named in the notes")
VALID = Measure(name="valid", about="whether the first answer could be used, without asking again")
WORDS = Measure(
    name="gold words",
    about="of the gold reply's words that only earlier sessions had, those that memory brings back",
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
    Measure(name="memory F1", about="words against what people noted, person and endings aside"),
    Measure(name="memory precision", about="of what is remembered, how much people noted"),
    Measure(name="memory recall", about="of what people noted, how much is remembered"),
    Measure(name="memory plain F1", about="the same by ParlAI's words, perhaps the paper's"),
    Measure(name="sentences", about="how many a memory has", percent=False, better=0),
    Measure(name="fabricated", about="sentences that nothing said bears out (audit)", better=-1),
    Measure(name="relation", about="sentences about the wrong person (audit)", better=-1),
    Measure(name="missing", about="sentences that leave out a detail (audit)", better=-1),
    Measure(name="valid", about="sessions whose first answers became memory, none asked again"),
    Measure(name="usable", about="sessions that became memory in the end"),
)
ANSWER_WORDS = Measure(
    name="answer words", about="of the right answer's words, those that memory puts into the prompt"
)
EVIDENCE_WORDS = Measure(
    name="evidence words", about="of the words of the evidence, those that memory brings back"
)
QUESTIONS = (
    Measure(name="F1", about="as published with LoCoMo, by category"),
    EVIDENCE_MEASURE,
    ANSWER_WORDS,
)
WHOLE = (
    Measure(name="BLEU-1", about="of all replies together, correct, without smoothing"),
    Measure(name="BLEU-2", about="of all replies together, correct, without smoothing"),
    Measure(name="paper's BLEU-1", about="the published formula: words against characters"),
    Measure(name="paper's BLEU-2", about="the published formula: words against characters"),
    Measure(name="distinct-1", about="different words over all words of all replies"),
    Measure(name="distinct-2", about="different pairs of words over all pairs"),
)
GIVEN, GOLD = "reply", "gold"
"""Under which names a reply and the gold one are among an item's texts."""


def reply_scores(reply: str, gold: str, *, language: str) -> dict[str, float]:
    """The scores of a reply against the one that was truly given."""
    return {
        "F1": parlai_f1(reply, gold, language=language),
        LENGTH.name: float(reply_length(reply, language=language)),
    }


def answer_scores(answer: str, question: Question, *, language: str) -> dict[str, float]:
    """The score of a short answer: by the category's rule where the data set is LoCoMo, else as
    for a single fact."""
    if question.answer is None and question.category != "adversarial":
        return {}
    return {"F1": locomo_f1(answer, question.answer, question.category, language=language)}


def memory_scores(held: Sequence[str], facts: Sequence[str], *, language: str) -> dict[str, float]:
    """Precision, recall and F1 of a memory against what people noted."""
    fair = memory_score(held, facts, language=language)
    return {
        "memory F1": fair.f1,
        "memory precision": fair.precision,
        "memory recall": fair.recall,
        "memory plain F1": plain_memory_score(held, facts, language=language).f1,
        "sentences": float(len(held)),
    }


def audit_scores(held: Sequence[str], dialogue: Dialogue, *, until: int) -> dict[str, float]:
    """The paper's audit, by words: the shares of a memory's sentences with each fault. Sentences
    that do not begin with whom they are about are left out."""
    names = words(dialogue.language)
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


async def with_likeness(items: Sequence[Item], encoder: TokenEncoder | BertScore) -> list[Item]:
    """The items, those with a reply and a gold one scored token by token: the formula of BERTScore
    with the encoder at hand, which is not the paper's score; or by its library."""
    paired = [item for item in items if item.texts.get(GIVEN) and item.texts.get(GOLD)]
    given = [item.texts[GIVEN] for item in paired], [item.texts[GOLD] for item in paired]
    if isinstance(encoder, BertScore):
        found = await encoder.scores(*given)
    else:
        found = await encoded_scores(encoder, *given)
    scores = {item.id: score.f1 for item, score in zip(paired, found.scores, strict=True)}
    return [
        replace(item, scores={**item.scores, LIKENESS.name: scores[item.id]})
        if item.id in scores
        else item
        for item in items
    ]


def whole_replies(
    items: Sequence[Item], *, language: str = "en"
) -> Mapping[str, Mapping[str, float]]:
    """Measures of all replies of a group together."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        if GIVEN in item.texts and GOLD in item.texts:
            groups.setdefault(item.group, []).append(item)
    return {group: _whole(own, language) for group, own in sorted(groups.items())}


def _whole(items: Sequence[Item], language: str) -> dict[str, float]:
    items = sorted(items, key=lambda item: item.id)
    said = [item.texts[GIVEN] for item in items]
    gold = [item.texts[GOLD] for item in items]
    found = {}
    for order in (1, 2):
        found[f"BLEU-{order}"] = corpus_bleu(said, gold, order=order, language=language)
        found[f"paper's BLEU-{order}"] = bleu_against_characters(said, gold, order=order)
        found[f"distinct-{order}"] = distinct(said, order, language=language)
    return found
