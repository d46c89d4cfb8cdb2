"""The composition root: settings become a memory. Only this and `weights` import adapters."""

from __future__ import annotations

from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from omoide.composition import compose
from omoide.errors import BadInput, MissingExtra
from omoide.facade import SyncMemory
from omoide.settings import Address, Settings

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.adapters.stores.sql.sides import SqlStore
    from omoide.engine import Memory
    from omoide.ports import ChatModel, Clock, Embedder, Progress, Store, TokenEncoder
    from omoide.ports.analysis import Analyser
    from omoide.ports.keys import KeyRows
    from omoide.ports.moving import Migrated


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The present moment."""
        return datetime.now(UTC)


async def open_memory(
    settings: Settings,
    *,
    create: bool = True,
    progress: Progress | None = None,
    clock: Clock | None = None,
) -> Memory:
    """A memory as the settings say. Cheap: models are loaded, and weights fetched (told to
    `progress`), when they are first needed."""
    model = chat_model(settings, settings.model, progress=progress)
    same = settings.iterator in ("", settings.model)
    iterator = model if same else chat_model(settings, settings.iterator, progress=progress)
    embedder = make_embedder(settings)
    if settings.key and isinstance(settings.db, Address):
        raise BadInput(
            "a key was given, and it encrypts a file alone: leave OMOIDE_KEY and --key-file out, "
            "and have the server of the database encrypt its disk"
        )
    store = await _with_vectors(
        settings,
        await open_store(
            settings.db, create=create, key=settings.key, partitions=settings.partitions
        ),
    )
    return compose(
        settings,
        store=store,
        model=model,
        iterator=iterator,
        embedder=embedder,
        clock=clock or SystemClock(),
        worker=worker_name(),
    )


async def seal_store(settings: Settings, *, new: str) -> None:
    """Encrypt the database under a new key; its key so far, if it has one, is in the settings."""
    if isinstance(settings.db, Address):
        raise BadInput(
            "only a file can be encrypted, and --db is a server's database: have the server "
            "encrypt its disk"
        )
    import asyncio

    from omoide.adapters.stores.sqlite.cipher import seal

    await asyncio.to_thread(seal, settings.db, old=settings.key, new=new)


async def _with_vectors(settings: Settings, store: SqlStore) -> Store:
    """The store with its vectors where the settings say. One whose vectors are in Qdrant is not
    opened without it: what is erased would stay there."""
    from omoide.adapters.stores.qdrant.store import QdrantStore, connect, joined

    try:
        if settings.vectors:
            points = connect(settings.vectors, key=settings.vectors_key)
            return await QdrantStore.join(store, points)
        outside = await joined(store)
    except BaseException:
        await store.close()
        raise
    if not outside:
        return store
    await store.close()
    raise BadInput(
        "the vectors of this database are in Qdrant: set OMOIDE_VECTORS=qdrant://HOST:PORT as "
        "before, or bring everything into a new database with omoide migrate"
    )


async def open_store(
    where: Path | Address, *, create: bool = True, key: str = "", partitions: int = 16
) -> SqlStore:
    """The database in a file, encrypted if there is a key; or on a server, with so many partitions
    if it is new."""
    if isinstance(where, Address):
        from omoide.adapters.stores.postgres import PostgresStore

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
) -> Migrated:
    """Bring every owner of one database into another, each checked row by row. Run again after
    it was broken off, it goes on where it stopped. The key is that of each of them that is a
    file."""
    from omoide.adapters.stores.sql.moving import move_all

    if source == target:
        raise BadInput("a database cannot be migrated into itself: --from and --to are the same")
    async with AsyncExitStack() as opened:
        stores: list[SqlStore] = []
        for where, create in ((source, False), (target, True)):
            store = await open_store(where, create=create, key=key, partitions=partitions)
            opened.push_async_callback(store.close)
            stores.append(store)
        here, there = stores
        return await move_all(here, there, tenant=tenant, progress=progress)


def key_rows(settings: Settings) -> KeyRows | Path:
    """Where the keys of a database are kept: in a server's database, or in a file beside ours."""
    where = settings.db
    if not isinstance(where, Address):
        return where.with_name(f"{where.name}.keys")
    try:
        from omoide.adapters.stores.postgres.keys import PostgresKeys
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"PostgreSQL needs {error.name}: pip install 'omoide[postgres]'"
        ) from error
    return PostgresKeys(where, partitions=settings.partitions)


