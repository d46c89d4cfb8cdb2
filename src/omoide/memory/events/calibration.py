"""What a cosine is worth: a monotone map from an embedder's cosines to the paper's relevance.

The threshold of Hou et al. 2024 (k = 0.86) presumes an embedder whose cosines lie at 0.7 to 0.9.
Others give related texts 0.3 to 0.6, by which recall would never fire. So each embedder has a
map, fitted so that the threshold keeps a meaning that can be measured: **an input that has nothing
to do with a store of 100 events brings one of them to mind at 2 % of the times**, when all are
fresh. The other points of the map give other thresholds their rates (`RATES`).

Maps that we measured lie in `calibrations/` and are made by `benchmarks/calibrate.py`. An embedder
without one gets a map from the spread of the user's own data (`fitted_to_background`).
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from math import expm1, log1p
from statistics import NormalDist, fmean, pstdev
from typing import TYPE_CHECKING

from omoide.domain.forgetting import THRESHOLD
from omoide.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.ports import Space

STORE = 100
"""How many events a store has for which the rates are stated."""
TARGET = 0.02
"""Share of unrelated inputs that may bring something to mind at k = 0.86."""
RATES = (
    (0.5, 0.70),
    (0.2, 0.78),
    (0.1, 0.81),
    (0.05, 0.835),
    (TARGET, THRESHOLD),
    (0.01, 0.88),
    (0.005, 0.90),
    (0.002, 0.92),
)
"""A false-recall rate, and the recall probability of a fresh event that stands for it."""
PAIRS = 100
"""How many cosines a map from a user's own data needs."""
WORDS = "words"
"""The name under which the map for the overlap of words lies."""


def relevance_for(probability: float) -> float:
    """The relevance that gives a fresh event this recall probability: eq. 8 at t = 0, solved."""
    return -log1p(probability * expm1(-1))


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A share of so many cases, with its 95 % interval (Wilson)."""

    share: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, hits: int, n: int) -> Rate:
        """`hits` of `n`."""
        z = NormalDist().inv_cdf(0.975)
        share = hits / n if n else 0.0
        wide = 1 + z * z / n if n else 1.0
        middle = (share + z * z / (2 * n)) / wide if n else 0.5
        half = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5 / wide if n else 0.5
        return cls(share=share, low=max(middle - half, 0.0), high=min(middle + half, 1.0), n=n)


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A piecewise linear, never falling map from a raw likeness to relevance."""

    embedder: str
    version: str
    points: tuple[tuple[float, float], ...]
    """Raw likeness and relevance, both rising."""
    n: int
    """How many measurements it rests on."""
    data: str
    """What it was measured on, for a person."""
    languages: tuple[str, ...] = ()
    """Where it holds; empty for everywhere."""
    measured: bool = True
    """False for one guessed from a user's own data."""
    true_recalls: Rate | None = None
    false_recalls: Rate | None = None

    def __post_init__(self) -> None:
        if len(self.points) < 2 or any(
            a[0] >= b[0] or a[1] > b[1] for a, b in pairwise(self.points)
        ):
            raise BadInput(f"the calibration of {self.embedder} does not rise: {self.points}")

    def __call__(self, raw: float) -> float:
        """The relevance of a raw likeness, 0 to 1."""
        first, last = self.points[0], self.points[-1]
        if raw <= first[0]:
            return max(first[1] * raw / first[0], 0.0) if first[0] > 0 else max(first[1], 0.0)
        if raw >= last[0]:
            return last[1]
        i = bisect_right([x for x, _ in self.points], raw)
        (x0, y0), (x1, y1) = self.points[i - 1], self.points[i]
        return y0 + (y1 - y0) * (raw - x0) / (x1 - x0)

    def holds_for(self, language: str) -> bool:
        """Whether its embedder knows the language."""
        return not self.languages or language in self.languages


