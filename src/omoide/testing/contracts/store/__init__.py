"""The contract of `omoide.ports.Store`: subclass `StoreContract` and implement `open`."""

from omoide.testing.contracts.store.erasure import ErasureContract
from omoide.testing.contracts.store.events import EventsContract
from omoide.testing.contracts.store.fact_erasure import FactErasureContract
from omoide.testing.contracts.store.facts import FactsContract
from omoide.testing.contracts.store.jobs import JobsContract
from omoide.testing.contracts.store.kinds import KindsContract
from omoide.testing.contracts.store.later_turns import LaterTurnsContract
from omoide.testing.contracts.store.ledger import LedgerContract
from omoide.testing.contracts.store.memory_erasure import MemoryErasureContract
from omoide.testing.contracts.store.memos import MemosContract
from omoide.testing.contracts.store.notes import NotesContract
from omoide.testing.contracts.store.put_back import PutBackContract
from omoide.testing.contracts.store.sharing import SharingContract
from omoide.testing.contracts.store.summaries import SummariesContract
from omoide.testing.contracts.store.survey import SurveyContract
from omoide.testing.contracts.store.turns import TurnsContract
from omoide.testing.contracts.store.words import WordsContract

__all__ = [
    "ErasureContract",
    "EventsContract",
    "FactErasureContract",
    "FactsContract",
    "JobsContract",
    "KindsContract",
    "LaterTurnsContract",
    "LedgerContract",
    "MemoryErasureContract",
    "MemosContract",
    "NotesContract",
    "PutBackContract",
    "SharingContract",
    "StoreContract",
    "SummariesContract",
    "SurveyContract",
    "TurnsContract",
    "WordsContract",
]


class StoreContract(
    TurnsContract,
    LaterTurnsContract,
    SummariesContract,
    EventsContract,
    MemosContract,
    FactsContract,
    NotesContract,
    JobsContract,
    LedgerContract,
    WordsContract,
    KindsContract,
    SurveyContract,
    ErasureContract,
    MemoryErasureContract,
    FactErasureContract,
    PutBackContract,
    SharingContract,
):
    """The full contract of a store."""
