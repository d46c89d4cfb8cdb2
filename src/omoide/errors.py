"""All errors that omoide raises, as one tree.

OmoideError
├── BadInput              the caller's input cannot be used
│   ├── EmptyText
│   ├── TextTooLong
│   ├── BadText           bytes that are not UTF-8
│   ├── NoSuchVersion
│   ├── NoSuchSession
│   ├── NoSuchJob
│   ├── NoSuchFact
│   ├── BadCommand        a command of the memory tool that cannot be done
│   ├── BadImport         a file that is not a valid export
│   ├── BadData           a dataset file that is not in its published format
│   └── BadPrompt         a template does not match its variables
├── ConflictingTurn       a turn id that was used before for another text
├── StaleVersion          the memory was rewritten since it was read
├── StoreError            the database
│   ├── StoreMissing
│   ├── StoreLocked
│   ├── StoreReadOnly
│   ├── StoreFull
│   ├── StoreEncrypted    the key is missing or wrong
│   ├── StoreCorrupt
│   ├── VectorsUnavailable  the separate vector store cannot be reached at the moment
│   └── StoreTooNew       written by a newer omoide
├── ModelError            the language model or the embedder
│   ├── ModelUnavailable  could not be reached or loaded; a retry may help
│   │   └── ModelStalled  no answer in time
│   ├── ModelRefused      the request itself is wrong (a bad key): a retry won't help
│   ├── ContextTooLong    the prompt does not fit the model's window
│   ├── BadReply          an answer that cannot be used
│   ├── NoModel           none is configured, and this needs one
│   └── UnknownModel
├── DownloadFailed        weights that could not be fetched or verified
├── EmbedderMismatch      vectors of two embedders would be compared
├── ServerUnavailable     a server that `omoide.connect` uses could not be reached, or is busy
├── AccessDenied          the API key is missing or wrong, or lacks a scope
├── NotOverHttp           a method that works only where the database is
├── MissingExtra          an optional dependency is not installed
└── BadPlugin             a plug-in that cannot be loaded
    └── BadLanguage       a language pack with something missing or wrong

Each message says what was wanted, what came, and what to do.
"""

from __future__ import annotations


class OmoideError(Exception):
    """Any error that omoide raises on purpose."""


class BadInput(OmoideError):
    """The caller's input cannot be used."""


class EmptyText(BadInput):
    """A turn with nothing in it."""


class TextTooLong(BadInput):
    """A turn longer than the limit."""


class BadText(BadInput):
    """Bytes that are not text in UTF-8."""


class NoSuchVersion(BadInput):
    """A memory version that does not exist."""


class NoSuchSession(BadInput):
    """A session that does not exist."""


class NoSuchJob(BadInput):
    """A job that does not exist, or is not dead."""


class NoSuchFact(BadInput):
    """A fact that does not exist."""


class BadCommand(BadInput):
    """A command of the memory tool that cannot be done; its message is for the model."""


class BadImport(BadInput):
    """A file that is not a valid export."""


class BadData(BadInput):
    """A dataset file that is not in the format its authors published."""


class BadPrompt(BadInput):
    """A prompt template whose variables differ from those given."""


class ConflictingTurn(OmoideError):
    """A turn id that was recorded before with another text."""


class StaleVersion(OmoideError):
    """The memory was rewritten since it was read."""


class StoreError(OmoideError):
    """The database cannot do what was asked."""


class StoreMissing(StoreError):
    """There is no database at that path."""


class StoreLocked(StoreError):
    """Another process holds the database."""


class StoreReadOnly(StoreError):
    """The database cannot be written."""


class StoreFull(StoreError):
    """The disk is full, or a quota is reached."""


class StoreEncrypted(StoreError):
    """The database is encrypted, and the key is missing or wrong."""


class StoreCorrupt(StoreError):
    """The file is damaged or is not a database of ours."""


class VectorsUnavailable(StoreError):
    """The separate vector store cannot be reached. Turns are recorded in the database all the same,
    and a retry may succeed."""


class StoreTooNew(StoreError):
    """The database was written by a newer omoide."""


class ModelError(OmoideError):
    """A language model or an embedder failed."""


class ModelUnavailable(ModelError):
    """The model could not be reached or loaded; a retry may succeed."""


class ModelStalled(ModelUnavailable):
    """The model gave no answer in time."""


class ModelRefused(ModelError):
    """The model's server rejected the request; a retry will not help."""


class ContextTooLong(ModelError):
    """The prompt does not fit the model's window."""


class BadReply(ModelError):
    """The model answered with something that cannot be used."""


class NoModel(ModelError):
    """No chat model is configured, and this needs one."""


class UnknownModel(ModelError):
    """No model of that name is in the catalogue."""


class DownloadFailed(OmoideError):
    """Weights could not be fetched, or do not match their SHA-256."""


class EmbedderMismatch(OmoideError):
    """Vectors of two different embedders would have been mixed."""


class ServerUnavailable(OmoideError):
    """The server could not be reached, or cannot answer at the moment; a retry may succeed."""


class AccessDenied(OmoideError):
    """The server refused the API key, or it lacks a scope."""


class NotOverHttp(OmoideError):
    """A method that a server does not offer: use it where the database is."""


class MissingExtra(OmoideError):
    """An optional dependency is needed but not installed."""


class BadPlugin(OmoideError):
    """A plug-in could not be loaded."""


class BadLanguage(BadPlugin):
    """A language pack with something missing or wrong; the message names the file and the key."""
