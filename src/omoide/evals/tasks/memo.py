"""Paper C, Table 1: writing memos, choosing among them, replying with them, on MemoChat's tests.

Writing is done by the product's `MemoWriter`; what the model answered first, before anything was
mended, is scored beside what the product made of it. Choosing is done by a model (`memochat`) or
by search (`memos`); the reply is to the instruction as it stands in the data set.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.accounts import complete
from omoide.domain import Memo, Owner, Session, Speaker, Turn
from omoide.domain.memo import Span
from omoide.engine import Utterance
from omoide.errors import BadReply
from omoide.evals.data import memochat
from omoide.evals.data.memochat import Chatting, Choosing, Writing
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
from omoide.evals.tasks.base import Measure
from omoide.language import detect
from omoide.memory.mechanism import Ended
from omoide.memory.memos.reading import read_entries
from omoide.memory.memos.writer import MemoWriter
from omoide.ports import Message, Request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide.evals.data.memochat import Instruction
    from omoide.evals.tasks.base import Sample, Trial
    from omoide.ports import Completion

NOTO = "NOTO"


class MemoTasks:
    """Topic, summary, split, retrieval, reply."""

    name = "memo"
    about = "memo writing, choosing and replying on MemoChat's test instructions (paper C, Table 1)"
    source = memochat.SOURCE
    usual: tuple[str, ...] = ("memochat", "memos")
    rivals: tuple[str, ...] = ("memochat", "memos")
    measures = (
        Measure(name="topic F1", about="topics written against gold, exact match"),
        Measure(name="summary F1", about="words of each summary against gold"),
        Measure(name="split", about="whether the answer itself covers every line once, in order"),
        Measure(name="split mended", about="the same of what the product made of it"),
        Measure(name="boundary F1", about="first lines of topics against gold"),
        Measure(name="retrieval F1", about="numbers chosen against gold, NOTO included"),
        *scoring.REPLY,
    )
    options: Mapping[str, str] = {"parts": "writing,retrieval,chatting (default all)"}

    def cases(self, data: Path, sample: Sample) -> tuple[Instruction, ...]:
        """Instructions of the wanted parts; `--limit` counts each part by itself."""
        kinds = {"writing": Writing, "retrieval": Choosing, "chatting": Chatting}
        wanted = sample.option("parts", ",".join(kinds)).split(",")
        loaded = memochat.load_instructions(data)
        return tuple(
            one
            for part in wanted
            for one in sample.draw([i for i in loaded if isinstance(i, kinds[part])])
        )

    async def run(self, case: Instruction, trial: Trial) -> list[Item]:
        """By what the instruction asks."""
        if isinstance(case, Writing):
            return [await _writing(case, trial)]
        if isinstance(case, Choosing):
            return [await _choosing(case, trial)]
        return [await _chatting(case, trial)]

    def whole(self, items: Sequence[Item]) -> Mapping[str, Mapping[str, float]]:
        """Of the replies."""
        return scoring.whole_replies([item for item in items if item.group.startswith("chatting")])


async def _writing(case: Writing, trial: Trial) -> Item:
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
        language="en",
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


def _spans(answer: str) -> list[Span]:
    try:
        return [entry.span for entry in read_entries(answer)]
    except BadReply:
        return []


async def _choosing(case: Choosing, trial: Trial) -> Item:
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
        found = await mechanism.contribute(moment)
    chosen = [numbers[c.id] for c in found] or ([noto] if noto else [])
    return Item(
        id=f"retrieval-{case.id}",
        cluster=f"retrieval-{case.id}",
        group=f"retrieval {case.corpus}",
        scores={"retrieval F1": chosen_score(chosen, case.right).f1},
        texts={"chosen": str(chosen), "right": str(sorted(case.right))},
    )


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


async def _chatting(case: Chatting, trial: Trial) -> Item:
    request = Request(messages=(Message(role="user", content=case.text),), max_tokens=200)
    answer = await complete(trial.model, request)
    return Item(
        id=f"chatting-{case.id}",
        cluster=f"chatting-{case.id}",
        group=f"chatting {case.corpus}",
        scores=scoring.reply_scores(answer.text.strip(), case.reply, language="en"),
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        texts={"reply": answer.text.strip(), "gold": case.reply},
    )
