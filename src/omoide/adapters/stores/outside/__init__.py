"""Stores whose vectors are in a separate `VectorIndex`."""

from omoide.adapters.stores.outside.store import JoinedStore, join_vectors

__all__ = ["JoinedStore", "join_vectors"]
