"""Fits the map from cosine to relevance for each embedder, and measures it on held-out people.

    python benchmarks/calibrate.py --data ../shared/data --models /tmp/om [NAME…]

Unrelated: a real turn of one person (MSC valid, LoCoMo) against 100 events of other people (MSC
persona facts, LoCoMo observations, both in the third person), without those that the turn
happens to mention by the same rule that makes a pair related. Related: an MSC turn that mentions
a persona fact of an earlier session, and a LoCoMo question with the observation on its gold
evidence. The map is fitted on half of the people; the rates in the file are
measured on the other half.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recall_protocol import Cosines

from omoide.domain import forgetting
from omoide.errors import BadInput
from omoide.mechanisms.events import Calibration, calibration, word_similarity
from omoide_bench.protocol.people import Person, locomo, mentions, msc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import timedelta

    Similarity = Callable[[str, Sequence[str]], Sequence[float]]

LANGUAGES = {"multilingual": ("en", "zh", "ja", "ko"), "minilm": ("en",), "gte-small": ("en",)}
OUT = Path(__file__).parent.parent / "src/omoide/mechanisms/events/calibrations"


@dataclass(frozen=True, kw_only=True)
class Unrelated:
    """An input and unrelated events of other people."""

    text: str
    events: tuple[str, ...]


def unrelated(people: Sequence[Person], *, n: int, seed: int) -> list[Unrelated]:
    """Real turns, each with events of as many other people as needed."""
    dice = random.Random(seed)  # noqa: S311 - a seeded choice, not a secret
    found = []
    while len(found) < n:
        person = dice.choice(people)
        text, _ = dice.choice(person.turns)
        store: list[str] = []
        while len(store) < calibration.STORE:
            other = dice.choice(people)
            if other.key.split("/")[0] != person.key.split("/")[0]:
                store += [e.text for e in other.events if not mentions(text, e.text)]
        found.append(Unrelated(text=text, events=tuple(dice.sample(store, calibration.STORE))))
    return found


def halves(people: Sequence[Person]) -> tuple[list[Person], list[Person]]:
    """Split whole dialogues into two halves, alternating."""
    keys = sorted({person.key.split("/")[0] for person in people})
    first = set(keys[::2])
    return (
        [p for p in people if p.key.split("/")[0] in first],
        [p for p in people if p.key.split("/")[0] not in first],
    )


def fires(calibration: Calibration, raw: float, elapsed: timedelta | None = None) -> bool:
    """Whether a fresh event with this cosine is recalled."""
    from datetime import timedelta as duration

    p = forgetting.recall_probability(
        relevance=calibration(raw), elapsed=elapsed or duration(), consolidation=1.0
    )
    return p > forgetting.THRESHOLD


def fit_points(raw: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Fit points to measurements: for each unrelated input, its raw similarity with the most
    similar of `calibration.STORE` events of someone else."""
    if len(raw) < 100:
        raise BadInput(f"a calibration needs at least 100 unrelated inputs, not {len(raw)}")
    ordered = sorted(raw)
    levels = ((_quantile(ordered, 1 - rate), p) for rate, p in calibration.RATES)
    points = [(x, calibration.relevance_for(p)) for x, p in levels]
    return calibration.increasing([*points, (1.0, 1.0)])


def report(
    name: str,
    version: str,
    similarity: Similarity,
    *,
    sets: dict[str, list[Person]],
    languages: tuple[str, ...],
    n: int,
) -> Calibration:
    """Fit on one half, measure on the other, and print both."""
    fit = [u for people in sets.values() for u in unrelated(halves(people)[0], n=n, seed=1)]
    test = [u for people in sets.values() for u in unrelated(halves(people)[1], n=n, seed=2)]
    background = [max(similarity(u.text, u.events)) for u in fit]
    plain = Calibration(
        embedder=name,
        version=version,
        points=fit_points(background),
        n=len(fit),
        data="",
    )
    false = [fires(plain, max(similarity(u.text, u.events))) for u in test]
    true: dict[str, list[bool]] = {}
    first: dict[str, list[bool]] = {}
    for label, people in sets.items():
        for person in halves(people)[1]:
            for text, now, right in person.related:
                known = [i for i, e in enumerate(person.events) if e.time <= now]
                raw = similarity(text, [person.events[i].text for i in known])
                best = max(raw[known.index(i)] for i in right if i in known)
                true.setdefault(label, []).append(fires(plain, best))
                first.setdefault(label, []).append(best >= max(raw))
    every = [hit for hits in true.values() for hit in hits]
    result = Calibration(
        embedder=name,
        version=version,
        points=plain.points,
        n=len(fit),
        data="MSC valid and LoCoMo, half of the people; rates on the other half: "
        + "; ".join(
            f"{label}: {sum(hits)}/{len(hits)} related recalled, {sum(first[label])} ranked first"
            for label, hits in true.items()
        ),
        languages=languages,
        true_recalls=calibration.HitRate.of(sum(every), len(every)),
        false_recalls=calibration.HitRate.of(sum(false), len(false)),
    )
    print(f"{name} {version}: points {[(round(x, 3), round(y, 3)) for x, y in result.points]}")
    print(f"  false recalls {result.false_recalls}\n  true recalls  {result.true_recalls}")
    print(f"  {result.data}")
    return result