def worker_name() -> str:
    """A name for this process that tells others on this machine whether it still runs."""
    from omoide.adapters.stores.sql.workers import worker_name

    return worker_name()


def open_sync(settings: Settings | None = None) -> SyncMemory:
    """The same for code without asyncio, with its worker running."""
    return SyncMemory(open_memory(settings or Settings()))


def chat_model(
    settings: Settings, spec: str, *, progress: Progress | None = None, whole: bool = False
) -> ChatModel:
    """The model that `spec` names: of the catalogue, in a file, or behind an endpoint, which is
    asked for `whole` answers where nobody reads along."""
    from omoide.adapters.models.catalogue import GgufFile, RemoteModel, resolve

    choice = resolve(spec)
    if isinstance(choice, RemoteModel):
        from omoide.adapters.models.endpoint import Timeouts
        from omoide.adapters.models.openai import OpenAIChat

        return OpenAIChat(
            choice.base_url,
            choice.model,
            api_key=settings.api_key or None,
            window=settings.window,
            grammar=settings.grammar,
            whole=whole,
            timeouts=Timeouts(between=settings.timeout),
        )

    from omoide.adapters.models.adapter import signature
    from omoide.adapters.models.lazy import LazyChat
    from omoide.adapters.models.tuned import adapters_for, stamps_in

    adapters = adapters_for(choice, wanted=settings.adapter, stamps=stamps_in(settings.models))

    def embedded(path: Path, name: str) -> ChatModel:
        from omoide.adapters.models.embedded import EmbeddedChat

        return EmbeddedChat(
            path,
            name=name,
            window=settings.window,
            threads=settings.threads or None,
            adapters=adapters,
            stall=settings.timeout,
        )

    if isinstance(choice, GgufFile):
        return embedded(choice.path, choice.path.stem)

    async def load() -> ChatModel:
        from omoide.adapters.models.download import Cache

        cache = Cache(settings.models, offline=settings.offline)
        return embedded(await cache.fetch(choice.artifact, progress=progress), choice.name)

    name = "+".join((choice.name, *(adapter.name for adapter in adapters)))
    return LazyChat(
        load,
        name=name,
        window=settings.window,
        author=partial(signature, choice.name, adapters),
    )


def make_embedder(settings: Settings) -> Embedder | None:
    """The embedder of that name, or behind an endpoint; None if recall is to go by words only."""
    from omoide.adapters.embedders import choose

    return choose(
        settings.embedder,
        models=settings.models,
        offline=settings.offline,
        api_key=settings.api_key or None,
    )


def picture(svg: str) -> bytes:
    """An SVG as PNG."""
    from omoide.adapters.pictures import png

    return png(svg)


def make_token_encoder(settings: Settings, name: str = "gte-small") -> TokenEncoder:
    """What gives the vectors of tokens, for likeness token by token (`evals.metrics.encoded`)."""
    from omoide.adapters.embedders import choose_tokens

    return choose_tokens(name, models=settings.models, offline=settings.offline)


async def passing_store() -> Store:
    """A store in memory, which dies with it: for benchmarks."""
    from omoide.adapters.stores.sqlite import SqliteStore

    return await SqliteStore.open(":memory:")


def word_analyser(language: str) -> Analyser:
    """What takes the words of a language apart. Raises `MissingExtra` where it is not installed."""
    from omoide.adapters.analysers import choose

    return choose(language)
