"""Runs and scores one instruction of paper C's three tasks."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.claims import coverage
from omoide.domain import Memo, MemoryKind, Owner, Session, Span, Speaker, Turn
from omoide.engine import complete
from omoide.errors import BadReply
from omoide.language import content_terms, detect_language
from omoide.mechanisms import (
    REPLY_FORMS,
    Contribution,
    PromptPlace,
    ReplyRequest,
    SessionToDigest,
    is_looping,
    reply_tokens_for,
)
from omoide.mechanisms.memos import MemoWriter, read_choice, read_entries
from omoide.ports import Message, Request
from omoide_bench.data.shapes import FIRST_DAY
from omoide_bench.methods import AS, Method, parse, registry
from omoide_bench.metrics import (
    boundary_score,
    chosen_score,
    divides,
    parlai_f1,
    topic_score,
)
from omoide_bench.running.items import ScoredItem
from omoide_bench.tasks import scoring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.mechanisms.memos import MemoDraft
    from omoide.ports import Completion
    from omoide_bench.data.memo_exam import ContinuationExample
    from omoide_bench.data.memochat import ChatInstruction, ChoiceInstruction, WritingInstruction
    from omoide_bench.tasks.base import Trial

NOTO = "NOTO"


def _method(trial: Trial) -> Method:
    """The method as its mechanism: a preset's, or the one that it is named after."""
    name = trial.method.name
    return parse(name, registry()) if name.startswith(AS) else Method(name=name, mechanisms=(name,))


async def writing(case: WritingInstruction, trial: Trial) -> ScoredItem:
    """Write memos of the lines; score the raw first answer and the product's result."""
    answers: list[Completion] = []
    settings = _method(trial).settings(trial.lab.settings)
    model = trial.model.limited(settings.window)

    async def ask(request: Request) -> Completion:
        answer = await complete(model, request)
        answers.append(answer)
        return answer

    turns = [
        Turn(
            id=f"line-{i}",
            session=1,
            position=i,
            speaker=Speaker.USER if who == "user" else Speaker.ASSISTANT,
            text=text or "…",
            time=FIRST_DAY + timedelta(seconds=30 * i),
            language=detect_language(text),
        )
        for i, (who, text) in enumerate(case.lines, start=1)
    ]
    flags = settings.guards == "flag"
    writer = MemoWriter(model=model, max_lines=len(turns), flags=flags)
    ended = SessionToDigest(
        owner=Owner(tenant="bench", user=f"writing-{case.id}"),
        session=Session(number=1, started=turns[0].time, last=turns[-1].time),
        turns=tuple(turns),
        language=case.language,
        ask=ask,
    )
    written = await writer.write(turns, to_digest=ended)
    drafts = written.drafts
    topics = [draft.topic for draft in drafts], [topic.topic for topic in case.topics]
    spans = [Span(first=d.turns[0].position, last=d.turns[-1].position) for d in drafts]
    scores = {
        "topic F1": topic_score(*([side] for side in topics)).f1,
        "split": float(divides(_spans(answers[0].text) if answers else [], lines=len(turns))),
        "split mended": float(divides(spans, lines=len(turns))),
        "boundary F1": boundary_score(spans, [topic.span for topic in case.topics]).f1,
        "valid": float(not written.rejected),
        **_fit(drafts, case),
    }
    if summaries := [topic.summary for topic in case.topics if topic.summary]:
        parts = " ".join(draft.summary for draft in drafts if draft.whole)
        scores["summary F1"] = parlai_f1(parts, " ".join(summaries))
    return ScoredItem(
        id=f"writing-{case.id}",
        cluster=f"writing-{case.id}",
        group=f"writing {case.corpus}",
        scores=scores,
        prompt_tokens=sum(answer.prompt_tokens for answer in answers),
        completion_tokens=sum(answer.completion_tokens for answer in answers),
        texts={"written": "\n".join(f"{d.topic}: {d.summary}" for d in written.drafts)},
    )


def _fit(drafts: Sequence[MemoDraft], case: WritingInstruction) -> dict[str, float]:
    """Measures that need no gold texts: whether a topic distinguishes the part that the memo is
    mostly about from the other parts, and how much of a summary occurs in its own lines."""
    part_terms = [
        set[str]().union(*(content_terms(text) for _, text in case.lines[s.first - 1 : s.last]))
        for s in (topic.span for topic in case.topics)
    ]
    fits, supports = [], []
    for draft in drafts:
        if not draft.whole:
            continue
        first, last = draft.turns[0].position, draft.turns[-1].position
        shares = [min(last, t.span.last) - max(first, t.span.first) for t in case.topics]
        index = shares.index(max(shares))
        named = [coverage(content_terms(draft.topic), terms) for terms in part_terms]
        others = [share for position, share in enumerate(named) if position != index]
        fits.append(float(named[index] > max(others, default=0.0)))
        lines = set[str]().union(*(content_terms(turn.text) for turn in draft.turns))
        supports.append(coverage(content_terms(draft.summary), lines))
    if not fits:
        return {}
    return {
        "topic fit": sum(fits) / len(fits),
        "summary support": sum(supports) / len(supports),
    }


