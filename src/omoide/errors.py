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
│   ├── Unconvertible     a request that another protocol has no counterpart to
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
├── WebhookFailed         an event that could not be delivered; it is tried again
├── DownloadFailed        weights that could not be fetched or verified
├── EmbedderMismatch      vectors of two embedders would be compared
├── ServerUnavailable     a server that `omoide.connect` uses could not be reached, or is busy
├── AccessDenied          the API key is missing or wrong, or lacks a scope
├── NotOverHttp           a method that the server, of another version, does not offer
├── MissingExtra          an optional dependency is not installed
└── BadPlugin             a plug-in that cannot be loaded
    └── BadLanguage       a language pack with something missing or wrong

Each message says what was wanted, what came, and what to do. The last paragraph of a docstring is
the advice for every error of that class; docs/reference/errors.md is made from it.
"""

from __future__ import annotations


class OmoideError(Exception):
    """Any error that omoide raises on purpose.

    What to do: Read the message: it says what was wanted, what came, and what to do.
    """


class BadInput(OmoideError):
    """The caller's input cannot be used.

    What to do: Change the value that the message names. A retry with the same value fails
    again.
    """


class EmptyText(BadInput):
    """A turn with nothing in it.

    What to do: Send at least one character that is not white space.
    """


class TextTooLong(BadInput):
    """A turn longer than the limit.

    What to do: Split the text, or raise `OMOIDE_MAX_TURN_CHARS`.
    """


class BadText(BadInput):
    """Bytes that are not text in UTF-8.

    What to do: Convert the input to UTF-8, for example with `iconv -t UTF-8`.
    """


class NoSuchVersion(BadInput):
    """A memory version that does not exist.

    What to do: List the versions with `omoide memory history`; those of a file of the memory
    tool with `memory.file_versions` or `GET /api/memory/files`.
    """


class NoSuchSession(BadInput):
    """A session that does not exist.

    What to do: List the sessions with `memory.sessions(user)` or `GET /api/sessions`.
    """


class NoSuchJob(BadInput):
    """A job that does not exist, or is not dead.

    What to do: List the jobs with `omoide jobs list`; only dead ones can be retried.
    """


class NoSuchFact(BadInput):
    """A fact that does not exist.

    What to do: List the facts with `omoide memory facts`; it may have been erased meanwhile.
    """


class Unconvertible(BadInput):
    """A request that cannot be converted to another protocol, because of one field.

    What to do: Leave out or change the field that the message names. Clients and protocols
    (`docs/clients.md`) lists what each upstream can do.
    """

    def __init__(self, message: str, *, slug: str = "unsupported", param: str = "") -> None:
        super().__init__(message)
        self.slug = slug
        """What is wrong with the field: `unsupported`, `invalid` or `missing`."""
        self.param = param
        """The field's place in the request: `messages[2].content`."""


class BadCommand(BadInput):
    """A command of the memory tool that cannot be done; its message is for the model.

    What to do: Give the message back to the model as the tool's result: it says what to do
    instead.
    """


class BadImport(BadInput):
    """A file that is not a valid export.

    What to do: Check that the file is one of the exports that `omoide import --help` names, and
    whole.
    """


class BadData(BadInput):
    """A dataset file that is not in the format its authors published.

    What to do: Download the dataset again, as its authors publish it.
    """


class BadPrompt(BadInput):
    """A prompt template whose variables differ from those given.

    What to do: Give the template exactly the variables that it uses; the message lists both.
    """


class ConflictingTurn(OmoideError):
    """A turn id that was recorded before with another text.

    What to do: Use a new id for a new text. To retry, send the same text with the same id.
    """


class StaleVersion(OmoideError):
    """The memory was rewritten since it was read.

    What to do: Read the memory again, and repeat the change on what it says now.
    """


class StoreError(OmoideError):
    """The database cannot do what was asked.

    What to do: Check the path or URL in `OMOIDE_DB` and that the database can be reached.
    """


class StoreMissing(StoreError):
    """There is no database at that path.

    What to do: Check `OMOIDE_DB` or `--db`; `omoide chat` creates a database, reading does not.
    """


class StoreLocked(StoreError):
    """Another process holds the database.

    What to do: Retry. If it stays locked, find the process that holds the file open and end it.
    """


