"""Multiple-choice questions about a history: PersonaMem and MemDaily. No judge is needed.

The method recalls for the question alone; the options are shown to the model only. An answer from
which no option can be read leaves the question unscored. With `--set by=likelihood` the model sees
no options: chosen is the one that it is most likely to give as its reply, by the mean
log-probability of a token. With four options chance is 25 %, but the options may give the right one
away: `omoide bench measures` says what guesses get (`guessing`).
"""

from __future__ import annotations

import re
from statistics import fmean
from string import ascii_uppercase
from typing import TYPE_CHECKING

from omoide.errors import OmoideError
from omoide.ports import Request
from omoide.prompts import render
from omoide_bench.concurrency import gather_all
from omoide_bench.corpora import memdaily as evidence_files
from omoide_bench.data import memdaily, personamem
from omoide_bench.judges.asking import bracketed, field
from omoide_bench.running.items import ScoredItem, failed
from omoide_bench.tasks import scoring
from omoide_bench.tasks.base import Measure, Sample
from omoide_bench.tasks.dialogues import as_notes, evidence_share, utterances
from omoide_bench.tasks.guessing import guesses
from omoide_bench.tasks.survival import TextSet, words_brought_back

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.shapes import DatasetQuestion, Dialogue
    from omoide_bench.discrimination import Discrimination
    from omoide_bench.running.cached_model import MethodModel
    from omoide_bench.running.memory_under_test import MemoryUnderTest
    from omoide_bench.tasks.base import Trial

RIGHT = Measure(name="right choice", about="the right option was chosen; chance is 1 in 4")
TOLD = Measure(
    name="told words",
    about="of the words of the right option alone that were ever said, the share in the prompt",
    sparse=True,
)
LEAD = Measure(
    name="lead",
    about="by likelihood: how far the right option's mean log-probability of a token is above the "
    "mean of the others'; 0 is chance",
    percent=False,
)
UNREADABLE = "no option could be read from the answer"
CHOICE_TOKENS = 24
_ALONE = re.compile(
    r"(?:^|answer|choice|option|选|選)\W*(?:is\W*)?\(?([A-H])(?=\W*$|[).:,])", re.IGNORECASE
)


class _Choices:
    """Questions with options about a history."""

    default_methods: tuple[str, ...] = ("search", "summary+search")
    alternatives: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = (RIGHT, LEAD, TOLD, scoring.SPOKE)
    partner = "assistant"
    options: Mapping[str, str] = {
        "questions": "most questions of each dialogue, drawn by the seed (default all)",
        "answers": "yes (default) or no: only measure what is in the prompt, without a model",
        "by": "letter (default) or likelihood of each option as a reply (embedded models only)",
    }

    def group(self, question: DatasetQuestion) -> str:
        """The group that the question is reported in."""
        return question.category

    async def run(self, case: Dialogue, trial: Trial) -> list[ScoredItem]:
        """Replay the dialogue, then ask the questions independently of each other."""
        began = case.sessions[0].start
        most = int(trial.option("questions", "0")) or None
        questions = Sample(limit=most, seed=trial.seed).draw(
            [question for question in case.questions if question.choices]
        )
        async with trial.new_memory(user=case.id, began=began, partner=self.partner) as under_test:
            texts = [question.text for question in questions]
            await trial.prefetch_embeddings([*(line.text for line in case.lines), *texts])
            await under_test.replay([utterances(session, case) for session in case.sessions])
            return await gather_all(
                self._ask(question, case, under_test, trial) for question in questions
            )

    async def _ask(
        self, question: DatasetQuestion, case: Dialogue, under_test: MemoryUnderTest, trial: Trial
    ) -> ScoredItem:
        name, group = f"{case.id}/{question.id}", self.group(question)
        recalled = await under_test.recall_for(question.text, at=question.at)
        scores = {scoring.SPOKE.name: float(bool(recalled))}
        told = await words_brought_back(
            question.answer or "",
            [contribution.text for contribution in recalled],
            said=TextSet.of(line.text for line in case.lines),
            seen=TextSet.of([question.text, *_wrong(question)]),
            language=case.language,
            analyser=trial.lab.analyser,
        )
        if told is not None:
            scores[TOLD.name] = told
        if question.evidence:
            scores[scoring.EVIDENCE] = evidence_share(recalled, question.evidence)
        if trial.option("answers", "yes") == "no":
            return ScoredItem(id=name, cluster=case.id, group=group, scores=scores)
        if trial.option("by", "letter") == "likelihood":
            marks = await under_test.likelihood(
                question.text, at=question.at, replies=question.choices
            )
            scores[RIGHT.name] = float(marks.index(max(marks)) == question.right_choice)
            scores[LEAD.name] = _lead(marks, question.right_choice)
            return ScoredItem(id=name, cluster=case.id, group=group, scores=scores)
        notes = as_notes(recalled, language=case.language)
        request = choice_request(question, notes=notes, language=case.language)
        try:
            answer = await under_test.complete(request)
        except OmoideError as error:
            return failed(
                name, cluster=case.id, group=group, measures=(RIGHT.name,), why=str(error)
            )
        chosen = read_choice(answer.text, len(question.choices))
        if chosen is not None:
            scores[RIGHT.name] = float(chosen == question.right_choice)
        return ScoredItem(
            id=name,
            cluster=case.id,
            group=group,
            scores=scores,
            unscored={} if chosen is not None else {RIGHT.name: UNREADABLE},
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            texts={"question": question.text, "answer": answer.text, "gold": question.answer or ""},
        )

    async def discriminations(
        self, cases: Sequence[Dialogue], judge: MethodModel | None, seed: int
    ) -> list[Discrimination]:
        """What choosing gives to guesses that know nothing of the history."""
        del judge, seed
        return [guesses(RIGHT.name, [q for case in cases for q in case.questions if q.choices])]

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}


