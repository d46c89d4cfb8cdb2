"""A complete store on top of a backend that can only store documents: one document per owner.

For a backend such as files, an object store, Redis or a table of blobs, implement the four methods
of `Documents` to get a `Store` that fulfils the whole contract of `omoide.ports.Store`. Each change
rewrites the owner's document, so it is for thousands of turns per owner, not millions: for those,
implement `Store` itself.
"""

from omoide.documents.place import Documents, MemoryDocuments
from omoide.documents.store import DocumentStore

__all__ = ["DocumentStore", "Documents", "MemoryDocuments"]