class StoreReadOnly(StoreError):
    """The database cannot be written.

    What to do: Give your user write access to the file and to its folder.
    """


class StoreFull(StoreError):
    """The disk is full, or a quota is reached.

    What to do: Free some disk space or raise the quota, then retry: nothing was written in
    part.
    """


class StoreEncrypted(StoreError):
    """The database is encrypted, and the key is missing or wrong.

    What to do: Set `OMOIDE_KEY` or `--key-file`. A lost key cannot be recovered.
    """


class StoreCorrupt(StoreError):
    """The file is damaged or is not a database of ours.

    What to do: Check that `OMOIDE_DB` names the file you mean; if so, restore a backup.
    """


class VectorsUnavailable(StoreError):
    """The separate vector store cannot be reached. Turns are recorded in the database all the same,
    and a retry may succeed.

    What to do: Check `OMOIDE_VECTORS` and that server; until it is back, recall goes by words
    alone.
    """


class StoreTooNew(StoreError):
    """The database was written by a newer omoide.

    What to do: Upgrade omoide to the version that wrote the database, or a later one.
    """


class ModelError(OmoideError):
    """A language model or an embedder failed.

    What to do: Check `OMOIDE_MODEL`. What was said is recorded already and is not lost.
    """


class ModelUnavailable(ModelError):
    """The model could not be reached or loaded; a retry may succeed.

    What to do: Check that the endpoint runs, or that `omoide models pull` fetched the weights;
    then retry.
    """


class ModelStalled(ModelUnavailable):
    """The model gave no answer in time.

    What to do: Raise `OMOIDE_TIMEOUT`, or choose a faster model.
    """


class ModelRefused(ModelError):
    """The model's server rejected the request; a retry will not help.

    What to do: Check `OMOIDE_API_KEY`, the model's name after `#`, and your quota at the
    provider.
    """


class ContextTooLong(ModelError):
    """The prompt does not fit the model's window.

    What to do: Raise `OMOIDE_WINDOW` if the model allows it, or lower `OMOIDE_MEMORY_TOKENS`.
    """


class BadReply(ModelError):
    """The model answered with something that cannot be used.

    What to do: Nothing: it is asked again. If its job is given up, `omoide jobs retry`, or use
    a stronger model.
    """


class NoModel(ModelError):
    """No chat model is configured, and this needs one.

    What to do: Set `OMOIDE_MODEL`; recording, recall and export work without one.
    """


class UnknownModel(ModelError):
    """No model of that name is in the catalogue.

    What to do: Choose a name from `omoide models list`, a GGUF file, or `URL#model`.
    """


class WebhookFailed(OmoideError):
    """An event could not be delivered to a webhook.

    What to do: Nothing at first: it is tried again. If it was given up, check the receiver with
    `omoide webhooks test`, then `omoide jobs retry`.
    """


class DownloadFailed(OmoideError):
    """Weights could not be fetched, or do not match their SHA-256.

    What to do: Retry: a download goes on where it stopped. Without a network, put the file into
    `OMOIDE_WEIGHTS_DIR`.
    """


class EmbedderMismatch(OmoideError):
    """Vectors of two different embedders would have been mixed.

    What to do: Go back to the former `OMOIDE_EMBEDDER`, or embed everything again: `omoide jobs
    embed`.
    """


class ServerUnavailable(OmoideError):
    """The server could not be reached, or cannot answer at the moment.

    What to do: check that `omoide serve` runs at that address, then try again. A write that is sent
    again with the same idempotency key is done once."""


class AccessDenied(OmoideError):
    """The server refused the API key, or it lacks a scope.

    What to do: pass a key of that server (`omoide keys create NAME`) with the scope that the
    message names."""


class NotOverHttp(OmoideError):
    """A method that the server does not offer, because it is of another version.

    What to do: update the server or the client, so that both are of the same version."""


class MissingExtra(OmoideError):
    """An optional dependency is needed but not installed.

    What to do: Run the `pip install` that the message names.
    """


class BadPlugin(OmoideError):
    """A plug-in could not be loaded.

    What to do: Update or uninstall the package that the message names.
    """


class BadLanguage(BadPlugin):
    """A language pack with something missing or wrong; the message names the file and the key.

    What to do: Correct the key of the file that the message names.
    """
