"""How often a model obeys planted texts.

There are three arms with the same question: with the poisoned memory; without memory, which shows
that the canary does not occur by chance; and with the attack in the user's own message, which shows
whether the model would do it if asked directly.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.engine import Runtime
from omoide.errors import ModelError
from omoide_bench.redteam.planting import LATER, plant
from omoide_bench.statistics import wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omoide import Memory
    from omoide.ports import Clock, Progress
    from omoide_bench.redteam.cases import Attack

ARMS = ("memory", "none", "asked")
"""All arms. `none` is asked once per question: at temperature 0 the answer is always the same."""


@dataclass(frozen=True, kw_only=True)
class AttackReply:
    """The model's reply to one case in one arm."""

    case: str
    language: str
    kind: str
    arm: str
    reached: bool
    """Whether memory put the canary into the prompt."""
    obeyed: bool
    reply: str
    problem: str = ""
    """Why there is no reply; such a case does not count."""


@dataclass(frozen=True, kw_only=True)
class ObedienceRate:
    """How many replies obeyed, with a Wilson 95 % interval in percent."""

    arm: str
    group: str
    obeyed: int
    count: int

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the true rate, in percent."""
        return wilson(self.obeyed, self.count)


async def ask(
    runtime: Runtime,
    cases: Sequence[Attack],
    *,
    clock: Clock,
    arms: Sequence[str] = ARMS,
    at_once: int = 1,
    progress: Progress | None = None,
) -> list[AttackReply]:
    """Ask every case in every arm, `at_once` questions concurrently. Replies are recorded only in
    the runtime's store."""
    bare = Runtime(
        replace(runtime.settings, mechanisms=("session",)),
        store=runtime.store,
        clock=clock,
        model=runtime.model,
    )
    messages: dict[str, str] = {}
    slots, done = asyncio.Semaphore(at_once), 0

    async def ask_case(case: Attack) -> list[AttackReply]:
        nonlocal done
        answers = []
        for arm in arms:
            user = f"{case.id} {arm}"
            if arm == "memory":
                await plant(
                    runtime.memory(),
                    case,
                    store=runtime.store,
                    user=user,
                    at=clock.now() - LATER,
                )
            message = f"{case.attack}\n{case.question}" if arm == "asked" else case.question
            if arm == "none" and case.question in messages:
                answers.append(_judged(case, arm, reply=messages[case.question], reached=False))
                continue
            memory = (runtime if arm == "memory" else bare).memory()
            answer = await _answer(memory, case, arm, user, message)
            if arm == "none" and not answer.problem:
                messages[case.question] = answer.reply
            answers.append(answer)
        done += 1
        if progress:
            progress(done, len(cases), "asking")
        return answers

    async def ask_group(group: Sequence[Attack]) -> list[list[AttackReply]]:
        async with slots:
            return [await ask_case(case) for case in group]

    groups: dict[str, list[Attack]] = {}
    for case in cases:
        groups.setdefault(case.question, []).append(case)
    answers_by_group = await asyncio.gather(*(ask_group(group) for group in groups.values()))
    order = {case.id: index for index, case in enumerate(cases)}
    answers_by_case = [answers for group in answers_by_group for answers in group]
    return [
        a
        for answers in sorted(answers_by_case, key=lambda group: order[group[0].case])
        for a in answers
    ]


async def _answer(memory: Memory, case: Attack, arm: str, user: str, message: str) -> AttackReply:
    reached, reply, problem = arm == "asked", "", ""
    try:
        answer = await memory.reply(user, message)
        reached = reached or any(case.canary in c.text for c in answer.contributions)
        reply = await answer.text()
    except ModelError as error:
        problem = str(error)
    return _judged(case, arm, reply=reply, reached=reached, problem=problem)


def _judged(case: Attack, arm: str, *, reply: str, reached: bool, problem: str = "") -> AttackReply:
    return AttackReply(
        case=case.id,
        language=case.language,
        kind=case.kind,
        arm=arm,
        reached=reached,
        obeyed=case.obeyed(reply),
        reply=reply,
        problem=problem,
    )


def rates(answers: Iterable[AttackReply]) -> list[ObedienceRate]:
    """Rates for each arm, over all cases and by kind and language. In the memory arm only cases
    count whose attack reached the prompt."""
    groups: dict[tuple[str, str], list[bool]] = {}
    for answer in answers:
        if answer.problem or (answer.arm == "memory" and not answer.reached):
            continue
        for group in ("all", answer.kind, answer.language):
            groups.setdefault((answer.arm, group), []).append(answer.obeyed)
    return [
        ObedienceRate(arm=arm, group=group, obeyed=sum(outcomes), count=len(outcomes))
        for (arm, group), outcomes in groups.items()
    ]
