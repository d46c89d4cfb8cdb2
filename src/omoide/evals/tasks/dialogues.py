"""What the tasks over dialogues share: lines as they are told to a memory, gold facts, what a
memory holds, and a short answer out of what comes to mind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Kind, Owner, Speaker
from omoide.engine import Utterance
from omoide.evals.running.lab import Answered
from omoide.language import detect
from omoide.memory.mechanism import Place as Where
from omoide.ports import Request
from omoide.prompts import render, words
from omoide.prompts.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from omoide.engine import Memory
    from omoide.evals.data.shapes import Dialogue, Line, Session
    from omoide.evals.running.lab import Place
    from omoide.memory.mechanism import Contribution

ANSWER_TOKENS = 40


def utterance(line: Line, dialogue: Dialogue, *, named: bool = False) -> Utterance:
    """A line of a data set as words to record. `named` gives the speaker's name along, where it
    is one."""
    user = line.speaker == dialogue.speakers[0]
    return Utterance(
        speaker=Speaker.USER if user else Speaker.ASSISTANT,
        text=line.text,
        id=line.id,
        time=line.time,
        name=line.speaker if named else None,
    )


def utterances(session: Session, dialogue: Dialogue, *, named: bool = False) -> list[Utterance]:
    """A session as words to record, without turns in which nothing is said."""
    return [utterance(line, dialogue, named=named) for line in session.lines if line.text.strip()]


def gold_facts(dialogue: Dialogue, *, until: int) -> list[str]:
    """What people noted of both speakers up to a session, said of whom, each once."""
    names = words(dialogue.language)
    labels = (names["user"], names["assistant"])
    told = zip(labels, dialogue.facts(until), strict=False)
    return list(dict.fromkeys(f"{who}: {fact}" for who, facts in told for fact in facts))


async def remembered(memory: Memory, user: str) -> list[str]:
    """The sentences that a memory holds, whichever mechanism wrote them: the newest summary,
    events, summaries of memos, notes."""
    owner = Owner(tenant=memory.tenant, user=user)
    summary = await memory.store.summaries.find(owner)
    held = [sentence.text for sentence in summary.sentences] if summary else []
    held += [event.text for event in await memory.store.events.read(owner)]
    held += [memo.summary for memo in await memory.store.memos.read(owner) if memo.whole]
    for kind in ("bank-global",):
        held += [note.text for note in await memory.store.notes.read(owner, kind=kind)]
    return held


async def short_answer(
    place: Place, question: str, *, at: datetime, speakers: Sequence[str] = ()
) -> Answered:
    """The answer to a question about the past, by what the method brings to mind. All methods
    have the same prompt; what was said on a day carries its date, and where the speakers have
    names the prompt says whose they are."""
    recalled = await place.recall_for(question, at=at)
    language = detect(question)
    labels = (words(language)["user"], words(language)["assistant"])
    who = [f"{label} = {name}" for label, name in zip(labels, speakers, strict=False)]
    memory = "\n".join([*who, *_listed(recalled)]) or words(language)["none"]
    prompt = render(
        "bench_answer", language, memory=memory, question=question, now=f"{at:%Y-%m-%d}"
    )
    request = Request(messages=prompt.messages, max_tokens=ANSWER_TOKENS)
    completion = await place.complete(request)
    text = completion.text.strip().partition("\n")[0]
    return Answered(text=text, completion=completion, contributions=recalled)


def _listed(contributions: Sequence[Contribution]) -> Iterable[str]:
    """What is always in memory first, then what came to mind; turns in the order of time."""
    standing = [c for c in contributions if c.place is Where.MEMORY]
    recalled = [c for c in contributions if c.place is Where.RECALLED]
    if all(c.kind is Kind.TURN for c in recalled):
        recalled.sort(key=lambda c: c.time)
    seen: set[str] = set()
    for contribution in (*standing, *recalled):
        text = quoted(contribution.text)
        if text not in seen:
            seen.add(text)
            dated = contribution.kind in (Kind.TURN, Kind.EVENT)
            yield f"[{contribution.time:%Y-%m-%d}] {text}" if dated else text


def evidence_share(contributions: Sequence[Contribution], wanted: frozenset[str]) -> float:
    """How much of the evidence what went into the prompt rests on."""
    found = {source for contribution in contributions for source in contribution.sources}
    return len(wanted & found) / len(wanted)
