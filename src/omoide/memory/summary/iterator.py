"""Recursive summary: Wang et al. 2023, "Recursively Summarizing Enables Long-Term Dialogue
Memory in Large Language Models" (arXiv 2308.15022).

After each session, M_i = LLM(S_i, M_{i-1}): a Markov chain from an empty M_0, over both
speakers, at most 20 sentences, at temperature 0 (section 4.1, algorithm 1).

Departures from the paper, all of them around its one call:
- an answer is checked before it may become memory, and asked for again with what was wrong;
- one that is right but has more sentences than may be is made to fit by rule (`fitting`);
- each sentence keeps the turns it rests on;
- a session too long for the model's window is digested in parts, in order;
- the form of the question is chosen for the size of the model (`forms`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from omoide.domain import Origin, Rejected, Speaker, Summary
from omoide.errors import BadReply
from omoide.language import dominant
from omoide.memory.guards import Flaw, Problem, check, without_echoes, without_repeats
from omoide.memory.sources import attribute
from omoide.memory.summary.fitting import fitted
from omoide.memory.summary.forms import Reading
from omoide.memory.transcript import Line, lines, parts, spoken
from omoide.ports import Message
from omoide.prompts import render

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime

    from omoide.domain import Sentence, Turn
    from omoide.memory.summary.forms import Form
    from omoide.ports import ChatModel, Completion, Request

    Ask = Callable[[Request], Awaitable[Completion]]


@dataclass(frozen=True, kw_only=True)
class Part:
    """What was asked about and answered at once: a session, or a part of a long one."""

    lines: tuple[Line, ...]
    answers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Digest:
    """What came of digesting a session: a new version, or the old one kept and the reasons."""

    summary: Summary | None
    rejected: tuple[Rejected, ...] = ()
    told: tuple[Sentence, ...] = ()
    """What this session alone told, each sentence with its turns; empty where the form does not
    keep it apart."""
    parts: tuple[Part, ...] = ()
    """The answers that were accepted."""


class Iterator(Protocol):
    """Makes the next memory of the old one and a session."""

    @property
    def model(self) -> ChatModel:
        """Who is asked."""

    async def digest(
        self,
        *,
        old: Summary,
        turns: Sequence[Turn],
        at: datetime,
        ask: Ask,
        cited: Sequence[Turn] = (),
    ) -> Digest:
        """M_i from M_{i-1} and the turns of session i. Never raises for a bad answer: the reasons
        come back, and the old memory stands. `cited` are turns that the old memory rests on.
        Raises `ModelError` if the model cannot be had."""


@dataclass(frozen=True, kw_only=True)
class _Rewrite:
    sentences: tuple[Sentence, ...] | None
    completions: tuple[Completion, ...]
    prompt: str
    rejected: tuple[Rejected, ...]
    notes: tuple[str, ...] = ()
    told: tuple[Sentence, ...] = ()
    part: Part | None = None


class RecursiveSummary:
    """The memory iterator: a model, the form it is asked in, and how often it may try."""

    def __init__(self, *, model: ChatModel, form: Form, limit: int = 20, tries: int = 3) -> None:
        self.model = model
        self.form = form
        self.limit = limit
        self.tries = tries

    async def digest(
        self,
        *,
        old: Summary,
        turns: Sequence[Turn],
        at: datetime,
        ask: Ask,
        cited: Sequence[Turn] = (),
    ) -> Digest:
        """As `Iterator.digest`."""
        said = [turn for turn in turns if spoken(turn)]
        from_user = [spoken(t) for t in said if t.speaker == "user"]
        language = dominant(from_user or [spoken(t) for t in said], default=old.language)
        sentences = old.sentences
        done: list[_Rewrite] = []
        cut = await self._parts(said, sentences, language)
        for part in cut:
            step = await self._rewrite(
                part, old=sentences, turns=said, cited=cited, language=language, at=at, ask=ask
            )
            done.append(step)
            if step.sentences is None:
                return Digest(summary=None, rejected=step.rejected)
            sentences = step.sentences
        spent = [completion for step in done for completion in step.completions]
        notes = [note for step in done for note in step.notes]
        if len(cut) > 1:
            notes.append(f"digested in {len(cut)} parts")
        summary = Summary(
            number=old.number + 1,
            sentences=sentences,
            origin=Origin.DIGEST,
            session=turns[-1].session if turns else old.session,
            time=at,
            language=language,
            model=self._author(spent),
            prompt=done[-1].prompt if done else "",
            prompt_tokens=sum(c.prompt_tokens for c in spent),
            completion_tokens=sum(c.completion_tokens for c in spent),
            seconds=sum(c.seconds for c in spent),
            notes=tuple(notes),
        )
        told = without_repeats([sentence for step in done for sentence in step.told])
        return Digest(
            summary=summary,
            rejected=tuple(r for step in done for r in step.rejected),
            told=attribute(told, old=(), turns=said),
            parts=tuple(step.part for step in done if step.part),
        )

    async def _parts(
        self, turns: Sequence[Turn], old: Sequence[Sentence], language: str
    ) -> list[list[Line]]:
        """The session whole, or in several parts if it is too long for the window."""
        session = lines(turns)
        bare = [Line(speaker=speaker, text="-") for speaker in Speaker]
        frames = self.form.ask(old=old, session=bare, language=language, limit=self.limit)
        taken = [
            await self.model.count("\n".join(m.content for m in question.request.messages))
            # The memory may grow by its own answer from part to part; a second try adds another.
            + 3 * question.request.max_tokens
            + 200
            for question in frames
        ]
        room = max(self.model.window - max(taken, default=0), self.model.window // 8)
        return await parts(session, room=room, count=self.model.count)

    async def _rewrite(
        self,
        session: Sequence[Line],
        *,
        old: tuple[Sentence, ...],
        turns: Sequence[Turn],
        cited: Sequence[Turn],
        language: str,
        at: datetime,
        ask: Ask,
    ) -> _Rewrite:
        questions = self.form.ask(old=old, session=session, language=language, limit=self.limit)
        requests = [question.request for question in questions]
        prompt = "+".join(dict.fromkeys(question.prompt for question in questions))
        spent: list[Completion] = []
        rejected: list[Rejected] = []
        for _ in range(self.tries):
            completions = [await ask(request) for request in requests]
            spent += completions
            reading, problems = self._read(completions, session, old=old, language=language)
            distinct = without_repeats(reading.sentences)
            cleaned = attribute(
                without_echoes(distinct, turns, language=language),
                old=old,
                turns=turns,
                cited=cited,
            )
            fitting = fitted(cleaned, language, limit=self.limit)
            standing = [s for s in old if not any(part in s.text for part in reading.replaced)]
            problems = problems or check(
                reading.sentences,
                cleaned=cleaned,
                old=standing,
                turns=turns,
                instructions=self._instructions(language),
                language=language,
                limit=self.limit if len(fitting) > self.limit else max(self.limit, len(cleaned)),
                nothing=reading.nothing,
            )
            if not problems:
                left, joined = len(distinct) - len(cleaned), len(cleaned) - len(fitting)
                notes = list(reading.notes)
                notes += [f"left out {left} copied line(s)"] if left else []
                notes += [f"joined {joined} sentence(s) with others, for room"] if joined else []
                notes += [f"{len(rejected)} tries rejected"] if rejected else []
                return _Rewrite(
                    sentences=fitting,
                    completions=tuple(spent),
                    prompt=prompt,
                    rejected=tuple(rejected),
                    notes=tuple(notes),
                    told=without_echoes(reading.told, turns, language=language),
                    part=Part(lines=tuple(session), answers=tuple(c.text for c in completions)),
                )
            told = tuple(problem.told(language) for problem in problems)
            rejected.append(
                Rejected(
                    session=turns[-1].session,
                    text="\n".join(completion.text for completion in completions),
                    problems=(*told, *reading.notes),
                    model=self._author(completions),
                    time=at,
                )
            )
            requests = [
                self._again(question.request, completion.text, told, language)
                for question, completion in zip(questions, completions, strict=True)
            ]
        return _Rewrite(
            sentences=None, completions=tuple(spent), prompt=prompt, rejected=tuple(rejected)
        )

    def _read(
        self,
        completions: Sequence[Completion],
        session: Sequence[Line],
        *,
        old: Sequence[Sentence],
        language: str,
    ) -> tuple[Reading, tuple[Problem, ...]]:
        nothing_read = Reading(sentences=())
        if completions and not any(completion.text.strip() for completion in completions):
            return nothing_read, (Problem(flaw=Flaw.EMPTY),)
        if any(completion.finish == "length" for completion in completions):
            return nothing_read, (Problem(flaw=Flaw.CUT_SHORT),)
        try:
            reading = self.form.read(
                [completion.text for completion in completions],
                old=old,
                session=session,
                language=language,
                limit=self.limit,
            )
        except BadReply:
            return nothing_read, (Problem(flaw=Flaw.UNREADABLE),)
        return reading, ()

    def _author(self, completions: Sequence[Completion]) -> str:
        """Who wrote them: all were asked for with the same skill."""
        return next((c.by for c in completions if c.by), self.model.name)

    def _instructions(self, language: str) -> str:
        """What the form says by itself, to know it again in an answer."""
        bare = [Line(speaker=speaker, text="-") for speaker in Speaker]
        questions = self.form.ask(old=(), session=bare, language=language, limit=self.limit)
        return "\n".join(
            m.content for q in questions for m in q.request.messages if m.role != "assistant"
        )

    def _again(self, first: Request, answer: str, told: tuple[str, ...], language: str) -> Request:
        """The question once more, with the answer that would not do and why.

        Greedy decoding would give the same answer to the same question; with other words after
        it, it does not. A long bad answer is not shown whole, or it would be copied again.
        """
        retry = render(
            self.form.retry, language, problems="\n".join(told), limit=str(self.limit)
        ).messages
        shown = Message(role="assistant", content=answer[:400] or "-")
        return replace(first, messages=(*first.messages, shown, *retry))
