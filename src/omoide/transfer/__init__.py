"""Taking memories along: everything out as JSON lines, and in again; other programs' exports."""

from omoide.transfer.bring_in import Brought, bring_in
from omoide.transfer.detect import Foreign, read
from omoide.transfer.export import export
from omoide.transfer.foreign import Conversation, Heard, LeftOut
from omoide.transfer.records import SCHEMA, Record, from_record, to_record
from omoide.transfer.restore import Contents
from omoide.transfer.restoring import Restored, restore
from omoide.transfer.schema import schema

__all__ = [
    "SCHEMA",
    "Brought",
    "Contents",
    "Conversation",
    "Foreign",
    "Heard",
    "LeftOut",
    "Record",
    "Restored",
    "bring_in",
    "export",
    "from_record",
    "read",
    "restore",
    "schema",
    "to_record",
]
