"""Our memory beside other libraries, as one table: evidence, noise, faults of a model, cost.

Three runs with the same model, embedder and number of items: one LoCoMo conversation, and our own
`noise` and `faults`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from omoide_bench.rivals.note_taker import FAULTS
from omoide_bench.running.execute import RunJob, execute, fingerprints, methods_of
from omoide_bench.running.runner import RunOptions
from omoide_bench.tasks import OWN
from omoide_bench.tasks.base import Sample
from omoide_bench.tasks.noise import NOT_TOLD, TOLD, WORLD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.data.shapes import Dialogue
    from omoide_bench.running.memory_under_test import RunContext
    from omoide_bench.running.results import MethodResult, Result
    from omoide_bench.running.runner import ReportProgress

METHODS = ("search", "summary+search", "mem0", "mem0:raw", "langmem", "dense:5", "bm25")
LIBRARIES = {"mem0": "mem0", "mem0:raw": "mem0", "langmem": "langmem"}
"""What a method imports. They are extras, so one may be missing."""
MEM0_ALSO = ("fastembed", "spacy")
"""What mem0 searches with besides vectors, if it is installed: words (BM25) and entities."""
TASKS = ("locomo", "noise", "faults")
NO_TURNS = ("mem0", "langmem")
"""Methods whose memories name no turns: evidence cannot be looked up, only words."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The three results."""

    results: Mapping[str, Result]
    """By task."""
    turns: int
    """Turns of the LoCoMo conversations."""
    missing: Sequence[str] = ()
    """Methods that were left out because their library is not installed."""
    lacking: Sequence[str] = ()
    """What mem0 would search with too, and is not installed."""

    def rows(self) -> list[tuple[str, ...]]:
        """The table, its header first. Shares are in percent."""
        locomo, noise, faults = (self.results[task] for task in TASKS)
        return [
            (
                "method",
                "evidence",
                "answer words",
                "tokens a question",
                "noise: told, not told, world",
                "kept in the five faults",
                "reported",
                "calls per 100 turns",
                "prompt tokens a turn",
                "CPU s",
            ),
            *(
                (
                    method.name,
                    "–" if method.name in NO_TURNS else _share(method, "answerable", "evidence"),
                    _share(method, "answerable", "answer words"),
                    f"{_mean([item.prompt_tokens for item in method.items]):.0f}",
                    " ".join(
                        _share(_of(noise, method), group, "spoke up")
                        for group in (TOLD, NOT_TOLD, WORLD)
                    ),
                    " ".join(_share(_of(faults, method), fault, "kept") for fault in FAULTS),
                    " ".join(_share(_of(faults, method), fault, "reported") for fault in FAULTS)
                    if self._writing_calls(method)
                    else "–",
                    f"{100 * self._writing_calls(method) / self.turns:.1f}",
                    f"{self._writing_tokens(method):.0f}",
                    f"{method.cpu_seconds:.1f}",
                )
                for method in locomo.methods
            ),
        ]

    @staticmethod
    def _writing_calls(method: MethodResult) -> int:
        return method.calls - len(method.items)

    def _writing_tokens(self, method: MethodResult) -> float:
        asked = sum(item.prompt_tokens for item in method.items)
        return (method.prompt_tokens - asked) / self.turns

    def notes(self) -> list[str]:
        """What the table does not say: models, versions, the order of the faults."""
        locomo = self.results["locomo"]
        versions = ", ".join(f"{name} {value}" for name, value in locomo.versions.items())
        return [
            f"model {locomo.model}, embedder {locomo.embedder}; {versions}",
            f"faults, in order: {', '.join(FAULTS)}",
            f"{self.turns:,} turns; CPU is of the LoCoMo run, without the embedder's for turns and "
            "questions; prompt tokens a turn are those of writing memory",
            "–: no figure. The memories of mem0 and langmem name no turns, so there is no evidence "
            "to look up; a method that asks no model to write has no failure to report",
            *(
                f"mem0 searched without {name} (pip install 'mem0ai[extras,nlp]')"
                for name in self.lacking
            ),
            *(f"left out: {name} (pip install 'omoide-bench[rivals]')" for name in self.missing),
        ]


def missing(methods: Sequence[str]) -> tuple[str, ...]:
    """The methods whose library is not installed."""
    return tuple(name for name in methods if name in LIBRARIES and not find_spec(LIBRARIES[name]))


async def compare(
    lab: RunContext,
    *,
    data: Path,
    methods: Sequence[str],
    options: Mapping[str, Mapping[str, str]],
    command: str = "",
    report: ReportProgress = lambda method, done, total: None,
) -> Comparison:
    """Run the methods on the three tasks, without those whose library is missing; `options` are
    those of each task."""
    results, turns, left_out = {}, 0, missing(methods)
    methods = [name for name in methods if name not in left_out]
    for name in TASKS:
        task, chosen = OWN[name], dict(options.get(name, {}))
        sample = Sample(options=chosen)
        cases = task.cases(data, sample)
        if name == "locomo":
            turns = sum(len(case.lines) for case in cases)
            await _embed(lab, cases)
        job = RunJob(
            task=task,
            sample=sample,
            methods=methods_of(task, methods, only=True, lab=lab),
            cases=cases,
            data=fingerprints(task, data),
            command=command,
        )
        results[name] = await execute(
            job, lab=lab, course=RunOptions(options=chosen, concurrency=1), report=report
        )
    with_mem0 = any(LIBRARIES.get(name) == "mem0" for name in methods)
    lacking = [name for name in MEM0_ALSO if with_mem0 and not find_spec(name)]
    return Comparison(results=results, turns=turns, missing=left_out, lacking=lacking)


async def _embed(lab: RunContext, cases: Sequence[Dialogue]) -> None:
    """Embed the turns and questions beforehand, so that no method pays for all."""
    texts = [line.text for case in cases for line in case.lines]
    texts += [question.text for case in cases for question in case.questions]
    if lab.embedder is not None:
        await lab.embedder.embed(list(dict.fromkeys(texts)))


def _of(result: Result, method: MethodResult) -> MethodResult | None:
    return result.method(method.name)


def _share(method: MethodResult | None, group: str, measure: str) -> str:
    """A mean in percent; a dash if there is none."""
    found = (
        [a for a in method.aggregates if (a.group, a.measure) == (group, measure)] if method else []
    )
    return f"{100 * found[0].mean:.0f}" if found else "–"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(len(values), 1)
