"""Asks a model for the facts of one session, part by part, and collects what its answers change."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.claims.answers import Flaw, Problem
from omoide.domain import FactChanges, RejectedAnswer
from omoide.errors import BadReply
from omoide.language import dominant_language
from omoide.mechanisms.base import TRIES
from omoide.mechanisms.facts.applying import Outcome, apply_operations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Fact, Turn
    from omoide.mechanisms.base import SessionToDigest
    from omoide.mechanisms.facts.operations import FactForm, FormAnswer, SetAside
    from omoide.mechanisms.summary.forms import FormRequest
    from omoide.ports import ChatModel, Completion
    from omoide.prompts.transcript import Line

COUNTS = "from the model's answer: "
"""How the note begins that says how many entries of the answers ended in which way."""
OTHER_LANGUAGE = "it is not in the language of the session"


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How a model is asked for facts."""

    model: ChatModel
    form: FactForm

    def answer_tokens(self, request: FormRequest) -> int:
        """Most tokens of an answer: a third of the window at most."""
        return min(request.request.max_tokens, self.model.window // 3)


@dataclass(frozen=True, kw_only=True)
class SessionTopic:
    """A stretch of a session about one thing."""

    topic: str
    summary: str
    turns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FactDigest:
    """What a session told."""

    facts: tuple[Fact, ...]
    """The facts that were learned from it."""
    topics: tuple[SessionTopic, ...] = ()
    completions: tuple[Completion, ...] = ()
    prompt: str = ""
    """Hash of the prompt."""
    notes: tuple[str, ...] = ()
    """Remarks for people: how many entries ended in which way."""


class SessionWriting:
    """Writes the facts of one session, part by part: each part sees what those before changed."""

    def __init__(
        self,
        asking: Asking,
        to_digest: SessionToDigest,
        turns: Sequence[Turn],
        known: Sequence[Fact],
    ) -> None:
        self._asking = asking
        self._to_digest = to_digest
        self._turns = turns
        self._known = list(known)
        self._changes: list[FactChanges] = []
        self._topics: list[SessionTopic] = []
        self._outcomes: Counter[str] = Counter()
        self._completions: list[Completion] = []
        self._prompts: dict[str, None] = {}
        self.rejected: list[RejectedAnswer] = []

    @property
    def changes(self) -> FactChanges:
        """The changes of all parts together."""
        return FactChanges(
            added=tuple(fact for changes in self._changes for fact in changes.added),
            ended=tuple(end for changes in self._changes for end in changes.ended),
            confirmed=tuple(again for changes in self._changes for again in changes.confirmed),
        )

    @property
    def digest(self) -> FactDigest:
        """The result."""
        notes = [f"{count} {outcome}" for outcome, count in self._outcomes.items() if count]
        return FactDigest(
            facts=self.changes.added,
            topics=tuple(self._topics),
            completions=tuple(self._completions),
            prompt="+".join(self._prompts),
            notes=(f"{COUNTS}{', '.join(notes)}",) if notes else (),
        )

    async def part(self, session: Sequence[Line]) -> None:
        """Ask about one part, in halves if the answer does not fit, and take up what it says."""
        language = self._to_digest.language
        question = self._asking.form.ask(known=self._known, session=session, language=language)
        if question is None:
            return
        answer = await self._answer(question, session)
        if answer is None:
            half = len(session) // 2
            await self.part(session[:half])
            await self.part(session[half:])
            return
        applied = apply_operations(
            answer.operations,
            known=self._known,
            turns=self._turns,
            session=self._to_digest.session.number,
            at=self._to_digest.at,
            language=language,
        )
        self._outcomes.update({outcome.value: n for outcome, n in applied.outcomes.items()})
        self._outcomes[Outcome.ASIDE.value] += len(answer.aside)
        for entry in (*answer.aside, *applied.aside):
            self._set_aside(entry)
        self._take_up(applied.changes)
        self._topics += [
            SessionTopic(
                topic=topic.topic,
                summary=topic.summary,
                turns=tuple(
                    dict.fromkeys(line.turn for line in session[topic.first - 1 : topic.last])
                ),
            )
            for topic in answer.topics
        ]

    async def _answer(self, question: FormRequest, session: Sequence[Line]) -> FormAnswer | None:
        """The model's answer; None if it does not fit and the part can be halved. Raises `BadReply`
        if it cannot be read."""
        language = self._to_digest.language
        self._prompts[question.prompt] = None
        request = question
        for tried in range(1, TRIES + 1):
            last = tried == TRIES
            limited = replace(request.request, max_tokens=self._asking.answer_tokens(request))
            completion = await self._to_digest.ask(limited)
            self._completions.append(completion)
            if completion.finish == "length" and len(session) > 1 and self._asking.form.topics:
                return None
            try:
                answer = self._asking.form.read(
                    completion.text, known=self._known, session=session, language=language
                )
            except BadReply as error:
                flaw = Flaw.CUT_SHORT if completion.finish == "length" else Flaw.UNREADABLE
                if last:
                    self._reject(completion, flaw)
                    raise self._failure(error) from error
            else:
                if _in_language(answer, language):
                    return answer
                if last:
                    return _flagged(answer, OTHER_LANGUAGE)
                flaw = Flaw.WRONG_LANGUAGE
            problem = self._reject(completion, flaw)
            request = self._asking.form.ask_again(
                question, completion.text, problem=problem, language=language
            )
        raise AssertionError  # pragma: no cover - the last try returns or raises

    def _failure(self, error: BadReply) -> BadReply:
        number = self._to_digest.session.number
        return BadReply(
            f"{self._asking.model.name} gave no usable facts of session {number} in "
            f"{TRIES} tries: {error} The old memory is kept."
        )

    def _reject(self, completion: Completion, flaw: Flaw) -> str:
        """Keep an answer that cannot be used, and say what is wrong with it."""
        problem = Problem(flaw=flaw).message(self._to_digest.language)
        self.rejected.append(self._rejected(completion.text, problem, by=completion.by))
        return problem

    def _set_aside(self, entry: SetAside) -> None:
        by = self._completions[-1].by if self._completions else ""
        self.rejected.append(self._rejected(entry.text, entry.reason, by=by))

    def _rejected(self, text: str, problem: str, *, by: str) -> RejectedAnswer:
        return RejectedAnswer(
            session=self._to_digest.session.number,
            text=text,
            problems=(problem,),
            model=by or self._asking.model.name,
            time=self._to_digest.at,
        )

    def _take_up(self, changes: FactChanges) -> None:
        self._changes.append(changes)
        ends = {end.id: end for end in changes.ended}
        facts = [
            fact.ended_with(ends[fact.id]) if fact.id in ends else fact
            for fact in (*self._known, *changes.added)
        ]
        self._known = [fact for fact in facts if fact.holds(self._to_digest.at)]


def _in_language(answer: FormAnswer, language: str) -> bool:
    """Whether the new facts are in the session's language."""
    texts = [operation.text for operation in answer.operations if operation.text]
    return dominant_language(texts, default=language) == language


def _flagged(answer: FormAnswer, flag: str) -> FormAnswer:
    return replace(
        answer,
        operations=tuple(replace(op, flags=(*op.flags, flag)) for op in answer.operations),
    )
