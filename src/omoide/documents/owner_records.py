"""Reads and changes the records of owners, which are stored as documents."""

from __future__ import annotations

import asyncio
import json
import secrets
import uuid
from collections import OrderedDict
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote

from omoide.documents.record import Record
from omoide.domain import Owner
from omoide.domain.erasure_note import note_name, noted_time
from omoide.errors import EmbedderMismatch, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from omoide.documents.place import Documents
    from omoide.ports import Space

T = TypeVar("T")

COMMON = "-"
"""The key of the document that all owners share."""
_CACHED = 64
"""Most decoded records in the cache; each is valid while its document is unchanged."""


@dataclass
class _Common:
    """The data that all owners share."""

    spaces: dict[str, list[Any]] = field(default_factory=dict)
    """Version and dimensions of each space, by name."""
    last_job: int = 0
    receipt_key: str = ""
    """In hexadecimal; empty until it is first asked for."""

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()


class OwnerRecords:
    """The records of all owners, and the data they share."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._closed = False
        self._cache: OrderedDict[str, tuple[bytes, Record]] = OrderedDict()
        self._locks = tuple(asyncio.Lock() for _ in range(_CACHED))

    async def read(self, owner: Owner) -> Record:
        """The owner's record, empty if the owner is unknown. Do not change it."""
        return (await self._load(owner))[1]

    async def change(self, owner: Owner, work: Callable[[Record], T]) -> T:
        """Call `work` with a copy of the record and store the copy, unless `work` raises or changes
        nothing. `work` is called again if another process changed the document meanwhile."""
        async with self._locks[hash(owner) % len(self._locks)]:
            while True:
                old, before = await self._load(owner)
                after = before.copy()
                result = work(after)
                if after == before or await self._store(after, old=old):
                    return result

    async def remove(self, owner: Owner, look: Callable[[Record], T]) -> T | None:
        """Remove an owner. Returns the result of `look` for the record; None if unknown."""
        while True:
            old, record = await self._load(owner)
            if old is None:
                return None
            result = look(record)
            self._cache.pop(_key(owner), None)
            if await self._documents.swap(_key(owner), old=old, new=None):
                return result

    async def owners(self) -> tuple[Owner, ...]:
        """All owners, sorted by tenant and name."""
        self._check()
        pairs = (key.split("/") for key in await self._documents.keys() if "/" in key)
        return tuple(sorted(Owner(tenant=unquote(t), user=unquote(u)) for t, u in pairs))

    async def measures(self, space: Space, *, create: bool = False) -> tuple[str, int] | None:
        """Version and dimensions of the space with that name; None if it is not in use."""
        self._check()
        while True:
            old, common = await self._common()
            if known := common.spaces.get(space.name):
                return known[0], known[1]
            if not create:
                return None
            common.spaces[space.name] = [space.version, space.dimensions]
            await self._documents.swap(COMMON, old=old, new=common.encode())

    async def check(self, space: Space, *, create: bool = False) -> bool:
        """Whether the space is in use. Raises `EmbedderMismatch` if it is in use with another
        version or other dimensions."""
        known = await self.measures(space, create=create)
        if known not in (None, (space.version, space.dimensions)):
            raise EmbedderMismatch(
                f"{space.name} is already in use as {known}, not with version {space.version!r} "
                f"and {space.dimensions} dimensions; give the new embedder another name"
            )
        return known is not None

    async def receipt_key(self) -> bytes:
        """The secret that receipts are signed with."""
        self._check()
        while True:
            old, common = await self._common()
            if common.receipt_key:
                return bytes.fromhex(common.receipt_key)
            common.receipt_key = secrets.token_hex(32)
            await self._documents.swap(COMMON, old=old, new=common.encode())

    async def note_erasure(self, owner: Owner, *, at: datetime) -> None:
        """Note that the owner is about to be erased."""
        stored = False
        while not stored:
            old, before = await self.last_erasure(owner)
            new = noted_time(at, before=before).isoformat().encode()
            stored = await self._documents.swap(await self._note_key(owner), old=old, new=new)

    async def last_erasure(self, owner: Owner) -> tuple[bytes | None, datetime | None]:
        """The note of the owner's last erasure, as it is stored and as a time."""
        note = await self._documents.read(await self._note_key(owner))
        return note, None if note is None else datetime.fromisoformat(note.decode())

    async def _note_key(self, owner: Owner) -> str:
        return f"-{note_name(await self.receipt_key(), owner)}"

    async def close(self) -> None:
        """Close the backend."""
        if not self._closed:
            self._closed = True
            await self._documents.close()

    def _check(self) -> None:
        if self._closed:
            raise StoreError("the store is closed: open it again")

    async def _common(self) -> tuple[bytes | None, _Common]:
        document = await self._documents.read(COMMON)
        return document, _Common() if document is None else _Common(**json.loads(document))

    async def _numbers(self, count: int) -> range:
        """Reserve that many new job ids."""
        while True:
            old, common = await self._common()
            first = common.last_job + 1
            common.last_job += count
            if await self._documents.swap(COMMON, old=old, new=common.encode()):
                return range(first, first + count)

    async def _load(self, owner: Owner) -> tuple[bytes | None, Record]:
        self._check()
        key = _key(owner)
        document = await self._documents.read(key)
        if document is None:
            self._cache.pop(key, None)
            return None, Record(owner)
        entry = self._cache.get(key)
        if entry is None or entry[0] != document:
            entry = (document, Record.decode(document))
        self._put(key, entry)
        return entry

    def _put(self, key: str, entry: tuple[bytes, Record]) -> None:
        self._cache[key] = entry
        self._cache.move_to_end(key)
        while len(self._cache) > _CACHED:
            self._cache.popitem(last=False)

    async def _store(self, record: Record, *, old: bytes | None) -> bool:
        record.identity = record.identity or uuid.uuid4().hex
        new = [job for job in record.jobs if job.id < 0]
        if new:
            numbers = await self._numbers(len(new))
            ids = {job.id: n for job, n in zip(new, numbers, strict=True)}
            record.jobs = [replace(job, id=ids.get(job.id, job.id)) for job in record.jobs]
        key, document = _key(record.owner), record.encode()
        if not await self._documents.swap(key, old=old, new=document):
            return False
        self._put(key, (document, record))
        return True


def _key(owner: Owner) -> str:
    return "/".join(
        quote(name, safe="").replace(".", "%2E").replace("~", "%7E")
        for name in (owner.tenant, owner.user)
    )
