"""Recursive summary: Wang et al. 2023, "Recursively Summarizing Enables Long-Term Dialogue
Memory in Large Language Models" (arXiv 2308.15022).

After each session, M_i = LLM(S_i, M_{i-1}): a Markov chain from an empty M_0, over both
speakers, at most 20 sentences, at temperature 0 (section 4.1, algorithm 1).

Departures from the paper, all of them around its one call:
- each answer is checked before it becomes memory; a bad one is asked for again with its problems
  (`flags` takes it as it is instead, as the paper does, and notes the problems);
- an answer that is right but has too many sentences is shortened by rule (`shortening`);
- each sentence keeps its supporting turns;
- a session too long for the model's window is digested in parts, in order;
- the form of the question depends on the size of the model (`forms`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from omoide.claims.answers import Flaw, Problem, check, without_echoes, without_repeats
from omoide.claims.citation import cite_sources
from omoide.domain import Origin, RejectedAnswer, Speaker, Summary
from omoide.errors import BadReply
from omoide.language import dominant_language
from omoide.mechanisms.base import TRIES
from omoide.mechanisms.flags import flagged
from omoide.mechanisms.summary.forms import FormReading
from omoide.mechanisms.summary.shortening import shortened
from omoide.ports import Message
from omoide.prompts import render
from omoide.prompts.transcript import Line, lines, parts, spoken

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime

    from omoide.domain import Sentence, Turn
    from omoide.mechanisms.summary.forms import SummaryForm
    from omoide.ports import ChatModel, Completion, Request

    Ask = Callable[[Request], Awaitable[Completion]]


@dataclass(frozen=True, kw_only=True)
class SessionPart:
    """The lines of one request and its answers: a whole session, or a part of a long one."""

    lines: tuple[Line, ...]
    answers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SummaryDigest:
    """The result of digesting a session: a new version, or None and the rejected answers."""

    summary: Summary | None
    rejected: tuple[RejectedAnswer, ...] = ()
    new_sentences: tuple[Sentence, ...] = ()
    """What is new in this session, each sentence with its sources; empty if the form does not
    separate it."""
    parts: tuple[SessionPart, ...] = ()
    """The accepted answers."""


class Summariser(Protocol):
    """Makes the next memory from the old one and a session."""

    @property
    def model(self) -> ChatModel:
        """The model that is asked."""

    async def digest(
        self,
        *,
        old: Summary,
        turns: Sequence[Turn],
        at: datetime,
        ask: Ask,
        cited: Sequence[Turn] = (),
    ) -> SummaryDigest:
        """Make M_i from M_{i-1} and the turns of session i. `cited` are the turns that support
        the old memory. Never raises for a bad answer: the digest then has no summary, only the
        rejected answers. Raises `ModelError` if the model is unavailable."""


@dataclass(frozen=True, kw_only=True)
class _Rewrite:
    """The memory after one part of a session; without sentences if no answer was usable."""

    sentences: tuple[Sentence, ...] | None = None
    completions: tuple[Completion, ...] = ()
    prompt: str = ""
    rejected: tuple[RejectedAnswer, ...] = ()
    notes: tuple[str, ...] = ()
    new_sentences: tuple[Sentence, ...] = ()
    part: SessionPart | None = None


class RecursiveSummary:
    """The summariser of paper A: a model, and the form it is asked in."""

    def __init__(
        self,
        *,
        model: ChatModel,
        form: SummaryForm,
        limit: int = 20,
        flags: bool = False,
    ) -> None:
        """With `flags` there is one try, and an answer is taken as it is unless it has no
        sentence."""
        self.model = model
        self.form = form
        self.limit = limit
        self.tries = 1 if flags else TRIES
        self.flags = flags

    async def digest(
        self,
        *,
        old: Summary,
        turns: Sequence[Turn],
        at: datetime,
        ask: Ask,
        cited: Sequence[Turn] = (),
    ) -> SummaryDigest:
        """As `Summariser.digest`."""
        spoken_turns = [turn for turn in turns if spoken(turn)]
        from_user = [spoken(t) for t in spoken_turns if t.speaker == "user"]
        language = dominant_language(
            from_user or [spoken(t) for t in spoken_turns], default=old.language
        )
        sentences = old.sentences
        done: list[_Rewrite] = []
        for part in await self._parts(spoken_turns, sentences, language):
            step = await self._rewrite(
                part,
                old=sentences,
                turns=spoken_turns,
                cited=cited,
                language=language,
                at=at,
                ask=ask,
            )
            done.append(step)
            if step.sentences is None:
                return SummaryDigest(summary=None, rejected=step.rejected)
            sentences = step.sentences
        new_sentences = without_repeats(
            [sentence for step in done for sentence in step.new_sentences]
        )
        after = turns[-1].session if turns else old.session
        return SummaryDigest(
            summary=self._version(
                done, sentences, number=old.number + 1, session=after, time=at, language=language
            ),
            rejected=tuple(r for step in done for r in step.rejected),
            new_sentences=cite_sources(new_sentences, old=(), turns=spoken_turns),
            parts=tuple(step.part for step in done if step.part),
        )

    def _version(
        self,
        done: Sequence[_Rewrite],
        sentences: tuple[Sentence, ...],
        *,
        number: int,
        session: int | None,
        time: datetime,
        language: str,
    ) -> Summary:
        """The version that the parts of a session give, with what they cost together."""
        completions = [completion for step in done for completion in step.completions]
        notes = [note for step in done for note in step.notes]
        if len(done) > 1:
            notes.append(f"digested in {len(done)} parts")
        return Summary(
            number=number,
            sentences=sentences,
            origin=Origin.DIGEST,
            session=session,
            time=time,
            language=language,
            model=self._author(completions),
            prompt=done[-1].prompt if done else "",
            prompt_tokens=sum(c.prompt_tokens for c in completions),
            completion_tokens=sum(c.completion_tokens for c in completions),
            seconds=sum(c.seconds for c in completions),
            notes=tuple(notes),
        )

    async def _parts(
        self, turns: Sequence[Turn], old: Sequence[Sentence], language: str
    ) -> list[list[Line]]:
        """The session as one part, or as several if it is too long for the window."""
        session = lines(turns)
        bare = [Line(speaker=speaker, text="-") for speaker in Speaker]
        frames = self.form.ask(old=old, session=bare, language=language, limit=self.limit)
        taken = [
            await self.model.count("\n".join(m.content for m in question.request.messages))
            # Each part's answer may make the memory longer; a retry adds one more answer.
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
        rejected: list[RejectedAnswer] = []
        for _ in range(self.tries):
            completions = [await ask(request) for request in requests]
            spent += completions
            reading, problems = self._read(completions, session, old=old, language=language)
            judge = self._flagged if self.flags else self._checked
            step, problems = judge(
                reading, problems, old=old, turns=turns, cited=cited, language=language
            )
            if step is not None:
                tries = [f"{len(rejected)} tries rejected"] if rejected else []
                answers = tuple(completion.text for completion in completions)
                return replace(
                    step,
                    completions=tuple(spent),
                    prompt=prompt,
                    rejected=tuple(rejected),
                    notes=(*step.notes, *tries),
                    part=None if self.flags else SessionPart(lines=tuple(session), answers=answers),
                )
            reasons = tuple(problem.message(language) for problem in problems)
            rejected.append(
                RejectedAnswer(
                    session=turns[-1].session,
                    text="\n".join(completion.text for completion in completions),
                    problems=(*reasons, *reading.notes),
                    model=self._author(completions),
                    time=at,
                )
            )
            requests = [
                self._again(question.request, completion.text, reasons, language)
                for question, completion in zip(questions, completions, strict=True)
            ]
        return _Rewrite(completions=tuple(spent), prompt=prompt, rejected=tuple(rejected))

    def _checked(
        self,
        reading: FormReading,
        problems: tuple[Problem, ...],
        *,
        old: Sequence[Sentence],
        turns: Sequence[Turn],
        cited: Sequence[Turn],
        language: str,
    ) -> tuple[_Rewrite | None, tuple[Problem, ...]]:
        """The sentences of an answer that has no problems, or its problems."""
        distinct = without_repeats(reading.sentences)
        echoless = without_echoes(distinct, turns, language=language)
        cleaned = cite_sources(echoless, old=old, turns=turns, cited=cited)
        fitting = shortened(cleaned, language, limit=self.limit)
        problems = problems or check(
            reading.sentences,
            cleaned=cleaned,
            old=[s for s in old if not any(part in s.text for part in reading.replaced)],
            turns=turns,
            instructions=self._instructions(language),
            language=language,
            limit=self.limit if len(fitting) > self.limit else max(self.limit, len(cleaned)),
            nothing=reading.nothing,
        )
        if problems:
            return None, problems
        left, joined = len(distinct) - len(cleaned), len(cleaned) - len(fitting)
        notes = list(reading.notes)
        notes += [f"left out {left} copied line(s)"] if left else []
        notes += [f"joined {joined} sentence(s) with others to fit"] if joined else []
        new = without_echoes(reading.new_sentences, turns, language=language)
        return _Rewrite(sentences=fitting, notes=tuple(notes), new_sentences=new), ()

    def _flagged(
        self,
        reading: FormReading,
        problems: tuple[Problem, ...],
        *,
        old: Sequence[Sentence],
        turns: Sequence[Turn],
        cited: Sequence[Turn],
        language: str,
    ) -> tuple[_Rewrite | None, tuple[Problem, ...]]:
        """Every sentence of the answer, and in the notes what the guards find in it."""
        taken = cite_sources(reading.sentences, old=old, turns=turns, cited=cited)
        if not taken:
            return None, problems or (Problem(flaw=Flaw.UNREADABLE),)
        problems = problems or check(
            reading.sentences,
            cleaned=without_echoes(without_repeats(taken), turns, language=language),
            old=old,
            turns=turns,
            instructions=self._instructions(language),
            language=language,
            limit=self.limit,
            nothing=reading.nothing,
        )
        notes = (*reading.notes, *flagged(problems, language))
        return _Rewrite(sentences=tuple(taken), notes=notes), ()

    def _read(
        self,
        completions: Sequence[Completion],
        session: Sequence[Line],
        *,
        old: Sequence[Sentence],
        language: str,
    ) -> tuple[FormReading, tuple[Problem, ...]]:
        nothing_read = FormReading(sentences=())
        if completions and not any(completion.text.strip() for completion in completions):
            return nothing_read, (Problem(flaw=Flaw.EMPTY),)
        cut = any(completion.finish == "length" for completion in completions)
        short = (Problem(flaw=Flaw.CUT_SHORT),) if cut else ()
        if short and not self.flags:
            return nothing_read, short
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
        return reading, short

    def _author(self, completions: Sequence[Completion]) -> str:
        """The model that wrote the completions, which all used the same skill."""
        return next((c.by for c in completions if c.by), self.model.name)

    def _instructions(self, language: str) -> str:
        """The form's own text, to detect an answer that copies it."""
        bare = [Line(speaker=speaker, text="-") for speaker in Speaker]
        questions = self.form.ask(old=(), session=bare, language=language, limit=self.limit)
        return "\n".join(
            m.content for q in questions for m in q.request.messages if m.role != "assistant"
        )

    def _again(
        self, first: Request, answer: str, reasons: tuple[str, ...], language: str
    ) -> Request:
        """The request again, with the rejected answer and the reasons.

        Greedy decoding gives the same answer to the same request, so the text must differ. A long
        bad answer is truncated; otherwise the model would copy it.
        """
        retry = render(
            self.form.retry, language, problems="\n".join(reasons), limit=str(self.limit)
        ).messages
        shown = Message(role="assistant", content=answer[:400] or "-")
        return replace(first, messages=(*first.messages, shown, *retry))
