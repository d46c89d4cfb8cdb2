"""Builds a runtime from settings and from parts that the caller made."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypedDict, Unpack

from omoide.bootstrap.chat_models import chat_model
from omoide.bootstrap.surroundings import make_spool, make_telemetry, make_webhooks
from omoide.engine.runtime import Runtime, close_all
from omoide.errors import BadInput, MissingExtra
from omoide.settings import Address, Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from omoide.adapters.stores.sql.store import SqlStore
    from omoide.engine.memory import Memory
    from omoide.engine.runtime import Closeable
    from omoide.mechanisms.base import Mechanism
    from omoide.mechanisms.memos.compressors import TextTools
    from omoide.ports import ChatModel, Clock, Embedder, Progress, Store, TokenEncoder, VectorIndex
    from omoide.ports.analysis import Analyser, Tokenizer
    from omoide.ports.keys import KeyStore
    from omoide.ports.migration import MigrationResult


NO_MODEL = "none"
"""The value of `OMOIDE_MODEL` for no chat model: turns are recorded and recalled, not digested."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The current time."""
        return datetime.now(UTC)


async def open_runtime(
    settings: Settings,
    *,
    model: ChatModel | None = None,
    summariser: ChatModel | None = None,
    store: Store | None = None,
    embedder: Embedder | None = None,
    mechanisms: Sequence[str | Mechanism] | None = None,
    clock: Clock | None = None,
    create: bool = True,
    progress: Progress | None = None,
) -> Runtime:
    """The runtime that the settings describe. Parts passed in are used instead, and the caller
    closes them. Cheap: models are loaded, and weights fetched (reported to `progress`), when they
    are first needed."""
    owned: list[Closeable] = []
    async with AsyncExitStack() as opened:
        opened.push_async_callback(close_all, owned)
        if model is None and settings.model != NO_MODEL:
            model = chat_model(settings, settings.model, progress=progress)
            owned.append(model)
        if summariser is None and settings.summary_model not in ("", settings.model):
            summariser = chat_model(settings, settings.summary_model, progress=progress)
            owned.append(summariser)
        if embedder is None:
            embedder = make_embedder(settings)
            owned += [embedder] if embedder is not None else []
        if store is None:
            store = await _configured_store(settings, create=create)
            owned.append(store)
        if (spool := make_spool(settings)) is not None:
            owned.append(spool)
        clock = clock or SystemClock()
        if (webhooks := make_webhooks(settings, clock)) is not None:
            owned.append(webhooks)
        runtime = Runtime(
            settings,
            store=store,
            clock=clock,
            model=model,
            summariser=summariser,
            embedder=embedder,
            mechanisms=mechanisms,
            text_tools=text_tools(settings),
            spool=spool,
            webhooks=webhooks,
            telemetry=make_telemetry(settings),
            name=worker_name(),
            owns=owned,
        )
        opened.pop_all()
        return runtime


@asynccontextmanager
async def open_memory(
    settings: Settings, *, background: bool = True, **parts: Unpack[ReadyParts]
) -> AsyncIterator[Memory]:
    """The memory that the settings describe, open while the block lasts."""
    async with await open_runtime(settings, **parts) as runtime:
        memory = runtime.memory()
        if not background:
            yield memory
            return
        async with runtime.working():
            yield memory


class ReadyParts(TypedDict, total=False):
    """Parts that the caller made."""

    model: ChatModel | None
    summariser: ChatModel | None
    store: Store | None
    embedder: Embedder | None
    mechanisms: Sequence[str | Mechanism] | None
    clock: Clock | None


async def _configured_store(settings: Settings, *, create: bool) -> Store:
    if settings.key and isinstance(settings.db, Address):
        raise BadInput(
            "a key can only encrypt a database file, not a server's database: leave out OMOIDE_KEY "
            "and --key-file, and have the server encrypt its disk"
        )
    from omoide.adapters.stores.plugged import open_plugged

    return await open_plugged(settings) or await _with_vectors(
        settings,
        await open_store(
            settings.db, create=create, key=settings.key, partitions=settings.partitions
        ),
    )


async def encrypt_store(settings: Settings, *, new: str) -> None:
    """Encrypt the database with a new key; its old key, if it has one, is in the settings."""
    if isinstance(settings.db, Address):
        raise BadInput(
            "only a file can be encrypted, but --db is a server's database: have the server "
            "encrypt its disk"
        )
    import asyncio

    from omoide.adapters.stores.sqlite.cipher import encrypt_file

    await asyncio.to_thread(encrypt_file, settings.db, old=settings.key, new=new)


async def _with_vectors(settings: Settings, store: SqlStore) -> Store:
    """The store with its vectors where the settings say. A store whose vectors are elsewhere is not
    opened without them: erased vectors would stay there."""
    try:
        if settings.vectors:
            from omoide.adapters.stores.outside import join_vectors

            return await join_vectors(store, settings)
        external = await store.vectors_outside()
    except BaseException:
        await store.close()
        raise
    if not external:
        return store
    await store.close()
    raise BadInput(
        "the vectors of this database are stored elsewhere: set OMOIDE_VECTORS as before, for "
        "example qdrant://HOST:PORT, or copy everything to a new database with omoide migrate"
    )


