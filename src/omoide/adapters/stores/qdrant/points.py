"""Vectors as points of Qdrant, by the numbers that the database gave to owners and items.

A point's id is made of the numbers of its owner, kind and item, so that putting it again replaces
it, and an answer needs no payload. Nothing that was said is sent there, and nobody's name but the
tenant's: vectors and numbers only.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from omoide.adapters.stores.qdrant.failures import NoCollection, told
from omoide.errors import EmbedderMismatch, VectorsUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from qdrant_client import QdrantClient, models

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]

log = logging.getLogger(__name__)

PAUSE = 5.0
"""Seconds for which searches do not ask a place that has just failed to answer."""
_PAGE = 1000
_ITEM = 2**56 - 1


@dataclass(frozen=True, kw_only=True)
class Whose:
    """An owner's points in one collection."""

    collection: str
    tenant: str
    owner: int


@dataclass(frozen=True, order=True)
class Item:
    """What a point is the vector of."""

    kind: int
    number: int

    def id(self, owner: int) -> str:
        """The point's id."""
        return str(UUID(int=owner << 64 | self.kind << 56 | self.number))

    @classmethod
    def of(cls, point: object) -> Item:
        """The item of a point's id."""
        value = UUID(str(point)).int & (2**64 - 1)
        return cls(value >> 56, value & _ITEM)


class Points:
    """The points of one database. `alone` is for the client's local mode, which has no indexes and
    serves one thread at a time. Blocks."""

    def __init__(
        self,
        client: QdrantClient,
        *,
        where: str,
        alone: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._where = where
        self._alone = alone
        self._lock = threading.Lock()
        self._now = now
        self._rests_until = float("-inf")
        self._ready: set[str] = set()

    def put(self, whose: Whose, items: Sequence[Item], vectors: Floats) -> None:
        """Store vectors, in place of those that are there; durable on return."""
        from qdrant_client import models

        with self._asking():
            self._ensure(whose.collection, vectors.shape[1])
            payload = {"tenant": whose.tenant, "owner": str(whose.owner)}
            try:
                self._client.upsert(
                    whose.collection,
                    points=models.Batch(
                        ids=[item.id(whose.owner) for item in items],
                        vectors=vectors.tolist(),
                        payloads=[{**payload, "kind": item.kind} for item in items],
                    ),
                    wait=True,
                )
            except BaseException:
                self._ready.discard(whose.collection)  # it may be gone: look again
                raise

    def near(self, whose: Whose, kind: int, query: Floats, *, limit: int) -> tuple[Numbers, Floats]:
        """The numbers of the nearest items of a kind and their cosines, best first: every vector of
        the owner is looked at. Not asked for a while after it failed."""
        import numpy as np
        from qdrant_client import models

        if self._now() < self._rests_until:
            raise VectorsUnavailable(f"{self._where} could not be reached a moment ago")
        if limit < 1:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        with self._asking(nothing := _Nothing()):
            found = self._client.query_points(
                whose.collection,
                query=query.reshape(-1).tolist(),
                query_filter=_filter(whose, kind),
                search_params=None if self._alone else models.SearchParams(exact=True),
                limit=limit,
                with_payload=False,
                with_vectors=False,
            ).points
        if nothing.there:
            found = []
        return (
            np.array([Item.of(point.id).number for point in found], np.int64),
            np.array([point.score for point in found], np.float32),
        )

    def count(self, whose: Whose) -> int:
        """How many points there are."""
        with self._asking(nothing := _Nothing()):
            asked = self._client.count(whose.collection, count_filter=_filter(whose), exact=True)
        return 0 if nothing.there else asked.count

    def items(self, whose: Whose) -> frozenset[Item]:
        """What there are points of."""
        found: set[Item] = set()
        after: Any = None
        with self._asking(_Nothing()):
            while True:
                page, after = self._client.scroll(
                    whose.collection,
                    scroll_filter=_filter(whose),
                    limit=_PAGE,
                    offset=after,
                    with_payload=False,
                    with_vectors=False,
                )
                found |= {Item.of(point.id) for point in page}
                if after is None:
                    break
        return frozenset(found)

    def remove(self, whose: Whose, items: Sequence[Item] | None = None) -> None:
        """Remove the points of these items, or all of the owner's; gone on return."""
        from qdrant_client import models

        selector: models.PointsSelector = (
            models.FilterSelector(filter=_filter(whose))
            if items is None
            else models.PointIdsList(points=[item.id(whose.owner) for item in items])
        )
        with self._asking(_Nothing()):
            self._client.delete(whose.collection, points_selector=selector, wait=True)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _ensure(self, collection: str, dimensions: int) -> None:
        """Make the collection, unless it is there: then it must have the same measures, whoever
        made it."""
        from qdrant_client import models

        if collection in self._ready:
            return
        if not self._client.collection_exists(collection):
            self._client.create_collection(
                collection,
                vectors_config=models.VectorParams(
                    size=dimensions, distance=models.Distance.COSINE, on_disk=True
                ),
                # No graph: every look is at all vectors of one owner, and exact.
                hnsw_config=models.HnswConfigDiff(m=0, payload_m=0),
            )
        self._index(collection)
        made = self._client.get_collection(collection).config.params.vectors
        if not isinstance(made, models.VectorParams) or (made.size, made.distance) != (
            dimensions,
            models.Distance.COSINE,
        ):
            raise EmbedderMismatch(
                f"the collection {collection} of {self._where} must have one unnamed vector of "
                f"{dimensions} numbers compared by cosine, and was made otherwise: remove it"
            )
        self._ready.add(collection)

    def _index(self, collection: str) -> None:
        """So that points of one owner lie together, and nobody else's are looked at."""
        from qdrant_client import models

        if self._alone:
            return
        keyword, integer = models.KeywordIndexType.KEYWORD, models.IntegerIndexType.INTEGER
        for name, schema in (
            ("owner", models.KeywordIndexParams(type=keyword, is_tenant=True)),
            ("tenant", models.KeywordIndexParams(type=keyword)),
            ("kind", models.IntegerIndexParams(type=integer, lookup=True, range=False)),
        ):
            self._client.create_payload_index(collection, name, field_schema=schema, wait=True)

    @contextmanager
    def _asking(self, nothing: _Nothing | None = None) -> Iterator[None]:
        """Ask Qdrant. A collection that is missing is no error where `nothing` is an answer."""
        if self._alone:
            self._lock.acquire()
        try:
            with told(self._where):
                yield
            self._rests_until = float("-inf")
        except NoCollection as error:
            if nothing is None:
                raise VectorsUnavailable(
                    f"a collection of {self._where} vanished meanwhile; it is made anew"
                ) from error
            nothing.there = True
        except VectorsUnavailable as error:
            if self._now() >= self._rests_until:
                log.warning("recall goes by words alone for now: %s", error)
            self._rests_until = self._now() + PAUSE
            raise
        finally:
            if self._alone:
                self._lock.release()


@dataclass
class _Nothing:
    """Whether there was nothing, since there is no collection."""

    there: bool = False


def _filter(whose: Whose, kind: int | None = None) -> models.Filter:
    from qdrant_client import models

    wanted: dict[str, str | int] = {"owner": str(whose.owner), "tenant": whose.tenant}
    if kind is not None:
        wanted["kind"] = kind
    return models.Filter(
        must=[
            models.FieldCondition(key=key, match=models.MatchValue(value=value))
            for key, value in wanted.items()
        ]
    )
