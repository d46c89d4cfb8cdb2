"""What the dialogue tasks share: lines as utterances, gold facts, what a memory holds, and short
answers from recalled memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.domain import MemoryKind, Speaker
from omoide.language import detect_language
from omoide.mechanisms import PromptPlace
from omoide.ports import Request
from omoide.prompts import quoted, render, vocabulary
from omoide_bench.running.memory_under_test import BenchAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from omoide.mechanisms import Contribution
    from omoide_bench.data.shapes import DatasetLine, DatasetSession, Dialogue
    from omoide_bench.running.memory_under_test import MemoryUnderTest

ANSWER_TOKENS = 40


def utterance(line: DatasetLine, dialogue: Dialogue, *, named: bool = False) -> Utterance:
    """A line of a data set as an utterance. With `named`, it carries the speaker's name."""
    user = line.speaker == dialogue.speakers[0]
    return Utterance(
        speaker=Speaker.USER if user else Speaker.ASSISTANT,
        text=line.text,
        id=line.id,
        time=line.time,
        name=line.speaker if named else None,
    )


def utterances(
    session: DatasetSession, dialogue: Dialogue, *, named: bool = False
) -> list[Utterance]:
    """A session as utterances, without empty lines."""
    return [utterance(line, dialogue, named=named) for line in session.lines if line.text.strip()]


def transcript_lines(lines: Iterable[DatasetLine], dialogue: Dialogue) -> list[str]:
    """Lines with the speakers as a prompt names them, without empty ones."""
    names = vocabulary(dialogue.language)
    labels = (names[Speaker.USER.value], names[Speaker.ASSISTANT.value])
    return [
        f"{labels[line.speaker != dialogue.speakers[0]]}: {line.text}"
        for line in lines
        if line.text.strip()
    ]


def gold_facts(dialogue: Dialogue, *, until: int) -> list[str]:
    """The annotated facts about both speakers up to a session, with the speaker, without
    duplicates."""
    names = vocabulary(dialogue.language)
    labels = (names["user"], names["assistant"])
    parts = zip(labels, dialogue.facts(until), strict=False)
    return list(dict.fromkeys(f"{who}: {fact}" for who, facts in parts for fact in facts))


async def remembered(under_test: MemoryUnderTest) -> list[str]:
    """The sentences in a memory, of any mechanism: the newest summary, events, summaries of memos,
    notes."""
    store, owner = under_test.store, under_test.owner
    summary = await store.summaries.find(owner)
    sentences = [sentence.text for sentence in summary.sentences] if summary else []
    sentences += [event.text for event in await store.events.read(owner)]
    sentences += [memo.summary for memo in await store.memos.read(owner) if memo.whole]
    for kind in ("bank-global",):
        sentences += [note.text for note in await store.notes.read(owner, kind=kind)]
    return sentences


async def short_answer(
    under_test: MemoryUnderTest, question: str, *, at: datetime, speakers: Sequence[str] = ()
) -> BenchAnswer:
    """A short answer to a question about the past, from what the method recalls. The prompt is the
    same for all methods. Turns and events carry their date; if the speakers have names, the prompt
    maps them to user and assistant."""
    recalled = await under_test.recall_for(question, at=at)
    language = detect_language(question)
    labels = (vocabulary(language)["user"], vocabulary(language)["assistant"])
    who = [f"{label} = {name}" for label, name in zip(labels, speakers, strict=False)]
    notes = as_notes(recalled, language=language, first=who)
    prompt = render(
        "omoide_bench:bench_answer",
        language,
        memory=notes,
        question=question,
        now=f"{at:%Y-%m-%d}",
    )
    request = Request(messages=prompt.messages, max_tokens=ANSWER_TOKENS)
    completion = await under_test.complete(request)
    text = completion.text.strip().partition("\n")[0]
    return BenchAnswer(text=text, completion=completion, contributions=recalled)


def as_notes(
    contributions: Sequence[Contribution], *, language: str, first: Sequence[str] = ()
) -> str:
    """Contributions as the notes of a prompt, after the lines of `first`."""
    return "\n".join([*first, *_listed(contributions)]) or vocabulary(language)["none"]


def _listed(contributions: Sequence[Contribution]) -> Iterable[str]:
    """Standing memory first, then recalled parts; turns in chronological order."""
    standing = [c for c in contributions if c.place is PromptPlace.MEMORY]
    recalled = [c for c in contributions if c.place is PromptPlace.RECALLED]
    if all(c.kind is MemoryKind.TURN for c in recalled):
        recalled.sort(key=lambda c: c.time)
    seen: set[str] = set()
    for contribution in (*standing, *recalled):
        text = quoted(contribution.text)
        if text not in seen:
            seen.add(text)
            day = f"{contribution.time:%Y-%m-%d}"
            dated = contribution.kind in (MemoryKind.TURN, MemoryKind.EVENT)
            yield f"[{day}] {text}" if dated and contribution.mechanism != "search" else text


def evidence_share(contributions: Sequence[Contribution], wanted: frozenset[str]) -> float:
    """Share of the evidence turns that are sources of the contributions in the prompt. The summary
    of a topic does not count, unless the memo's words come with it: it rests on all of its turns
    and says little of each."""
    sources = {
        source
        for contribution in contributions
        if contribution.kind is not MemoryKind.MEMO or contribution.mechanism != "search"
        for source in contribution.sources
    }
    return len(wanted & sources) / len(wanted)
