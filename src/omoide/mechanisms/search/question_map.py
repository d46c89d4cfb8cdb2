"""Brings the vector of what was asked near to the vectors of what answers it.

An encoder that was taught which texts are alike finds a question most like other questions. A
linear map of the query's vector alone mends a part of that: the turns keep the vectors they have.
It was learnt from questions about conversations (`omoide tune question-map`), one map for each
embedder (docs/experiments/2026-11-19-question-map.md).
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from omoide.mechanisms.search.question import asks_of_memory
from omoide.mechanisms.search.weights import FOR_QUESTIONS
from omoide.ports import query_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from omoide.ports import Embedder, Space, Vectors

    Map = NDArray[np.float32]


async def search_vector(embedder: Embedder, text: str) -> Vectors:
    """The vector that a text is searched with, as one row. What is no question looks for what is
    like it, and "Do you like tea?" mostly for nothing, so that these are left as they are."""
    vector = await query_vectors(embedder, text)
    return toward_answers(vector, embedder.space) if asks_of_memory(text) else vector


def toward_answers(query: Vectors, space: Space) -> Vectors:
    """The vectors of a query in that embedder's space, moved to where its answers are. As they are
    if no map was learnt for the embedder."""
    import numpy as np

    learnt = question_map(space.name)
    if learnt is None or len(learnt) != space.dimensions:
        return query
    rows = query @ learnt
    nearer: Vectors = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return nearer


@cache
def question_map(space: str) -> Map | None:
    """The map for an embedder's space: how far it is from the identity is kept in whole steps, with
    a scale for each row."""
    import numpy as np

    if space not in FOR_QUESTIONS:
        return None
    file = resources.files(__package__).joinpath("question_maps", f"{space}.npz")
    with file.open("rb") as opened, np.load(opened, allow_pickle=False) as kept:
        change = kept["steps"].astype(np.float32) * kept["scale"][:, None]
    whole: Map = np.eye(len(change), dtype=np.float32) + change
    return whole