IDENTITY = Calibration(
    embedder="paper",
    version="",
    points=((0.0, 0.0), (1.0, 1.0)),
    n=0,
    data="the paper's own scale: cosines as they are",
)


@lru_cache(maxsize=16)
def shipped(name: str, version: str) -> Calibration | None:
    """The map we measured for this embedder and version, if there is one."""
    path = files("omoide.memory.events") / "calibrations" / f"{name}.json"
    if not path.is_file():
        return None
    known = read_back(path.read_text("utf-8"))
    return known if known.version == version else None


def of_space(space: Space) -> Calibration | None:
    """The shipped map for an embedder's vectors."""
    return shipped(space.name, space.version)


def fitted(raw: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Points from measurements: for each unrelated input, the raw likeness of the event that is
    likest to it among `STORE` of someone else's."""
    if len(raw) < 100:
        raise BadInput(f"a calibration needs at least 100 unrelated inputs, not {len(raw)}")
    ordered = sorted(raw)
    found = [(_quantile(ordered, 1 - rate), relevance_for(p)) for rate, p in RATES]
    return _rising([*found, (1.0, 1.0)])


def fitted_to_background(
    cosines: Sequence[float], *, space: Space, target: float = TARGET
) -> Calibration:
    """A cautious map from a user's own data, where nothing was measured: the cosines of what they
    said with their events of other sessions.

    Likenesses of unrelated texts lie about normally around their mean. The map puts the threshold
    where the likest of `STORE` events would pass it at the target rate. Some of the pairs are
    related, which makes it a little more silent than it says.
    """
    if len(cosines) < PAIRS:
        raise BadInput(f"a calibration from one's own data needs {PAIRS} pairs, not {len(cosines)}")
    normal = NormalDist(fmean(cosines), max(pstdev(cosines), 0.01))
    scale = target / TARGET
    levels = [
        (min(normal.inv_cdf((1 - min(rate * scale, 0.9)) ** (1 / STORE)), 0.995), relevance_for(p))
        for rate, p in RATES
    ]
    return Calibration(
        embedder=space.name,
        version=space.version,
        points=_rising([*levels, (1.0, 1.0)]),
        n=len(cosines),
        data="what the user said against their events of other sessions; not measured",
        measured=False,
    )


def written(calibration: Calibration) -> str:
    """As the JSON of a file in `calibrations/`."""
    rates = {
        name: None
        if rate is None
        else {k: round(v, 4) for k, v in (("share", rate.share), ("low", rate.low))}
        | {"high": round(rate.high, 4), "n": rate.n}
        for name, rate in (
            ("true_recalls", calibration.true_recalls),
            ("false_recalls", calibration.false_recalls),
        )
    }
    record = {
        "embedder": calibration.embedder,
        "version": calibration.version,
        "languages": list(calibration.languages),
        "threshold": THRESHOLD,
        "target": TARGET,
        "store": STORE,
        "points": [[round(x, 4), round(y, 4)] for x, y in calibration.points],
        "n": calibration.n,
        "data": calibration.data,
        "measured": calibration.measured,
        **rates,
    }
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def read_back(text: str) -> Calibration:
    """A map out of what `written` gave."""
    record = json.loads(text)
    return Calibration(
        embedder=record["embedder"],
        version=record["version"],
        points=tuple((float(x), float(y)) for x, y in record["points"]),
        n=record["n"],
        data=record["data"],
        languages=tuple(record["languages"]),
        measured=record["measured"],
        true_recalls=Rate(**record["true_recalls"]) if record["true_recalls"] else None,
        false_recalls=Rate(**record["false_recalls"]) if record["false_recalls"] else None,
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _rising(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """The points without those that would make the map stand upright."""
    kept: list[tuple[float, float]] = []
    for x, y in points:
        if not kept or x > kept[-1][0] + 1e-6:
            kept.append((x, y))
        else:
            kept[-1] = (kept[-1][0], min(y, kept[-1][1]) if x == 1.0 else y)
    return tuple(kept)
