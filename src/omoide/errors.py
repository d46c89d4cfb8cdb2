"""Everything that can go wrong, as one tree.

OmoideError
├── BadInput              what the caller gave cannot be used
│   ├── EmptyText
│   ├── TextTooLong
│   ├── BadText           invalid UTF-8, NUL bytes
│   ├── NoSuchVersion
│   ├── NoSuchSession
│   ├── NoSuchJob
│   ├── BadImport         a file that is not the export it was said to be
│   ├── BadData           a data set's file that has not the form its authors published
│   └── BadPrompt         a template and its variables differ
├── ConflictingTurn       a turn id that was used before, with other words
├── StaleVersion          someone else rewrote the memory in between
├── StoreError            the database
│   ├── StoreMissing
│   ├── StoreLocked
│   ├── StoreReadOnly
│   ├── StoreFull
│   ├── StoreSealed       encrypted, and the key is missing or another one
│   ├── StoreCorrupt
│   ├── VectorsUnavailable  kept in a place of their own that cannot be reached just now
│   └── StoreTooNew       written by a newer omoide
├── ModelError            the language model or the embedder
│   ├── ModelUnavailable  could not be reached or loaded; trying again may help
│   │   └── ModelStalled  no answer in time
│   ├── ModelRefused      the request itself is wrong (a bad key): trying again won't help
│   ├── ContextTooLong    the prompt does not fit the model's window
│   ├── BadReply          an answer that cannot be used
│   └── UnknownModel
├── DownloadFailed        weights that could not be had or verified
├── EmbedderMismatch      vectors of two embedders would be compared
└── MissingExtra          an optional dependency is not installed

Each message says what was wanted, what came, and what to do.
"""

from __future__ import annotations


class OmoideError(Exception):
    """Any error that omoide raises on purpose."""


class BadInput(OmoideError):
    """What the caller gave cannot be used."""


class EmptyText(BadInput):
    """A turn with nothing in it."""


class TextTooLong(BadInput):
    """A turn longer than the limit."""


class BadText(BadInput):
    """Text that is not valid Unicode or holds NUL."""


class NoSuchVersion(BadInput):
    """A memory version that does not exist."""


class NoSuchSession(BadInput):
    """A session that does not exist."""


class NoSuchJob(BadInput):
    """A job that does not exist, or was not given up."""


class BadImport(BadInput):
    """A file that is not the export it was said to be."""


class BadData(BadInput):
    """A data set's file that has not the form its authors published."""


class BadPrompt(BadInput):
    """A prompt template whose variables differ from those given."""


class ConflictingTurn(OmoideError):
    """A turn id that was recorded before with other words."""


class StaleVersion(OmoideError):
    """The memory was rewritten by someone else since it was read."""


class StoreError(OmoideError):
    """The database cannot do what was asked."""


class StoreMissing(StoreError):
    """There is no database at that path."""


class StoreLocked(StoreError):
    """Another process holds the database."""


class StoreReadOnly(StoreError):
    """The database cannot be written."""


class StoreFull(StoreError):
    """There is no space left on the disk, or no more of it is allowed."""


class StoreSealed(StoreError):
    """The database is encrypted, and the key is missing or is not its own."""


class StoreCorrupt(StoreError):
    """The file is damaged or is not a database of ours."""


class VectorsUnavailable(StoreError):
    """Where the vectors are kept cannot be reached; what was said is in the database all the
    same, and a later try may succeed."""


class StoreTooNew(StoreError):
    """The database was written by a newer omoide."""


class ModelError(OmoideError):
    """A language model or an embedder failed."""


class ModelUnavailable(ModelError):
    """The model could not be reached or loaded; a later try may succeed."""


class ModelStalled(ModelUnavailable):
    """The model gave no answer in time."""


class ModelRefused(ModelError):
    """The model's server turned the request down for good."""


class ContextTooLong(ModelError):
    """The prompt does not fit the model's window."""


class BadReply(ModelError):
    """The model answered with something that cannot be used."""


class UnknownModel(ModelError):
    """No model of that name is in the catalogue."""


class DownloadFailed(OmoideError):
    """Weights could not be fetched, or are not what their SHA-256 says."""


class EmbedderMismatch(OmoideError):
    """Vectors of two different embedders would have been mixed."""


class MissingExtra(OmoideError):
    """An optional dependency is needed and not installed."""
