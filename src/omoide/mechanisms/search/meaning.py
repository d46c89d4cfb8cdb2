"""The evidence of meaning: the cosine of each turn with the query, and what neighbours add.

A store may estimate the cosines of very many turns (`SearchData.exact`). That is near enough to
tell the turns that cannot be among the best; those that may be are compared exactly, with their
neighbours. By how much estimates are off in general, a sample of turns tells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING

from omoide.mechanisms.search.table_shape import KERNEL, SHIFTS

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from omoide.mechanisms.search.table_shape import TableShape
    from omoide.ports.store import SearchData

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

BEST = 200
"""How many of the turns with the best scores by estimate are compared exactly."""
NEAREST = 50
"""How many of those with the best cosines are: the best of all tells what memory knows."""
SAMPLE = 1500
"""How many turns tell by how much the estimates are off."""
_HALF = 0.5


@dataclass(frozen=True, kw_only=True)
class CosineSpread:
    """How the cosines of an owner's turns with a query are spread."""

    mean: float
    deviation: float
    best: float


@dataclass(frozen=True, kw_only=True, eq=False)
class MeaningEvidence:
    """What the meaning of a query tells about each turn."""

    own: Floats
    """The cosine of each turn in standard deviations."""
    near: Floats
    """What neighbours add to it."""
    spread: CosineSpread


def weigh_meaning(data: SearchData, shape: TableShape, strength: float) -> MeaningEvidence | None:
    """Cosines in standard deviations, and half of the neighbours' by `strength`, fading with
    distance. A turn without a vector yet gets the mean. None if there are no vectors."""
    import numpy as np

    cosines = data.cosines
    if cosines is None or not len(cosines):
        return None
    known, missing = cosines, None
    mean = float(known.mean())
    if isnan(mean):  # some turns have no vector yet, or all
        missing = np.isnan(cosines)
        known = cosines[~missing]
        if not len(known):
            return None
        mean = float(known.mean())
    variance = float(known @ known) / len(known) - mean * mean
    if data.exact is not None:
        mean, variance = _corrected(mean, variance, cosines=cosines, exact=data.exact)
    deviation = max(variance, 1e-9) ** 0.5
    score = cosines - np.float32(mean)
    score /= np.float32(deviation)
    if missing is not None:
        score[missing] = 0
    near, part = np.zeros_like(score), np.empty_like(score)
    for distance, (share, same) in enumerate(zip(KERNEL, shape.beside, strict=False), start=1):
        scaled = np.float32(_HALF * strength * share) * score
        near[:-distance] += np.multiply(same, scaled[distance:], out=part[distance:])
        near[distance:] += np.multiply(same, scaled[:-distance], out=part[distance:])
    spread = CosineSpread(mean=mean, deviation=deviation, best=float(known.max()))
    return MeaningEvidence(own=score, near=near, spread=spread)


def with_exact(
    estimated: MeaningEvidence,
    total: Floats,
    *,
    data: SearchData,
    shape: TableShape,
    strength: float,
) -> MeaningEvidence:
    """With exact cosines for the turns whose `total` score by estimate is among the best."""
    import numpy as np

    if data.exact is None or data.cosines is None:
        return estimated
    count = len(total)
    best = np.union1d(_greatest(total, BEST), _greatest(estimated.own, NEAREST))
    shifts = np.array((0, *SHIFTS))[:, None]
    around = np.unique(np.clip(best + shifts, 0, count - 1))
    true = data.exact(around)
    off = (true - data.cosines[around]) / np.float32(estimated.spread.deviation)
    change = np.zeros_like(total)
    change[around] = np.nan_to_num(off)  # some may have no vector yet
    near = estimated.near.copy()
    for distance, (share, same) in enumerate(zip(KERNEL, shape.beside, strict=False), start=1):
        part = np.float32(_HALF * strength * share)
        first, second = best[best < count - distance], best[best >= distance]
        near[first] += part * same[first] * change[first + distance]
        near[second] += part * same[second - distance] * change[second - distance]
    spread = replace(estimated.spread, best=float(np.fmax.reduce(true, initial=-1)))
    return MeaningEvidence(own=estimated.own + change, near=near, spread=spread)


def _corrected(
    mean: float, variance: float, *, cosines: Floats, exact: Callable[[Ints], Floats]
) -> tuple[float, float]:
    """The mean and the variance of cosines, given those of their estimates."""
    import numpy as np

    rows = np.arange(0, len(cosines), max(len(cosines) // SAMPLE, 1))
    true, estimated = exact(rows), cosines[rows]
    known = ~np.isnan(true)
    if not known.any():
        return mean, variance
    true, estimated = true[known], estimated[known]
    return (
        mean + float(true.mean() - estimated.mean()),
        variance + float(true.var() - estimated.var()),
    )


def _greatest(values: Floats, count: int) -> Ints:
    """The places of the greatest values."""
    import numpy as np

    places: Ints = np.argpartition(values, -min(count, len(values)))[-count:]
    return places