async def main() -> None:
    """Fit and write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*LANGUAGES, calibration.WORDS])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("/tmp/omoide-vectors"))  # noqa: S108
    parser.add_argument("--dialogues", type=int, default=100)
    parser.add_argument(
        "--n", type=int, default=1000, help="unrelated inputs per half and data set"
    )
    parser.add_argument("--dry", action="store_true", help="print only, write no files")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    sets = {
        "msc": msc(args.data / "msc/valid.jsonl.gz", dialogues=args.dialogues),
        "locomo": locomo(args.data / "locomo/locomo10.json.gz"),
    }
    for name in args.names:
        if name == calibration.WORDS:
            made = report(
                calibration.WORDS,
                "1",
                word_similarity,
                sets=sets,
                languages=(),
                n=min(args.n, 400),
            )
        else:
            cosines = Cosines(name, models=args.models, cache=args.cache)
            assert cosines.embedder is not None
            await cosines.learn(_texts(sets, n=args.n))
            space = cosines.embedder.space
            made = report(
                space.name, space.version, cosines, sets=sets, languages=LANGUAGES[name], n=args.n
            )
            await _own_background(made, cosines, sets)
            await cosines.embedder.close()
        if not args.dry:
            OUT.mkdir(exist_ok=True)
            (OUT / f"{made.embedder}.json").write_text(calibration.to_json_object(made))


def _quantile(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def _texts(sets: dict[str, list[Person]], *, n: int) -> set[str]:
    """The texts to embed: all events and related inputs, and the sampled turns."""
    wanted = {event.text for people in sets.values() for p in people for event in p.events}
    wanted |= {text for people in sets.values() for p in people for text, _, _ in p.related}
    for people in sets.values():
        for half, seed in zip(halves(people), (1, 2), strict=True):
            wanted |= {u.text for u in unrelated(half, n=n, seed=seed)}
    return wanted


async def _own_background(
    made: Calibration, cosines: Cosines, sets: dict[str, list[Person]], size: int = 60
) -> None:
    """For comparison, the rates of a calibration guessed from one person's own data."""
    assert cosines.embedder is not None
    false, true = [], []
    tests = [u for p in sets.values() for u in unrelated(halves(p)[1], n=100, seed=3)]
    drawn = {u.text for u in unrelated(halves(sets["locomo"])[1], n=1000, seed=2)}
    await cosines.learn(u.text for u in tests)
    for person in halves(sets["locomo"])[1]:
        known = person.events[:size]
        said = [(text, time) for text, time in person.turns if text in drawn]
        pairs = [
            cosine
            for text, time in said
            for cosine, event in zip(cosines(text, [e.text for e in known]), known, strict=True)
            if event.time != time
        ]
        guess = calibration.fit_to_background(pairs, space=cosines.embedder.space)
        false += [fires(guess, max(cosines(u.text, u.events))) for u in tests]
        for text, _, right in person.related:
            best = max(cosines(text, [person.events[i].text for i in right]))
            true.append(fires(guess, best))
    wrong, right = (calibration.HitRate.of(sum(found), len(found)) for found in (false, true))
    print(
        f"  guessed from own turns and events ({size}): false {wrong}"
        f"\n    true (LoCoMo) {right}; target {calibration.TARGET}"
    )


if __name__ == "__main__":
    asyncio.run(main())
