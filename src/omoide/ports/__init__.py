"""What the outside must offer. The docstrings are the contract; `tests/contract` holds every
adapter to it.

All times are aware datetimes in UTC. All methods are safe to call from many tasks at once.
"""

from typing import TYPE_CHECKING

from omoide.ports.models import (
    ChatModel,
    Clock,
    Completion,
    Embedder,
    Message,
    Request,
    Signing,
    Skill,
    Space,
    TokenEncoder,
    TokenVectors,
)
from omoide.ports.progress import Progress
from omoide.ports.store import (
    Archive,
    Erased,
    Events,
    Hit,
    Index,
    Jobs,
    Ledger,
    Memos,
    Notes,
    Store,
    Summaries,
    Text,
    Turns,
)

if TYPE_CHECKING:
    from omoide.ports.models import Vectors as Vectors

__all__ = [
    "Archive",
    "ChatModel",
    "Clock",
    "Completion",
    "Embedder",
    "Erased",
    "Events",
    "Hit",
    "Index",
    "Jobs",
    "Ledger",
    "Memos",
    "Message",
    "Notes",
    "Progress",
    "Request",
    "Signing",
    "Skill",
    "Space",
    "Store",
    "Summaries",
    "Text",
    "TokenEncoder",
    "TokenVectors",
    "Turns",
]