class PersonaMem(_Choices):
    """Which of four replies fits what the user had told, also after a change of mind."""

    name = "personamem"
    about = "which of four replies fits a user's facts and changing preferences"
    source = personamem.SOURCE

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Users, each with all questions."""
        return sample.draw([user for user in personamem.load(data) if user.questions])


class MemDaily(_Choices):
    """Chinese questions about a user's daily messages."""

    name = "memdaily"
    about = "Chinese multiple-choice questions about a user's daily messages, and their evidence"
    source = memdaily.SOURCE
    measures = (RIGHT, LEAD, scoring.EVIDENCE_MEASURE, TOLD, scoring.SPOKE)
    options: Mapping[str, str] = {
        **_Choices.options,
        "kinds": "files such as 01_simple_hybrid,06_noisy_hybrid (default the five hybrid ones "
        "whose questions rest on few messages)",
    }

    def cases(self, data: Path, sample: Sample) -> tuple[Dialogue, ...]:
        """Trajectories, each a user."""
        named = tuple(part for part in sample.option("kinds", "").split(",") if part)
        trajectories = memdaily.load(data, kinds=named or evidence_files.KINDS)
        return sample.draw([one for one in trajectories if one.questions[0].choices])

    def group(self, question: DatasetQuestion) -> str:
        """Its file, without the number."""
        return question.category[3:].replace("_", " ")


def _lead(marks: Sequence[float], right: int | None) -> float:
    """The mark of the right option less the mean of the others'."""
    others = [mark for n, mark in enumerate(marks) if n != right]
    return fmean(mark for n, mark in enumerate(marks) if n == right) - fmean(others)


def _wrong(question: DatasetQuestion) -> list[str]:
    """The wrong options: their words do not tell which one is right."""
    return [text for n, text in enumerate(question.choices) if n != question.right_choice]


def choice_request(question: DatasetQuestion, *, notes: str, language: str) -> Request:
    """The request for a choice. The answer is JSON with the letter of the option."""
    letters = ascii_uppercase[: len(question.choices)]
    prompt = render(
        "omoide_bench:bench_choice",
        language,
        memory=notes,
        question=question.text,
        options="\n".join(
            f"{a}. {text}" for a, text in zip(letters, question.choices, strict=True)
        ),
        now=f"{question.at:%Y-%m-%d}",
    )
    schema = {
        "type": "object",
        "properties": {"choice": {"enum": list(letters)}},
        "required": ["choice"],
        "additionalProperties": False,
    }
    return Request(messages=prompt.messages, max_tokens=CHOICE_TOKENS, schema=schema)


def read_choice(answer: str, count: int) -> int | None:
    """The index of the chosen option: in the answer's JSON, in [[…]], or alone at its beginning.

    >>> read_choice('{"choice": "C"}', 4), read_choice("b) because", 4), read_choice("Both.", 4)
    (2, 1, None)
    """
    value = field(answer, "choice")
    if not isinstance(value, str):
        value = bracketed(answer)
    if value is None:
        match = _ALONE.match(answer.strip())
        value = match[1] if match else ""
    letter = value.strip(" ().").upper()[:1]
    index = ascii_uppercase.find(letter) if letter else -1
    return index if 0 <= index < count else None
