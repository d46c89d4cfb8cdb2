"""The benchmarks, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.plugins import Group, Registry
from omoide_bench.tasks.beam import Beam
from omoide_bench.tasks.carecall import CareCall
from omoide_bench.tasks.choices import MemDaily, PersonaMem
from omoide_bench.tasks.evidence import EvidenceTask
from omoide_bench.tasks.faults import FaultsTask
from omoide_bench.tasks.friend import FriendTask
from omoide_bench.tasks.grounded import GroundedTask
from omoide_bench.tasks.growth import GrowthTask
from omoide_bench.tasks.memo import JapaneseMemoTasks, MemoTasks
from omoide_bench.tasks.memorybank import MemoryBankQuestions
from omoide_bench.tasks.msc import Msc
from omoide_bench.tasks.mtbench import MtBenchPlus
from omoide_bench.tasks.noise import NoiseTask
from omoide_bench.tasks.personas import RealPersonas
from omoide_bench.tasks.questions import Dmr, DmrLike, Locomo, LongMemEval
from omoide_bench.tasks.quiet import QuietTask
from omoide_bench.tasks.recall import RecallProtocol
from omoide_bench.tasks.stories import StoriesTask
from omoide_bench.tasks.unknown import UnknownTask

if TYPE_CHECKING:
    from omoide_bench.tasks.base import Task

OWN: dict[str, Task[Any]] = {
    task.name: task
    for task in (
        Msc(),
        CareCall(),
        Locomo(),
        LongMemEval(),
        Dmr(),
        DmrLike(),
        Beam(),
        PersonaMem(),
        MemDaily(),
        MtBenchPlus(),
        MemoryBankQuestions(),
        MemoTasks(),
        JapaneseMemoTasks(),
        RecallProtocol(),
        EvidenceTask(),
        RealPersonas(),
        GrowthTask(),
        GroundedTask(),
        QuietTask(),
        StoriesTask(),
        FriendTask(),
        UnknownTask(),
        NoiseTask(),
        FaultsTask(),
    )
}
TASKS: Registry[Task[Any]] = Registry(Group.TASKS, own=OWN)
"""The tasks of this package and of plug-ins."""
