"""The methods of a server's memory that bring in what other programs stored."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from omoide.client.decoding import decode, decode_all
from omoide.client.editor import RemoteEditor
from omoide.client.encoding import iso
from omoide.transfer import (
    ImportResult,
    MemoriesImportResult,
    RestoreResult,
    SkippedItem,
    export_contents,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Sequence

    from omoide.ports import Progress
    from omoide.transfer import (
        ExportContents,
        ForeignConversation,
        ForeignFact,
        ForeignMemories,
        KeptItem,
        Record,
    )

T = TypeVar("T")

BATCH = 500
"""Most conversations, facts or notes of one request."""
BATCH_CHARS = 1_000_000
"""About how many characters are sent in one request."""
UNLIMITED_WAIT = 0.0
"""No timeout: a large import takes as long as it takes."""


class RemoteImporter(RemoteEditor):
    """Restores exports, and imports conversations and memories of other products."""

    async def restore(
        self,
        user: str,
        contents: ExportContents | Iterable[Record] | AsyncIterable[Record],
        *,
        at: datetime | None = None,
    ) -> RestoreResult:
        """Restore what `export` wrote, in one request: the server's limit of a body applies. Needs
        a key with the scope admin."""
        contents = await export_contents(contents)
        body = {"records": list(contents.records()), "at": iso(at, "at")}
        return decode(RestoreResult, await self._import("/api/restore", user, body))

    async def import_conversations(
        self,
        user: str,
        conversations: Iterable[ForeignConversation],
        *,
        digest: bool = True,
        progress: Progress | None = None,
        at: datetime | None = None,
    ) -> ImportResult:
        """Record conversations from another product's export, each once, with their titles. Many
        are sent in several requests."""
        given = _by_time(conversations, at)
        counts: Counter[str] = Counter()
        left_out = [skipped for conversation in given for skipped in conversation.left_out]
        done = 0
        for batch in _talks(given):
            body = {"conversations": _sent(batch), "digest": digest, "at": iso(at, "at")}
            answer = await self._import("/api/import/conversations", user, body)
            left_out += decode_all(SkippedItem, answer.pop("left_out"))
            counts.update(answer)
            done += len(batch)
            if progress:
                progress(done, len(given), "recording conversations")
        return ImportResult(
            sessions=counts["sessions"],
            turns=counts["turns"],
            known=counts["known"],
            to_digest=counts["to_digest"],
            left_out=tuple(left_out),
        )

    async def import_memories(
        self,
        user: str,
        memories: ForeignMemories,
        *,
        digest: bool = True,
        progress: Progress | None = None,
        at: datetime | None = None,
    ) -> MemoriesImportResult:
        """Take over what another memory product has stored about the user, each item once. Much is
        sent in several requests."""
        counts: Counter[str] = Counter()
        kept: Counter[str] = Counter()
        left_out = list(memories.left_out)
        talks = _by_time(memories.conversations, at)
        left_out += [skipped for conversation in talks for skipped in conversation.left_out]
        parts: list[tuple[str, list[dict[str, Any]]]] = [
            *(("conversations", _sent(batch)) for batch in _talks(talks)),
            *(("facts", batch) for batch in _items(memories.facts)),
            *(("kept", batch) for batch in _items(memories.kept)),
        ]
        for number, (name, values) in enumerate(parts, 1):
            about = {"source": memories.source, "digest": digest, "at": iso(at, "at")}
            answer = await self._import("/api/import/memories", user, {**about, name: values})
            left_out += decode_all(SkippedItem, answer.pop("left_out"))
            kept.update(answer.pop("kept"))
            counts.update(answer)
            if progress:
                progress(number, len(parts), "importing memories")
        return MemoriesImportResult(
            items=memories.items,
            sessions=counts["sessions"],
            turns=counts["turns"],
            facts=counts["facts"],
            known=counts["known"],
            kept=kept,
            to_digest=counts["to_digest"],
            left_out=tuple(left_out),
        )

    async def _import(self, path: str, user: str, body: dict[str, Any]) -> Any:  # noqa: ANN401
        return await self._post(path, user, body, wait=UNLIMITED_WAIT)


def _by_time(
    conversations: Iterable[ForeignConversation], at: datetime | None
) -> list[ForeignConversation]:
    """In the order in which the library records them, which numbers their sessions."""
    now = at or datetime.now(UTC)

    def start(conversation: ForeignConversation) -> datetime:
        timed = conversation.with_times(now).messages
        return (timed[0].time if timed else None) or now

    return sorted(conversations, key=start)


def _talks(conversations: Sequence[ForeignConversation]) -> Iterator[list[ForeignConversation]]:
    """Those that have messages, in batches."""
    return _batches(
        [conversation for conversation in conversations if conversation.messages],
        lambda conversation: sum(len(message.text) for message in conversation.messages),
    )


def _batches(values: Iterable[T], length: Callable[[T], int]) -> Iterator[list[T]]:
    """Batches that a server takes, by the lengths of the texts."""
    batch: list[T] = []
    size = 0
    for value in values:
        if batch and (len(batch) == BATCH or size + length(value) > BATCH_CHARS):
            yield batch
            batch, size = [], 0
        batch.append(value)
        size += length(value)
    if batch:
        yield batch


def _items(values: Sequence[ForeignFact | KeptItem]) -> Iterator[list[dict[str, Any]]]:
    """Facts or kept items as JSON, in batches."""
    for batch in _batches(values, lambda value: len(value.text)):
        yield [asdict(value) for value in batch]


def _sent(conversations: Iterable[ForeignConversation]) -> list[dict[str, Any]]:
    """As JSON; what was left out of them is not sent."""
    sent = [asdict(conversation) for conversation in conversations]
    return [{name: v for name, v in fields.items() if name != "left_out"} for fields in sent]
