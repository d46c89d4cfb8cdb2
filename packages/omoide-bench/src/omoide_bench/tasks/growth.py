"""How prompts and latency grow with the number of sessions, for synthetic users.

No data set is needed. After certain numbers of sessions the user repeats something said before.
Measured are the prompt tokens of the reply, the time that memory took, the tokens spent on
digesting a session, and the facts that hold.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.domain import Speaker
from omoide_bench.running.items import ScoredItem
from omoide_bench.tasks.base import Measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from omoide_bench.running.cached_model import CallCost
    from omoide_bench.tasks.base import Sample, Trial

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
STEPS = (1, 2, 5, 10, 20, 50)
TURNS = 8
"""Exchanges per session."""
_THINGS = {
    "garden": ("tomatoes", "a pond", "roses", "a greenhouse", "old apple trees", "herbs"),
    "work": ("a new manager", "night shifts", "a training course", "a move of the office"),
    "family": ("a niece in Porto", "twin nephews", "a wedding in June", "a grandmother of 90"),
    "music": ("the cello", "a choir", "jazz records", "a street festival", "piano lessons"),
    "travel": ("a ferry to Norway", "hiking in the Alps", "a week in Kyoto", "a sleeper train"),
    "food": ("sourdough bread", "a ramen shop", "pickled plums", "a vegetarian month"),
    "sport": ("a half marathon", "swimming at dawn", "a climbing hall", "a broken ankle"),
    "home": ("a leaking roof", "a new kitchen", "a neighbour's dog", "moving to Leeds"),
}
_SAYINGS = (
    "I have been busy with {thing} lately, it takes up most of my {topic} time.",
    "You will not believe it: {thing}! My {topic} life has changed a lot.",
    "My friend {name} told me about {thing}, and now I think of nothing else.",
    "On {day} I finally got round to {thing}; {name} came along to help.",
)
_NAMES = ("Mira", "Tomas", "Aiko", "Jun", "Lan", "Piet", "Rosa", "Sven")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ANSWERS = ("That sounds wonderful.", "Tell me more about it.", "How did {name} like it?")


@dataclass(frozen=True, kw_only=True)
class SimulatedUser:
    """A synthetic user with many sessions."""

    id: str
    sessions: tuple[tuple[Utterance, ...], ...]


class GrowthTask:
    """Prompt tokens, latency and digest tokens against the number of sessions."""

    name = "growth"
    about = "prompt tokens and latency against the number of sessions, with synthetic users"
    source = None
    default_methods: tuple[str, ...] = ("summary", "search", "memos", "human-recall")
    alternatives: tuple[str, ...] = ()
    measures = (
        Measure(name="prompt tokens", about="of a reply", percent=False, better=-1),
        Measure(name="memory ms", about="time that memory took", percent=False, better=-1),
        Measure(
            name="digest tokens",
            about="prompt and answer tokens per session, average so far",
            percent=False,
            better=-1,
        ),
        Measure(
            name="last digest",
            about="prompt and answer tokens of the last session alone",
            percent=False,
            better=-1,
        ),
        Measure(name="facts", about="facts that hold", percent=False, better=0),
    )
    options: Mapping[str, str] = {
        "sessions": "number of sessions (default 50)",
        "users": "number of synthetic users (default 3)",
    }

    def cases(self, data: Path | None, sample: Sample) -> tuple[SimulatedUser, ...]:
        """The synthetic users."""
        del data
        most, users = int(sample.option("sessions", "50")), int(sample.option("users", "3"))
        simulated = [
            _user(f"made-up-{i}", sessions=most, seed=sample.seed + i) for i in range(users)
        ]
        return sample.draw(simulated)

    async def run(self, case: SimulatedUser, trial: Trial) -> list[ScoredItem]:
        """Replay the sessions; at each step, repeat a message of an earlier one."""
        items = []
        async with trial.new_memory(user=case.id, began=START) as under_test:
            spent = 0
            for number, session in enumerate(case.sessions, start=1):
                before = _tokens(trial.model.spent)
                await under_test.replay([session])
                last_digest = _tokens(trial.model.spent) - before
                spent += last_digest
                if number not in STEPS and number != len(case.sessions):
                    continue
                question = case.sessions[(number - 1) // 2][0].text
                last = session[-1].time or START
                began = time.perf_counter()
                await under_test.recall_for(question, at=last + timedelta(hours=1))
                waited = time.perf_counter() - began
                answer = await under_test.would_reply(question, at=last + timedelta(hours=1))
                items.append(
                    ScoredItem(
                        id=f"{case.id}/{number}",
                        cluster=case.id,
                        group=f"{number} sessions",
                        scores={
                            "prompt tokens": float(answer.completion.prompt_tokens),
                            "memory ms": 1000 * waited,
                            "digest tokens": spent / number,
                            "last digest": float(last_digest),
                            "facts": float(len(await under_test.memory.facts(case.id))),
                        },
                        prompt_tokens=answer.completion.prompt_tokens,
                        completion_tokens=answer.completion.completion_tokens,
                    )
                )
        return items

    def whole(self, items: Sequence[ScoredItem]) -> Mapping[str, Mapping[str, float]]:
        """No corpus-level measures."""
        del items
        return {}


def _tokens(spent: CallCost) -> int:
    return spent.prompt_tokens + spent.completion_tokens


def _user(name: str, *, sessions: int, seed: int) -> SimulatedUser:
    dice = random.Random(seed)  # noqa: S311 - a seeded story, not a secret
    return SimulatedUser(
        id=name,
        sessions=tuple(
            _session(dice, number, START + timedelta(days=3 * number)) for number in range(sessions)
        ),
    )


def _session(dice: random.Random, number: int, began: datetime) -> tuple[Utterance, ...]:
    utterances: list[Utterance] = []
    for exchange in range(TURNS):
        topic = dice.choice(sorted(_THINGS))
        filled = {
            "topic": topic,
            "thing": dice.choice(_THINGS[topic]),
            "name": dice.choice(_NAMES),
            "day": dice.choice(_DAYS),
        }
        for speaker, saying in (
            (Speaker.USER, dice.choice(_SAYINGS)),
            (Speaker.ASSISTANT, dice.choice(_ANSWERS)),
        ):
            utterances.append(
                Utterance(
                    speaker=speaker,
                    text=saying.format(**filled),
                    id=f"{number}.{exchange}.{speaker.value}",
                    time=began + timedelta(minutes=exchange),
                )
            )
    return tuple(utterances)
