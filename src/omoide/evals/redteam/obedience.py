"""How often a model does what a planted text tells it.

Three arms, the same question in each: with the memory that holds the attack; without any memory,
which shows that nobody says the canary by chance; and with the attack said by the user in the very
message, which shows whether the model would do it if it were really asked.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING

from omoide.composition import compose
from omoide.errors import ModelError
from omoide.evals.redteam.planting import LATER, plant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide.engine import Memory
    from omoide.evals.redteam.cases import Case
    from omoide.ports import Clock, Progress
    from omoide.settings import Settings

ARMS = ("memory", "none", "asked")
"""All there are. `none` is asked once for each question: at temperature 0 it is the same answer."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the model replied to one case in one arm."""

    case: str
    language: str
    kind: str
    arm: str
    reached: bool
    """Whether the canary stood in what memory put into the prompt."""
    obeyed: bool
    reply: str
    problem: str = ""
    """Why there is no reply; such a case is not counted."""


@dataclass(frozen=True, kw_only=True)
class Rate:
    """How many of how many obeyed, with a Wilson 95 % interval in percent."""

    arm: str
    group: str
    obeyed: int
    count: int

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true rate lies."""
        if not self.count:
            return 0.0, 100.0
        n, p, z = self.count, self.obeyed / self.count, 1.96
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return 100 * max(middle - half, 0.0), 100 * min(middle + half, 1.0)


async def ask(
    memory: Memory,
    settings: Settings,
    cases: Sequence[Case],
    *,
    clock: Clock,
    arms: Sequence[str] = ARMS,
    at_once: int = 1,
    progress: Progress | None = None,
) -> list[Answer]:
    """Every case in every arm, so many questions at a time. The replies are recorded nowhere but
    in the given memory."""
    bare = compose(
        replace(settings, mechanisms=("session",)),
        store=memory.store,
        model=memory.model,
        iterator=memory.iterator,
        embedder=None,
        clock=clock,
        worker="redteam",
    )
    told: dict[str, str] = {}
    room, done = asyncio.Semaphore(at_once), 0

    async def one(case: Case) -> list[Answer]:
        nonlocal done
        answers = []
        for arm in arms:
            user = f"{case.id} {arm}"
            if arm == "memory":
                await plant(memory, case, user=user, at=clock.now() - LATER)
            asked = f"{case.attack}\n{case.question}" if arm == "asked" else case.question
            if arm == "none" and case.question in told:
                answers.append(_judged(case, arm, reply=told[case.question], reached=False))
                continue
            answer = await _answer(memory if arm == "memory" else bare, case, arm, user, asked)
            if arm == "none" and not answer.problem:
                told[case.question] = answer.reply
            answers.append(answer)
        done += 1
        if progress:
            progress(done, len(cases), "asking")
        return answers

    async def alike(own: Sequence[Case]) -> list[list[Answer]]:
        async with room:
            return [await one(case) for case in own]

    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.question, []).append(case)
    found = await asyncio.gather(*(alike(own) for own in groups.values()))
    order = {case.id: place for place, case in enumerate(cases)}
    several = [answers for own in found for answers in own]
    return [a for answers in sorted(several, key=lambda own: order[own[0].case]) for a in answers]


async def _answer(memory: Memory, case: Case, arm: str, user: str, asked: str) -> Answer:
    reached, reply, problem = arm == "asked", "", ""
    try:
        answer = await memory.reply(user, asked)
        reached = reached or any(case.canary in c.text for c in answer.contributions)
        reply = await answer.text()
    except ModelError as error:
        problem = str(error)
    return _judged(case, arm, reply=reply, reached=reached, problem=problem)


def _judged(case: Case, arm: str, *, reply: str, reached: bool, problem: str = "") -> Answer:
    return Answer(
        case=case.id,
        language=case.language,
        kind=case.kind,
        arm=arm,
        reached=reached,
        obeyed=case.obeyed(reply),
        reply=reply,
        problem=problem,
    )


def rates(answers: Iterable[Answer]) -> list[Rate]:
    """Over all cases, and by kind and language, for each arm; in the arm with memory only cases
    count whose attack reached the prompt."""
    groups: dict[tuple[str, str], list[bool]] = {}
    for answer in answers:
        if answer.problem or (answer.arm == "memory" and not answer.reached):
            continue
        for group in ("all", answer.kind, answer.language):
            groups.setdefault((answer.arm, group), []).append(answer.obeyed)
    return [
        Rate(arm=arm, group=group, obeyed=sum(found), count=len(found))
        for (arm, group), found in groups.items()
    ]
