"""A model as a further annotator: the small form's own question about each speaker of each talk.

What it says is read with the form's reader and guards, and only what the talk bears out
(`taught.borne_out`) goes into the file. It grows line by line, a speaker each: what was
broken off goes on where it stopped.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.accounts import complete
from omoide.domain import Speaker
from omoide.errors import BadReply, ModelError
from omoide.memory.summary.facts import read_facts
from omoide.memory.summary.small_form import MOST, SmallForm
from omoide.memory.transcript import lines
from omoide.tuning.building import some
from omoide.tuning.sources import chosen
from omoide.tuning.taught import Lesson, borne_out, lessons
from omoide.tuning.told import noted, turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from omoide.memory.transcript import Line
    from omoide.ports import ChatModel, Request
    from omoide.tuning.talk import Talk

FORM = SmallForm()
WARMTH = 0.7
"""Temperature of every try but the first."""


@dataclass(frozen=True, kw_only=True)
class Pupil:
    """One speaker of one talk, to be asked about."""

    source: str
    talk: Talk
    speaker: Speaker
    request: Request
    shown: tuple[Line, ...]

    @property
    def about(self) -> tuple[str, str, Speaker]:
        """As a lesson has it."""
        return self.source, self.talk.key, self.speaker


@dataclass(kw_only=True)
class Report:
    """How it went."""

    asked: int = 0
    """Speakers that were asked about now."""
    before: int = 0
    """Those that the file had already."""
    said: int = 0
    """Facts that the model named, each once a speaker."""
    kept: int = 0
    failed: int = 0
    """Speakers of whom no answer came: they will be asked about next time."""
    left: int = 0
    """Speakers that there was no time for."""


def pupils(source: str, talks: Iterable[Talk]) -> list[Pupil]:
    """Whom to ask about: each speaker who says anything of themselves, in talks that nobody vouches
    to be complete."""
    found = []
    for talk in talks:
        if talk.complete:
            continue
        shown = tuple(lines(turns(talk.lines, talk.language)))
        for speaker in Speaker:
            own = [line for line in shown if line.speaker is speaker]
            for asked in FORM.ask(old=(), session=own, language=talk.language, limit=20):
                bare = replace(asked.request, skill=None)  # a tuned one must not teach itself
                found.append(
                    Pupil(source=source, talk=talk, speaker=speaker, request=bare, shown=shown)
                )
    return found


def lesson_plan(
    data: Path, *, names: tuple[str, ...], talks: int, seed: int, research: bool = False
) -> list[Pupil]:
    """Whom to ask about in the data sets of these names: in the same talks that `omoide tune data`
    reads with the same numbers."""
    return [
        pupil
        for source in chosen(names, research=research)
        for pupil in pupils(source.name, some(source.read(data), talks, seed))
    ]


async def teach(
    model: ChatModel,
    whom: Iterable[Pupil],
    path: Path,
    *,
    tries: int = 2,
    concurrency: int = 8,
    seconds: float | None = None,
    tell: Callable[[int, int, str], None] = lambda done, total, what: None,
) -> Report:
    """Ask about all whom the file does not have yet, and add to it what is borne out. Each is
    asked `tries` times, first at temperature 0. Ends after `seconds`, what is under way being
    dropped. Raises `ModelError` once as many speakers in a row as are asked about at a time get no
    answer."""
    report = Report()
    every = list(whom)
    known = _mended(path)
    left = [pupil for pupil in every if pupil.about not in known]
    report.before = len(every) - len(left)
    queue = iter(left)
    row = 0  # failures one after another
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
    """Whom the file has, once a last line that was not written to its end is cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        return set()
    if not (text := path.read_bytes()).endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(text.rfind(b"\n") + 1)
    return {lesson.about for lesson in lessons(path)}


async def _lesson(model: ChatModel, pupil: Pupil, tries: int) -> tuple[Lesson, int]:
    """What the model says of the speaker that stands, and how much it said in all."""
    language, by = pupil.talk.language, model.name
    named: dict[str, None] = {}
    said: set[str] = set()
    for number in range(tries):
        request = pupil.request
        if number:
            request = replace(request, temperature=WARMTH, seed=number)
        answer = await complete(model, request)
        by = answer.by or by
        told = answer.text
        if answer.finish == "length":  # its last line may be half a sentence
            told = told.rpartition("\n")[0]
        said |= {fact.text for fact in read_facts(told, language)}
        for sentence in _standing(told, pupil):
            named[sentence] = None
    kept = tuple(named)[: MOST * tries]
    return (
        Lesson(
            source=pupil.source, key=pupil.talk.key, speaker=pupil.speaker, model=by, sentences=kept
        ),
        len(said),
    )


def _standing(answer: str, pupil: Pupil) -> list[str]:
    """The sentences of an answer that the form keeps and the talk bears out."""
    language = pupil.talk.language
    own = [line for line in pupil.shown if line.speaker is pupil.speaker]
    try:
        reading = FORM.read([answer], old=(), session=own, language=language, limit=20)
    except BadReply:
        return []
    return [
        fact.sentence(language)
        for sentence in reading.told
        for fact in read_facts(sentence.text, language)
        if fact.about is pupil.speaker
        and noted(fact.text)
        and borne_out(fact, pupil.shown, language)
    ]
