"""Qdrant as the vector index of a memory, beside a database that has the text."""

from omoide_qdrant.connecting import connect, vectors

__all__ = ["connect", "vectors"]
