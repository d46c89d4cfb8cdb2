"""The benchmarks, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.evals.tasks.carecall import CareCall
from omoide.evals.tasks.evidence import Evidence
from omoide.evals.tasks.grounded import Grounded
from omoide.evals.tasks.growth import Growth
from omoide.evals.tasks.memo import JapaneseMemoTasks, MemoTasks
from omoide.evals.tasks.memorybank import MemoryBankQuestions
from omoide.evals.tasks.msc import Msc
from omoide.evals.tasks.mtbench import MtBenchPlus
from omoide.evals.tasks.personas import RealPersonas
from omoide.evals.tasks.questions import Locomo, LongMemEval
from omoide.evals.tasks.quiet import Quiet
from omoide.evals.tasks.recall import RecallProtocol
from omoide.evals.tasks.unknown import Unknown

if TYPE_CHECKING:
    from omoide.evals.tasks.base import Task

TASKS: dict[str, Task[Any]] = {
    task.name: task
    for task in (
        Msc(),
        CareCall(),
        Locomo(),
        LongMemEval(),
        MtBenchPlus(),
        MemoryBankQuestions(),
        MemoTasks(),
        JapaneseMemoTasks(),
        RecallProtocol(),
        Evidence(),
        RealPersonas(),
        Growth(),
        Grounded(),
        Quiet(),
        Unknown(),
    )
}
