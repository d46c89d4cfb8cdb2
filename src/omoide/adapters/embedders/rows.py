"""Normalises and pools vectors. numpy is imported inside functions, because it takes longer to load
than most commands, which embed nothing, take to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.errors import BadReply

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray


def normalised(rows: ArrayLike, *, who: str) -> NDArray[np.float32]:
    """`rows` as float32 unit vectors. Raises `BadReply` for a zero or non-finite row."""
    import numpy as np

    vectors = np.asarray(rows, dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if not np.all(np.isfinite(lengths)) or np.any(lengths == 0):
        raise BadReply(f"{who} returned a zero or non-finite vector, which cannot be compared")
    return np.ascontiguousarray(vectors / lengths, dtype=np.float32)


def pooled(
    rows: NDArray[np.float32], *, owners: Sequence[int], weights: Sequence[int], count: int
) -> NDArray[np.float64]:
    """One row for each of `count` texts: the weighted mean of the rows of its pieces."""
    import numpy as np

    sums = np.zeros((count, rows.shape[1]))
    shares = np.asarray(weights, dtype=np.float64)[:, None]
    np.add.at(sums, np.asarray(owners), rows * shares)
    return sums


def pieces(text: str, *, max_chars: int) -> Iterable[str]:
    """`text` cut into runs of at most `max_chars` characters, at spaces where there are any."""
    while len(text) > max_chars:
        cut = text.rfind(" ", max_chars // 2, max_chars) + 1 or max_chars
        yield text[:cut]
        text = text[cut:]
    yield text
