"""The port for traces and metrics of what memory does."""

from __future__ import annotations

from contextlib import nullcontext
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from omoide.domain import ModelCall, Owner


class MemoryOperation(StrEnum):
    """What is done, by the names of OpenTelemetry's conventions for generative AI."""

    SEARCH = "search_memory"
    """Recall, also to build the context of a reply."""
    RECORD = "upsert_memory"
    """Record turns."""
    DIGEST = "update_memory"
    """Digest a session."""
    ERASE = "delete_memory"


class Observed(Protocol):
    """An operation under way."""

    def asked(self, text: str) -> None:
        """Note what was searched for."""

    def records(self, count: int, texts: Iterable[str] = ()) -> None:
        """Note how many items it found, wrote or removed, and which."""


class Telemetry(Protocol):
    """Observes operations and model calls. It never raises."""

    def operation(
        self, operation: MemoryOperation, owner: Owner
    ) -> AbstractContextManager[Observed]:
        """Observe an operation while the block lasts, and the error that ends it."""

    def call(self, call: ModelCall) -> None:
        """Note a model call that has ended."""


class _Nothing:
    def asked(self, text: str) -> None:
        """Does nothing."""

    def records(self, count: int, texts: Iterable[str] = ()) -> None:
        """Does nothing."""


class NoTelemetry:
    """Observes nothing."""

    _nothing: AbstractContextManager[Observed] = nullcontext(_Nothing())

    def operation(
        self, operation: MemoryOperation, owner: Owner
    ) -> AbstractContextManager[Observed]:
        """See `Telemetry.operation`."""
        del operation, owner
        return self._nothing

    def call(self, call: ModelCall) -> None:
        """See `Telemetry.call`."""


OFF = NoTelemetry()
