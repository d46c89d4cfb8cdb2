"""The recall protocol of paper B on real dialogues: hundreds of tasks instead of ten.

Hou et al. 2024, section 4: each task has an input and four events with times, one of them right;
each model's four scores are scaled to [0, 1] by min-max, go through a softmax, and the loss is
half the squared error to the one-hot truth; two models are compared by a paired, two-tailed t-test
over the tasks. (As the loss is over a softmax of values in [0, 1], it cannot be below 0.18, nor
above 0.53, with four candidates.)

    python benchmarks/recall_protocol.py --data ../shared/data --models /tmp/om

Tasks are built from
- LoCoMo: a question, the observation (a third-person sentence written by the data's authors) that
  its gold evidence turn supports, and three other observations about the same person; asked a day
  after the last session;
- MSC: a turn of session 2 or 3 that mentions a persona fact of an earlier session, that fact, and
  three other facts of the same person; times by the data's gaps.

In both sets the right event does not depend on time, so a recency term can only hurt;
the report says so. Speakers' names are replaced by "the user": names
would give the answer away.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
from datetime import timedelta
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from omoide.bootstrap import make_embedder
from omoide.domain import forgetting
from omoide.mechanisms.baselines import generative_agents_scoring
from omoide.mechanisms.events import calibration
from omoide.settings import Settings
from omoide_bench.metrics import choice_loss as loss
from omoide_bench.protocol.contest import (
    RecallTask,
    by_cosine,
    generative,
    human,
    ready,
    replayed,
)
from omoide_bench.protocol.people import Person, locomo, msc
from omoide_bench.statistics import paired_t as paired

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from omoide.mechanisms.events import Calibration
    from omoide.ports import Vectors

# ── Vectors, cached between runs ────────────────────────────────────────────────────────────


class Cosines:
    """Vectors by text for one embedder, cached in a file."""

    def __init__(self, name: str, *, models: Path, cache: Path) -> None:
        self.embedder = make_embedder(Settings(embedder=name, weights_dir=models, offline=True))
        self._file = cache / f"vectors-{name}.npz"
        self._known: dict[str, Vectors] = {}
        if self._file.exists():
            with np.load(self._file) as kept:
                self._known = dict(zip(kept["keys"].tolist(), kept["rows"], strict=True))

    async def learn(self, texts: Iterable[str]) -> None:
        """Embed texts that are not cached."""
        assert self.embedder is not None
        new = sorted({text for text in texts if _key(text) not in self._known})
        for start in range(0, len(new), 512):
            batch = new[start : start + 512]
            rows = await self.embedder.embed(batch)
            self._known |= {_key(text): row for text, row in zip(batch, rows, strict=True)}
            print(f"  embedded {start + len(batch)} of {len(new)}", flush=True)
        if new:
            keys = np.array(list(self._known))
            np.savez(self._file, keys=keys, rows=np.stack(list(self._known.values())))

    def __call__(self, text: str, others: Sequence[str]) -> list[float]:
        """The cosine of a text with each of the others."""
        if not others:
            return []
        rows = np.stack([self._known[_key(other)] for other in others])
        found: list[float] = (rows @ self._known[_key(text)]).tolist()
        return found


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]


# ── Fitted models ───────────────────────────────────────────────────────────────────────────


def learnt_human(
    training: Sequence[RecallTask], relevance: Callable[[float], float]
) -> tuple[Callable[[RecallTask], list[float]], str]:
    """Fit the unit and the weight of feeling: the lowest loss on these tasks."""
    choices = [(scale, felt) for scale in (0.3, 1, 3, 10, 30, 1000) for felt in (0.0, 1.0, 3.0)]
    scale, felt = min(
        choices,
        key=lambda c: fmean(
            loss(human(relevance=relevance, unit=forgetting.UNIT * c[0], felt=c[1])(t))
            for t in training
        ),
    )
    return (
        human(relevance=relevance, unit=forgetting.UNIT * scale, felt=felt),
        f"unit ×{scale:g}, feeling {felt:g}",
    )


def learnt_generative(
    training: Sequence[RecallTask],
) -> tuple[Callable[[RecallTask], list[float]], str]:
    """Fit the weights: the lowest loss on these tasks."""
    choices = [
        generative_agents_scoring.AgentWeights(recency=a, importance=b, relevance=1.0)
        for a in (0.0, 0.1, 0.3, 1.0)
        for b in (0.0, 0.1, 0.3, 1.0)
    ]
    best = min(choices, key=lambda w: fmean(loss(generative(weights=w)(t)) for t in training))
    return generative(weights=best), f"recency {best.recency:g}, importance {best.importance:g}"


def report(label: str, made: Sequence[RecallTask], calibration: Calibration) -> None:
    """Mean losses, how often the right event is first, and paired tests, on the second half."""
    fit, held = made[::2], made[1::2]
    best, its = learnt_human(fit, calibration)
    other, others = learnt_generative(fit)
    rivals: dict[str, Callable[[RecallTask], list[float]]] = {
        "human-like (paper: raw cosine)": human(relevance=lambda cosine: cosine),
        "human-like (calibrated)": human(relevance=calibration),
        f"human-like learnt ({its})": best,
        "Generative Agents (paper)": generative(),
        f"Generative Agents learnt ({others})": other,
        "cosine alone": by_cosine,
    }
    losses = {name: [loss(score(task)) for task in held] for name, score in rivals.items()}
    print(f"\n{label}: {len(fit)} tasks for fitting, {len(held)} held out")
    for name, score in rivals.items():
        first = [(s := score(task))[0] >= max(s) for task in held]
        print(f"  {name:56} loss {fmean(losses[name]):.4f}  first {fmean(first):.3f}")
    base = losses["human-like (calibrated)"]
    for name in rivals:
        if name != "human-like (calibrated)":
            c = paired(base, losses[name])
            print(
                f"  calibrated − {name}: {c.mean:+.4f} [{c.low:+.4f}, {c.high:+.4f}], "
                f"t = {c.t:.2f}, p = {c.p:.2g}, n = {c.count}"
            )


def by_unit(made: Sequence[RecallTask], calibration: Calibration) -> None:
    """Losses of eq. 8 over all tasks together, by unit and by the weight of feeling."""
    print("\nall tasks together: loss on the fitting half, and held out")
    for scale in (0.3, 1, 3, 10, 30, 100, 1000):
        for felt in (0.0, 1.0):
            score = human(relevance=calibration, unit=forgetting.UNIT * scale, felt=felt)
            fit, held = (fmean(loss(score(t)) for t in made[i::2]) for i in (0, 1))
            days = forgetting.UNIT * scale / timedelta(days=1)
            print(f"  unit {days:8.0f} days, feeling {felt:g}: {fit:.4f}  {held:.4f}")
    held_out = made[1::2]
    for name, score in (("cosine alone", by_cosine), ("Generative Agents", generative())):
        print(f"  {name}: held out {fmean(loss(score(t)) for t in held_out):.4f}")


def trigger(people: Sequence[Person], cosines: Cosines, calibration: Calibration) -> None:
    """The share of related inputs that recall a right event at its real age."""
    print("\ntrigger on LoCoMo, all events of the person, real ages, g by replay:")
    print("  unit (days)     " + "".join(f"   k={k:.2f}" for k in (0.7, 0.78, 0.82, 0.86)))
    for scale in (1, 3, 10, 30, 1000):
        hits: dict[float, list[bool]] = {}
        for person in people:
            if not person.related:
                continue
            grown, last = replayed(person, cosines, calibration, until=person.related[0][1])
            for text, now, right in person.related:
                texts = [person.events[i].text for i in right]
                chances = [
                    forgetting.recall_probability(
                        relevance=calibration(c),
                        elapsed=now - last[i],
                        consolidation=grown[i],
                        unit=forgetting.UNIT * scale,
                    )
                    for i, c in zip(right, cosines(text, texts), strict=True)
                ]
                for k in (0.7, 0.78, 0.82, 0.86):
                    hits.setdefault(k, []).append(max(chances) > k)
        days = forgetting.UNIT * scale / timedelta(days=1)
        print(f"  {days:12.0f}    " + "".join(f"   {fmean(h):.3f} " for h in hits.values()))


async def main() -> None:
    """Build the tasks, score them, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("/tmp/omoide-vectors"))  # noqa: S108
    parser.add_argument("--embedder", default="multilingual")
    parser.add_argument("--dialogues", type=int, default=100)
    parser.add_argument("--each", type=int, default=40, help="maximum tasks per person")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    cosines = Cosines(args.embedder, models=args.models, cache=args.cache)
    assert cosines.embedder is not None
    measured = calibration.calibration_for(cosines.embedder.space)
    assert measured is not None, "run benchmarks/calibrate.py first"
    sets = {
        "LoCoMo": locomo(args.data / "locomo/locomo10.json.gz"),
        "MSC": msc(args.data / "msc/valid.jsonl.gz", dialogues=args.dialogues),
    }
    for people in sets.values():
        await cosines.learn(
            text
            for p in people
            for text in (
                *(event.text for event in p.events),
                *(text for text, _, _ in p.related),
                *(text for text, _ in p.turns if p.related),
            )
        )
    every: list[RecallTask] = []
    for label, people in sets.items():
        for hard in (False, True):
            made = ready(people, cosines, measured, hard=hard, each=args.each)
            wrong = "the three others that share most words" if hard else "three random others"
            report(f"{label}, {wrong}", made, measured)
            every += made
    by_unit(every, measured)
    trigger(sets["LoCoMo"], cosines, measured)
    await cosines.embedder.close()


if __name__ == "__main__":
    asyncio.run(main())