def _spans(answer: str) -> list[Span]:
    try:
        return [entry.span for entry in read_entries(answer)]
    except BadReply:
        return []


async def choosing(case: ChoiceInstruction, trial: Trial) -> ScoredItem:
    """Store all options but NOTO as memos, recall for the query, and score the numbers found."""
    method = _method(trial)
    (name,) = method.mechanisms
    noto = next((i for i, text in enumerate(case.options, 1) if text.startswith(NOTO)), None)
    numbers = {f"{name}-{i}": i for i in range(1, len(case.options) + 1) if i != noto}
    async with trial.lab.new_memory(
        method, user=f"retrieval-{case.id}", began=FIRST_DAY, model=trial.model
    ) as under_test:
        sources = [
            Utterance(speaker=Speaker.USER, text=case.options[i - 1], id=f"t{i}", time=FIRST_DAY)
            for i in numbers.values()
        ]
        await under_test.say(sources, session="options")
        memos = [_memo(key, case.options[i - 1], source=f"t{i}") for key, i in numbers.items()]
        await under_test.store.memos.add(under_test.owner, memos)
        await under_test.digested()
        before = len(trial.model.heard)
        recalled = await under_test.recall_for(case.query, at=FIRST_DAY + timedelta(days=1))
    answers = trial.model.heard[before:]
    chosen = [numbers[c.id] for c in recalled] or ([noto] if noto else [])
    scores = {
        "retrieval F1": chosen_score(chosen, case.right).f1,
        "all options F1": chosen_score(list(numbers.values()), case.right).f1,
    }
    if answers:
        scores["valid"] = float(_readable(answers[0].text, count=len(numbers)))
    return ScoredItem(
        id=f"retrieval-{case.id}",
        cluster=f"retrieval-{case.id}",
        group=f"retrieval {case.corpus}",
        scores=scores,
        prompt_tokens=sum(answer.prompt_tokens for answer in answers),
        completion_tokens=sum(answer.completion_tokens for answer in answers),
        texts={"chosen": str(chosen), "right": str(sorted(case.right))},
    )


def _readable(answer: str, *, count: int) -> bool:
    try:
        read_choice(answer, count=count)
    except BadReply:
        return False
    return True


def _memo(name: str, text: str, *, source: str) -> Memo:
    topic, _, summary = text.strip().partition(". ")
    return Memo(
        id=name,
        session=1,
        topic=topic,
        summary=summary or topic,
        sources=(source,),
        time=FIRST_DAY,
        compressed="",
        method="none",
    )


async def chatting(case: ChatInstruction, trial: Trial) -> ScoredItem:
    """Score the reply to an instruction of the data set."""
    request = Request(messages=(Message(role="user", content=case.text),), max_tokens=200)
    answer = await complete(trial.model, request)
    return ScoredItem(
        id=f"chatting-{case.id}",
        cluster=f"chatting-{case.id}",
        group=f"chatting {case.corpus}",
        scores=scoring.reply_scores(answer.text.strip(), case.reply, language="en")
        | {"valid": float(_whole(answer))},
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        texts={"reply": answer.text.strip(), "gold": case.reply},
    )


async def continuing(case: ContinuationExample, trial: Trial) -> ScoredItem:
    """Score the reply to a message with memos in the product's prompt, and the reply without."""
    at = FIRST_DAY + timedelta(days=1)
    turn = Turn(
        id="message",
        session=2,
        position=1,
        speaker=Speaker.USER,
        text=case.message,
        time=at,
        language=case.language,
    )
    request = ReplyRequest(
        owner=Owner(tenant="bench", user=f"chatting-{case.id}"),
        text=case.message,
        session=(turn,),
        now=at,
        language=case.language,
    )
    memos = [
        Contribution(
            mechanism="memos",
            place=PromptPlace.RECALLED,
            kind=MemoryKind.MEMO,
            id=f"memo-{number}",
            text=text,
            value=1.0,
            sources=(),
            time=FIRST_DAY,
            why="offered",
        )
        for number, text in enumerate(case.memos)
    ]
    settings = _method(trial).settings(trial.lab.settings)
    form = REPLY_FORMS[settings.effective_reply_form]
    answer, bare = [
        await complete(
            trial.model,
            form(request, parts, window=trial.model.window, max_tokens=reply_tokens_for(settings)),
        )
        for parts in (memos, [])
    ]
    reply = answer.text.strip()
    scores = scoring.reply_scores(reply, case.reply, language=case.language)
    scores["F1 without memos"] = parlai_f1(bare.text.strip(), case.reply, language=case.language)
    scores["valid"] = float(_whole(answer) and detect_language(reply) == case.language)
    return ScoredItem(
        id=f"chatting-{case.id}",
        cluster=f"chatting-{case.id}",
        group=f"chatting {case.corpus}",
        scores=scores,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        texts={"reply": reply, "gold": case.reply},
    )


def _whole(answer: Completion) -> bool:
    """Whether a reply is not empty, not cut off, and not looping."""
    text = answer.text.strip()
    return bool(text) and answer.finish != "length" and not is_looping(text)