async def join_vectors(store: SqlStore, vectors: VectorIndex) -> Store:
    """The store with its vectors in a separate index from now on."""
    from omoide.adapters.stores.outside import JoinedStore

    return await JoinedStore.join(store, vectors)


async def open_store(
    where: Path | Address, *, create: bool = True, key: str = "", partitions: int = 16
) -> SqlStore:
    """Open a database: a file, encrypted if there is a key; or on a server, with that many
    partitions if it is new."""
    if isinstance(where, Address):
        from omoide.adapters.stores.plugged import refuse_unknown
        from omoide.adapters.stores.postgres import PostgresStore

        refuse_unknown(where)
        return await PostgresStore.open(where, create=create, partitions=partitions)
    from omoide.adapters.stores.sqlite import SqliteStore

    return await SqliteStore.open(where, create=create, key=key)


async def migrate(
    source: Path | Address,
    target: Path | Address,
    *,
    tenant: str | None = None,
    key: str = "",
    partitions: int = 16,
    progress: Progress | None = None,
) -> MigrationResult:
    """Copy every owner from one database to another, and check each row by row. If interrupted, run
    it again to continue. `key` is used for both where they are files."""
    from omoide.adapters.stores.sql.migration import migrate_all

    if source == target:
        raise BadInput("a database cannot be migrated into itself: --from and --to are the same")
    async with AsyncExitStack() as opened:
        stores: list[SqlStore] = []
        for where, create in ((source, False), (target, True)):
            store = await open_store(where, create=create, key=key, partitions=partitions)
            opened.push_async_callback(store.close)
            stores.append(store)
        old, new = stores
        return await migrate_all(old, new, tenant=tenant, progress=progress)


def key_rows(settings: Settings) -> KeyStore | Path:
    """Where API keys are stored: in the server's database, or beside the database file."""
    from omoide.adapters.stores.plugged import keys_file

    where = settings.db
    if not isinstance(where, Address):
        return where.with_name(f"{where.name}.keys")
    if path := keys_file(where):
        return path
    try:
        from omoide.adapters.stores.postgres.keys import PostgresKeys
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"PostgreSQL needs {error.name}: pip install 'omoide[postgres]'"
        ) from error
    return PostgresKeys(where, partitions=settings.partitions)


def worker_name() -> str:
    """A name for this process by which others on this machine can see whether it still runs."""
    from omoide.adapters.stores.sql.workers import worker_name

    return worker_name()


def describe_worker(worker: str) -> str:
    """Which process that is, and whether it is known to have ended."""
    from omoide.adapters.stores.sql.workers import describe_worker

    return describe_worker(worker)


def make_embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings name; None if recall is to use words only."""
    from omoide.adapters.embedders import embedder_named

    return embedder_named(settings)


def svg_to_png(svg: str) -> bytes:
    """Convert an SVG to PNG."""
    from omoide.adapters.png import svg_to_png

    return svg_to_png(svg)


def make_token_encoder(settings: Settings, name: str = "gte-small") -> TokenEncoder:
    """The encoder that gives a vector for each token, to compare texts token by token."""
    from omoide.adapters.embedders import token_encoder_named

    return token_encoder_named(name, settings)


async def temporary_store() -> Store:
    """A store in RAM that is gone when closed: for benchmarks."""
    from omoide.adapters.stores.sqlite import SqliteStore

    return await SqliteStore.open(":memory:")


def text_tools(settings: Settings) -> TextTools:
    """What compression needs: the word analysers, and the tokens of an embedded model."""
    from omoide.mechanisms.memos.compressors import TextTools

    random = settings.compression == "random"
    tokenizer = model_tokens(settings, settings.model) if random else None
    return TextTools(analyser=word_analyser, tokenizer=tokenizer)


def model_tokens(settings: Settings, spec: str) -> Tokenizer | None:
    """The tokens of a model in a GGUF file, which is found or fetched when they are first needed;
    None for a model behind an endpoint, whose tokens are not known."""
    from omoide.adapters.models.catalogue import CatalogueModel, GgufFile, resolve

    choice = None if spec == NO_MODEL else resolve(spec)
    if not isinstance(choice, CatalogueModel | GgufFile):
        return None
    from omoide.adapters.analysers.gguf_tokens import LazyTokens
    from omoide.bootstrap.models import weights_of

    return LazyTokens(lambda: weights_of(settings, spec))


def word_analyser(language: str) -> Analyser:
    """The word analyser of a language. Raises `MissingExtra` if it is not installed."""
    from omoide.adapters.analysers import analyser_for

    return analyser_for(language)
