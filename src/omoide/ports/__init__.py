"""Protocols that adapters implement. The docstrings are the contract; `omoide.testing.contracts`
tests every adapter against it.

All times are aware datetimes in UTC. All methods may be called from many tasks at once.
"""

from omoide.ports.analysis import Analyser, Role, Tokenizer
from omoide.ports.models import (
    AuthoredModel,
    BatchableModel,
    ChatModel,
    Clock,
    Completion,
    Embedder,
    Message,
    PreparableModel,
    Request,
    Skill,
    Space,
    TokenEncoder,
    TokenVectors,
    Vectors,
    is_tuned_for,
)
from omoide.ports.progress import Progress
from omoide.ports.store import (
    Archive,
    Erased,
    EventStore,
    FactStore,
    Hit,
    JobStore,
    Ledger,
    MemoStore,
    NoteStore,
    SearchData,
    SearchIndex,
    Store,
    SummaryStore,
    TextToEmbed,
    TurnStore,
)
from omoide.ports.vectors import VectorIndex, VectorItem, VectorOwner

__all__ = [
    "Analyser",
    "Archive",
    "AuthoredModel",
    "BatchableModel",
    "ChatModel",
    "Clock",
    "Completion",
    "Embedder",
    "Erased",
    "EventStore",
    "FactStore",
    "Hit",
    "JobStore",
    "Ledger",
    "MemoStore",
    "Message",
    "NoteStore",
    "PreparableModel",
    "Progress",
    "Request",
    "Role",
    "SearchData",
    "SearchIndex",
    "Skill",
    "Space",
    "Store",
    "SummaryStore",
    "TextToEmbed",
    "TokenEncoder",
    "TokenVectors",
    "Tokenizer",
    "TurnStore",
    "VectorIndex",
    "VectorItem",
    "VectorOwner",
    "Vectors",
    "is_tuned_for",
]
