"""A model as an additional annotator: the small form's question about each speaker of each talk.

Its answer is read with the form's parser and guards, and only facts that the talk supports
(`lessons.is_supported`) go into the file. The file grows by one line per speaker, so an
interrupted run continues where it stopped.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.claims import read_facts
from omoide.domain import Speaker
from omoide.engine import complete
from omoide.errors import BadReply, ModelError
from omoide.mechanisms import lines
from omoide.mechanisms.summary import MAX_FACTS, SmallForm
from omoide_tune.building import sample_talks
from omoide_tune.checked_talks import noted, turns
from omoide_tune.lessons import Lesson, is_supported, lessons
from omoide_tune.sources import select_sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from omoide.mechanisms import Line
    from omoide.ports import ChatModel, Request
    from omoide_tune.talk import TrainingTalk

FORM = SmallForm()
WARMTH = 0.7
"""Temperature of every try except the first."""


@dataclass(frozen=True, kw_only=True)
class TeachingTarget:
    """One speaker of one talk to ask about."""

    source: str
    talk: TrainingTalk
    speaker: Speaker
    request: Request
    shown: tuple[Line, ...]

    @property
    def about(self) -> tuple[str, str, Speaker]:
        """The key of its lesson."""
        return self.source, self.talk.key, self.speaker


@dataclass(kw_only=True)
class TeachingReport:
    """Counts of a run."""

    asked: int = 0
    """Speakers asked about in this run."""
    before: int = 0
    """Speakers that the file already had."""
    said: int = 0
    """Distinct facts per speaker that the model named."""
    kept: int = 0
    failed: int = 0
    """Speakers without an answer: the next run asks again."""
    left: int = 0
    """Speakers not reached in time."""


def pupils(source: str, talks: Iterable[TrainingTalk]) -> list[TeachingTarget]:
    """Whom to ask about: each speaker who says anything about themselves, in talks whose list of
    facts may be incomplete."""
    found = []
    for talk in talks:
        if talk.complete:
            continue
        shown = tuple(lines(turns(talk.lines, talk.language)))
        for speaker in Speaker:
            own = [line for line in shown if line.speaker is speaker]
            for asked in FORM.ask(old=(), session=own, language=talk.language, limit=20):
                bare = replace(asked.request, skill=None)  # a tuned model must not teach itself
                found.append(
                    TeachingTarget(
                        source=source, talk=talk, speaker=speaker, request=bare, shown=shown
                    )
                )
    return found


def lesson_plan(
    data: Path, *, names: tuple[str, ...], talks: int, seed: int, research: bool = False
) -> list[TeachingTarget]:
    """Whom to ask about in the data sets of these names: the same talks that `omoide tune data`
    reads with the same numbers."""
    return [
        pupil
        for source in select_sources(names, research=research)
        for pupil in pupils(source.name, sample_talks(source.read(data), talks, seed))
    ]


async def teach(
    model: ChatModel,
    whom: Iterable[TeachingTarget],
    path: Path,
    *,
    tries: int = 2,
    concurrency: int = 8,
    seconds: float | None = None,
    tell: Callable[[int, int, str], None] = lambda done, total, what: None,
) -> TeachingReport:
    """Ask about all speakers that are not in the file yet, and append the supported facts. Each is
    asked `tries` times, first at temperature 0. Stops after `seconds` and drops requests in
    flight. Raises `ModelError` once `concurrency` speakers in a row get no
    answer."""
    report = TeachingReport()
    every = list(whom)
    known = _mended(path)
    left = [pupil for pupil in every if pupil.about not in known]
    report.before = len(every) - len(left)
    queue = iter(left)
    row = 0  # consecutive failures
    with path.open("ab") as file:

        async def work() -> None:
            nonlocal row
            for pupil in queue:
                try:
                    lesson, said = await _lesson(model, pupil, tries)
                except ModelError:
                    report.failed += 1
                    row += 1
                    if row >= max(concurrency, 8):
                        raise
                    continue
                row = 0
                report.asked += 1
                report.said += said
                report.kept += len(lesson.sentences)
                file.write(lesson.line().encode())
                file.flush()
                tell(report.before + report.asked + report.failed, len(every), "talks read")

        try:
            async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
                for _ in range(max(1, min(concurrency, len(left)))):
                    group.create_task(work())
        except TimeoutError:
            pass
        except ExceptionGroup as group_error:
            raise group_error.exceptions[0] from group_error
    report.left = len(left) - report.asked - report.failed
    return report


def _mended(path: Path) -> set[tuple[str, str, Speaker]]:
    """Cut off an incomplete last line, and return the speakers that the file has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        return set()
    if not (text := path.read_bytes()).endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(text.rfind(b"\n") + 1)
    return {lesson.about for lesson in lessons(path)}


async def _lesson(model: ChatModel, pupil: TeachingTarget, tries: int) -> tuple[Lesson, int]:
    """The supported facts about the speaker, and how many the model named in all."""
    language, by = pupil.talk.language, model.name
    named: dict[str, None] = {}
    said: set[str] = set()
    for number in range(tries):
        request = pupil.request
        if number:
            request = replace(request, temperature=WARMTH, seed=number)
        answer = await complete(model, request)
        by = answer.by or by
        answer_text = answer.text
        if answer.finish == "length":  # the last line may be incomplete
            answer_text = answer_text.rpartition("\n")[0]
        said |= {fact.text for fact in read_facts(answer_text, language)}
        for sentence in _standing(answer_text, pupil):
            named[sentence] = None
    kept = tuple(named)[: MAX_FACTS * tries]
    return (
        Lesson(
            source=pupil.source, key=pupil.talk.key, speaker=pupil.speaker, model=by, sentences=kept
        ),
        len(said),
    )


def _standing(answer: str, pupil: TeachingTarget) -> list[str]:
    """The sentences of an answer that the form keeps and the talk supports."""
    language = pupil.talk.language
    own = [line for line in pupil.shown if line.speaker is pupil.speaker]
    try:
        reading = FORM.read([answer], old=(), session=own, language=language, limit=20)
    except BadReply:
        return []
    return [
        fact.sentence(language)
        for sentence in reading.new_sentences
        for fact in read_facts(sentence.text, language)
        if fact.about is pupil.speaker
        and noted(fact.text)
        and is_supported(fact, pupil.shown, language)
    ]
