"""One instruction of paper C's three tasks, asked of the product and scored."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.accounts import complete
from omoide.domain import Kind, Memo, Owner, Session, Speaker, Turn
from omoide.domain.memo import Span
from omoide.engine import Utterance
from omoide.errors import BadReply
from omoide.evals.data.shapes import FIRST_DAY
from omoide.evals.methods import Method
from omoide.evals.metrics import (
    boundary_score,
    chosen_score,
    divides,
    parlai_f1,
    topic_score,
)
from omoide.evals.running.items import Item
from omoide.evals.tasks import scoring
from omoide.language import content_terms, detect
from omoide.memory.mechanism import Contribution, Ended, Moment, Place
from omoide.memory.memos.reading import read_choice, read_entries
from omoide.memory.memos.writer import MemoWriter
from omoide.memory.overlap import coverage
from omoide.memory.replies import FORMS, looping
from omoide.ports import Message, Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.evals.data.memo_exam import Continuing
    from omoide.evals.data.memochat import Chatting, Choosing, Writing
    from omoide.evals.tasks.base import Trial
    from omoide.memory.memos.writer import Draft
    from omoide.ports import Completion

NOTO = "NOTO"


async def writing(case: Writing, trial: Trial) -> Item:
    """Memos of the lines; the first answer by itself, then what the product made of it."""
    first: list[Completion] = []

    async def ask(request: Request) -> Completion:
        answer = await complete(trial.model, request)
        first.append(answer)
        return answer

    turns = [
        Turn(
            id=f"line-{i}",
            session=1,
            position=i,
            speaker=Speaker.USER if who == "user" else Speaker.ASSISTANT,
            text=text or "…",
            time=FIRST_DAY + timedelta(seconds=30 * i),
            language=detect(text),
        )
        for i, (who, text) in enumerate(case.lines, start=1)
    ]
    writer = MemoWriter(model=trial.model, longest=len(turns))
    ended = Ended(
        owner=Owner(tenant="bench", user=f"writing-{case.id}"),
        session=Session(number=1, started=turns[0].time, last=turns[-1].time),
        turns=tuple(turns),
        language=case.language,
        ask=ask,
    )
    written = await writer.write(turns, ended=ended)
    drafts = written.drafts
    topics = [draft.topic for draft in drafts], [topic.topic for topic in case.topics]
    spans = [Span(first=d.turns[0].position, last=d.turns[-1].position) for d in drafts]
    scores = {
        "topic F1": topic_score(*([side] for side in topics)).f1,
        "split": float(divides(_spans(first[0].text) if first else [], lines=len(turns))),
        "split mended": float(divides(spans, lines=len(turns))),
        "boundary F1": boundary_score(spans, [topic.span for topic in case.topics]).f1,
        "valid": float(not written.rejected),
        **_fit(drafts, case),
    }
    if summaries := [topic.summary for topic in case.topics if topic.summary]:
        told = " ".join(draft.summary for draft in drafts if draft.whole)
        scores["summary F1"] = parlai_f1(told, " ".join(summaries))
    return Item(
        id=f"writing-{case.id}",
        cluster=f"writing-{case.id}",
        group=f"writing {case.corpus}",
        scores=scores,
        prompt_tokens=sum(answer.prompt_tokens for answer in first),
        completion_tokens=sum(answer.completion_tokens for answer in first),
        texts={"written": "\n".join(f"{d.topic}: {d.summary}" for d in written.drafts)},
    )


def _fit(drafts: Sequence[Draft], case: Writing) -> dict[str, float]:
    """What can be said of memos without gold texts: whether a topic tells the part that the memo
    is mostly about from the other parts, and how much of a summary stands in its own lines."""
    said = [
        set[str]().union(*(content_terms(text) for _, text in case.lines[s.first - 1 : s.last]))
        for s in (topic.span for topic in case.topics)
    ]
    fits, supports = [], []
    for draft in drafts:
        if not draft.whole:
            continue
        first, last = draft.turns[0].position, draft.turns[-1].position
        shares = [min(last, t.span.last) - max(first, t.span.first) for t in case.topics]
        own = shares.index(max(shares))
        named = [coverage(content_terms(draft.topic), terms) for terms in said]
        others = [share for place, share in enumerate(named) if place != own]
        fits.append(float(named[own] > max(others, default=0.0)))
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


async def choosing(case: Choosing, trial: Trial) -> Item:
    """The options but NOTO are put into memory as memos; what is found becomes their numbers."""
    name = trial.method.name
    noto = next((i for i, text in enumerate(case.options, 1) if text.startswith(NOTO)), None)
    numbers = {f"{name}-{i}": i for i in range(1, len(case.options) + 1) if i != noto}
    method = Method(name=name, mechanisms=(name,))
    async with trial.lab.place(
        method, user=f"retrieval-{case.id}", began=FIRST_DAY, model=trial.model
    ) as place:
        sources = [
            Utterance(speaker=Speaker.USER, text=case.options[i - 1], id=f"t{i}", time=FIRST_DAY)
            for i in numbers.values()
        ]
        await place.say(sources, session="options")
        memos = [_memo(key, case.options[i - 1], source=f"t{i}") for key, i in numbers.items()]
        await place.memory.store.memos.add(place.owner, memos)
        await place.digested()
        moment = place.moment(case.query, at=FIRST_DAY + timedelta(days=1))
        [mechanism] = place.memory.mechanisms
        before = len(trial.model.heard)
        found = await mechanism.contribute(moment)
    answers = trial.model.heard[before:]
    chosen = [numbers[c.id] for c in found] or ([noto] if noto else [])
    scores = {
        "retrieval F1": chosen_score(chosen, case.right).f1,
        "all options F1": chosen_score(list(numbers.values()), case.right).f1,
    }
    if answers:
        scores["valid"] = float(_readable(answers[0].text, count=len(numbers)))
    return Item(
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


async def chatting(case: Chatting, trial: Trial) -> Item:
    """The reply to an instruction as it stands in the data set."""
    request = Request(messages=(Message(role="user", content=case.text),), max_tokens=200)
    answer = await complete(trial.model, request)
    return Item(
        id=f"chatting-{case.id}",
        cluster=f"chatting-{case.id}",
        group=f"chatting {case.corpus}",
        scores=scoring.reply_scores(answer.text.strip(), case.reply, language="en")
        | {"valid": float(_whole(answer))},
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        texts={"reply": answer.text.strip(), "gold": case.reply},
    )


async def continuing(case: Continuing, trial: Trial) -> Item:
    """The reply to a message with memos beside it, by the product's prompt; and to the message
    alone."""
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
    moment = Moment(
        owner=Owner(tenant="bench", user=f"chatting-{case.id}"),
        text=case.message,
        session=(turn,),
        now=at,
        language=case.language,
    )
    beside = [
        Contribution(
            mechanism="memos",
            place=Place.RECALLED,
            kind=Kind.MEMO,
            id=f"memo-{number}",
            text=text,
            value=1.0,
            sources=(),
            time=FIRST_DAY,
            why="offered",
        )
        for number, text in enumerate(case.memos)
    ]
    settings = trial.lab.settings
    form = FORMS[settings.asks_by]
    answer, bare = [
        await complete(
            trial.model,
            form(moment, told, window=trial.model.window, max_tokens=settings.reply_tokens),
        )
        for told in (beside, [])
    ]
    said = answer.text.strip()
    scores = scoring.reply_scores(said, case.reply, language=case.language)
    scores["F1 without memos"] = parlai_f1(bare.text.strip(), case.reply, language=case.language)
    scores["valid"] = float(_whole(answer) and detect(said) == case.language)
    return Item(
        id=f"chatting-{case.id}",
        cluster=f"chatting-{case.id}",
        group=f"chatting {case.corpus}",
        scores=scores,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        texts={"reply": said, "gold": case.reply},
    )


def _whole(answer: Completion) -> bool:
    """Whether a reply says something, came to its end, and does not turn in circles."""
    said = answer.text.strip()
    return bool(said) and answer.finish != "length" and not looping(said)
