"""Vectors as points of Qdrant, by the numbers that the database assigned to owners and items.

A point's id is derived from the numbers of its owner, kind and item, so writing it again replaces
it, and an answer needs no payload. Qdrant gets vectors and numbers only: no text, and no name
except the tenant's.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from omoide.errors import EmbedderMismatch, VectorsUnavailable
from omoide.ports import VectorItem
from omoide_qdrant.failures import NoCollection, translated_errors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]
    from collections.abc import Iterator, Sequence

    from qdrant_client import QdrantClient, models

    from omoide.ports import VectorOwner

_PAGE = 1000
_ITEM = 2**56 - 1


def point_id(owner: int, item: VectorItem) -> str:
    """The id of the point with an item's vector."""
    return str(UUID(int=owner << 64 | item.kind << 56 | item.number))


def item_of(point: object) -> VectorItem:
    """The item of a point's id.

    >>> item_of(point_id(7, VectorItem(1, 42)))
    VectorItem(kind=1, number=42)
    """
    value = UUID(str(point)).int & (2**64 - 1)
    return VectorItem(value >> 56, value & _ITEM)


class Points:
    """`VectorIndex` in Qdrant. `alone` is for the client's local mode, which has no indexes and
    is not thread-safe."""

    def __init__(self, client: QdrantClient, *, where: str, alone: bool = False) -> None:
        self._client = client
        self._where = where
        self._alone = alone
        self._lock = threading.Lock()
        self._ready: set[str] = set()

    @property
    def name(self) -> str:
        """See `VectorIndex.name`."""
        return self._where

    def put(self, owner: VectorOwner, items: Sequence[VectorItem], vectors: Floats) -> None:
        """See `VectorIndex.put`."""
        from qdrant_client import models

        with self._asking():
            self._ensure(owner.collection, vectors.shape[1])
            payload = {"tenant": owner.tenant, "owner": str(owner.owner)}
            try:
                self._client.upsert(
                    owner.collection,
                    points=models.Batch(
                        ids=[point_id(owner.owner, item) for item in items],
                        vectors=vectors.tolist(),
                        payloads=[{**payload, "kind": item.kind} for item in items],
                    ),
                    wait=True,
                )
            except BaseException:
                self._ready.discard(owner.collection)  # it may be gone: check again
                raise

    def nearest(
        self, owner: VectorOwner, kind: int, query: Floats, *, limit: int
    ) -> tuple[Numbers, Floats]:
        """See `VectorIndex.nearest`."""
        import numpy as np
        from qdrant_client import models

        if limit < 1:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        with self._asking(nothing := _Nothing()):
            found = self._client.query_points(
                owner.collection,
                query=query.reshape(-1).tolist(),
                query_filter=_filter(owner, kind),
                search_params=None if self._alone else models.SearchParams(exact=True),
                limit=limit,
                with_payload=False,
                with_vectors=False,
            ).points
        if nothing.there:
            found = []
        return (
            np.array([item_of(point.id).number for point in found], np.int64),
            np.array([point.score for point in found], np.float32),
        )

    def count(self, owner: VectorOwner) -> int:
        """See `VectorIndex.count`."""
        with self._asking(nothing := _Nothing()):
            asked = self._client.count(owner.collection, count_filter=_filter(owner), exact=True)
        return 0 if nothing.there else asked.count

    def items(self, owner: VectorOwner) -> frozenset[VectorItem]:
        """See `VectorIndex.items`."""
        found: set[VectorItem] = set()
        after: Any = None
        with self._asking(_Nothing()):
            while True:
                page, after = self._client.scroll(
                    owner.collection,
                    scroll_filter=_filter(owner),
                    limit=_PAGE,
                    offset=after,
                    with_payload=False,
                    with_vectors=False,
                )
                found |= {item_of(point.id) for point in page}
                if after is None:
                    break
        return frozenset(found)

    def remove(self, owner: VectorOwner, items: Sequence[VectorItem] | None = None) -> None:
        """See `VectorIndex.remove`."""
        from qdrant_client import models

        selector: models.PointsSelector = (
            models.FilterSelector(filter=_filter(owner))
            if items is None
            else models.PointIdsList(points=[point_id(owner.owner, item) for item in items])
        )
        with self._asking(_Nothing()):
            self._client.delete(owner.collection, points_selector=selector, wait=True)

    def close(self) -> None:
        """See `VectorIndex.close`."""
        self._client.close()

    def _ensure(self, collection: str, dimensions: int) -> None:
        """Create the collection, unless it exists: then it must have the same vector
        configuration."""
        from qdrant_client import models

        if collection in self._ready:
            return
        if not self._client.collection_exists(collection):
            self._client.create_collection(
                collection,
                vectors_config=models.VectorParams(
                    size=dimensions, distance=models.Distance.COSINE, on_disk=True
                ),
                # No graph: every search covers all vectors of one owner, and is exact.
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
                f"{dimensions} numbers compared by cosine, but has another configuration: remove it"
            )
        self._ready.add(collection)

    def _index(self, collection: str) -> None:
        """Index owner and tenant, so that one owner's points are stored together."""
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
        """Run a request. A missing collection is no error if `nothing` is given."""
        if self._alone:
            self._lock.acquire()
        try:
            with translated_errors(self._where):
                yield
        except NoCollection as error:
            if nothing is None:
                raise VectorsUnavailable(
                    f"a collection of {self._where} disappeared; omoide will create it again"
                ) from error
            nothing.there = True
        finally:
            if self._alone:
                self._lock.release()


@dataclass
class _Nothing:
    """Set if the result is empty because there is no collection."""

    there: bool = False


def _filter(owner: VectorOwner, kind: int | None = None) -> models.Filter:
    from qdrant_client import models

    wanted: dict[str, str | int] = {"owner": str(owner.owner), "tenant": owner.tenant}
    if kind is not None:
        wanted["kind"] = kind
    return models.Filter(
        must=[
            models.FieldCondition(key=key, match=models.MatchValue(value=value))
            for key, value in wanted.items()
        ]
    )
