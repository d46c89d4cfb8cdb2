"""The engine behind `Memory`: exchanges, versions, jobs and cost."""

from omoide.engine.asking import Answer, Exchange, Stored
from omoide.engine.context import Context, ContextBuilder
from omoide.engine.exchange import Exchanges
from omoide.engine.file_history import FileVersion
from omoide.engine.forgetting import FactMentions
from omoide.engine.ledger import Account, complete
from omoide.engine.memory import Memory
from omoide.engine.messages import Utterance, utterances, with_memory
from omoide.engine.reply import Reply
from omoide.engine.runtime import Runtime
from omoide.engine.sync import SyncExchange, SyncMemory, SyncReply
from omoide.engine.versions import Because, When
from omoide.engine.worker import Worker

__all__ = [
    "Account",
    "Answer",
    "Because",
    "Context",
    "ContextBuilder",
    "Exchange",
    "Exchanges",
    "FactMentions",
    "FileVersion",
    "Memory",
    "Reply",
    "Runtime",
    "Stored",
    "SyncExchange",
    "SyncMemory",
    "SyncReply",
    "Utterance",
    "When",
    "Worker",
    "complete",
    "utterances",
    "with_memory",
]
