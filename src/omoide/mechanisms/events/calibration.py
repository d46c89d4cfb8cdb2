"""Calibration: a monotone map from an embedder's cosines to the paper's relevance.

The threshold of Hou et al. 2024 (k = 0.86) assumes an embedder with cosines of 0.7 to 0.9. Others
give related texts 0.3 to 0.6, so that nothing would ever be recalled. So each embedder has a map,
fitted so that the threshold has a measurable meaning: **an input unrelated to a store of 100 fresh
events recalls one of them in 2 % of the cases**. The other points of the map set the rates of
other thresholds (`RATES`).

The maps we measured are in `calibrations/`, made by `benchmarks/calibrate.py`. For an embedder
without one, a map is estimated from the spread of the user's own data (`fit_to_background`).
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
"""Number of events in the store for which the rates are stated."""
TARGET = 0.02
"""Share of unrelated inputs that may recall something at k = 0.86."""
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
"""False-recall rates, each with the corresponding recall probability of a fresh event."""
PAIRS = 100
"""Minimum number of cosines for a map from a user's own data."""
WORDS = "words"
"""Name of the map for word overlap."""


def relevance_for(probability: float) -> float:
    """The relevance that gives a fresh event this recall probability: eq. 8 at t = 0, solved."""
    return -log1p(probability * expm1(-1))


@dataclass(frozen=True, kw_only=True)
class HitRate:
    """A share of n cases, with its 95 % interval (Wilson)."""

    share: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, hits: int, n: int) -> HitRate:
        """The rate of `hits` in `n` cases."""
        z = NormalDist().inv_cdf(0.975)
        share = hits / n if n else 0.0
        wide = 1 + z * z / n if n else 1.0
        middle = (share + z * z / (2 * n)) / wide if n else 0.5
        half = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5 / wide if n else 0.5
        return cls(share=share, low=max(middle - half, 0.0), high=min(middle + half, 1.0), n=n)


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A piecewise linear, monotone map from raw similarity to relevance."""

    embedder: str
    version: str
    points: tuple[tuple[float, float], ...]
    """Raw similarity and relevance, both increasing."""
    n: int
    """Number of measurements."""
    data: str
    """What it was measured on, for people to read."""
    languages: tuple[str, ...] = ()
    """Languages it is valid for; empty for all."""
    measured: bool = True
    """False if it was estimated from a user's own data."""
    true_recalls: HitRate | None = None
    false_recalls: HitRate | None = None

    def __post_init__(self) -> None:
        if len(self.points) < 2 or any(
            a[0] >= b[0] or a[1] > b[1] for a, b in pairwise(self.points)
        ):
            raise BadInput(
                f"the calibration of {self.embedder} needs at least 2 increasing points, "
                f"got {self.points}"
            )

    def __call__(self, raw: float) -> float:
        """The relevance of a raw similarity, 0 to 1."""
        first, last = self.points[0], self.points[-1]
        if raw <= first[0]:
            return max(first[1] * raw / first[0], 0.0) if first[0] > 0 else max(first[1], 0.0)
        if raw >= last[0]:
            return last[1]
        i = bisect_right([x for x, _ in self.points], raw)
        (x0, y0), (x1, y1) = self.points[i - 1], self.points[i]
        return y0 + (y1 - y0) * (raw - x0) / (x1 - x0)

    def holds_for(self, language: str) -> bool:
        """Whether it is valid for the language."""
        return not self.languages or language in self.languages


IDENTITY = Calibration(
    embedder="paper",
    version="",
    points=((0.0, 0.0), (1.0, 1.0)),
    n=0,
    data="the paper's own scale: cosines as they are",
)


@lru_cache(maxsize=16)
def shipped_calibration(name: str, version: str) -> Calibration | None:
    """The map we measured for this embedder and version; None if there is none."""
    path = files("omoide.mechanisms.events") / "calibrations" / f"{name}.json"
    if not path.is_file():
        return None
    known = from_json_object(path.read_text("utf-8"))
    return known if known.version == version else None


def calibration_for(space: Space) -> Calibration | None:
    """The shipped map for an embedder's vectors."""
    return shipped_calibration(space.name, space.version)


def fit_to_background(
    cosines: Sequence[float], *, space: Space, target: float = TARGET
) -> Calibration:
    """Estimate a cautious map from a user's own data if nothing was measured: from the cosines of
    what they said with their events of other sessions.

    Similarities of unrelated texts are roughly normally distributed. The map puts the threshold
    where the most similar of `STORE` events would pass it at the target rate. Some of the pairs
    are related, so it recalls a little less than stated.
    """
    if len(cosines) < PAIRS:
        raise BadInput(
            f"a calibration from a user's own data needs {PAIRS} pairs, not {len(cosines)}"
        )
    normal = NormalDist(fmean(cosines), max(pstdev(cosines), 0.01))
    scale = target / TARGET
    levels = [
        (min(normal.inv_cdf((1 - min(rate * scale, 0.9)) ** (1 / STORE)), 0.995), relevance_for(p))
        for rate, p in RATES
    ]
    return Calibration(
        embedder=space.name,
        version=space.version,
        points=increasing([*levels, (1.0, 1.0)]),
        n=len(cosines),
        data="what the user said against their events of other sessions; not measured",
        measured=False,
    )


def to_json_object(calibration: Calibration) -> str:
    """The JSON text of a file in `calibrations/`."""
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


def from_json_object(text: str) -> Calibration:
    """Parse what `to_json_object` wrote."""
    record = json.loads(text)
    return Calibration(
        embedder=record["embedder"],
        version=record["version"],
        points=tuple((float(x), float(y)) for x, y in record["points"]),
        n=record["n"],
        data=record["data"],
        languages=tuple(record["languages"]),
        measured=record["measured"],
        true_recalls=HitRate(**record["true_recalls"]) if record["true_recalls"] else None,
        false_recalls=HitRate(**record["false_recalls"]) if record["false_recalls"] else None,
    )


def increasing(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """The points without those that would make the map vertical."""
    kept: list[tuple[float, float]] = []
    for x, y in points:
        if not kept or x > kept[-1][0] + 1e-6:
            kept.append((x, y))
        else:
            kept[-1] = (kept[-1][0], min(y, kept[-1][1]) if x == 1.0 else y)
    return tuple(kept)
