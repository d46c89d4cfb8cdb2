"""Vectors in Qdrant, beside a database that has the words."""

from omoide.adapters.stores.qdrant.store import QdrantStore, connect

__all__ = ["QdrantStore", "connect"]
