"""Export and import: all of a user as JSON lines and back, and exports of other programs."""

from omoide.transfer.detect import ForeignExport, read, read_values
from omoide.transfer.export import export
from omoide.transfer.foreign_conversations import ForeignConversation, ForeignMessage, SkippedItem
from omoide.transfer.foreign_memories import ForeignFact, ForeignMemories, KeptItem
from omoide.transfer.importing import ImportResult, import_conversations
from omoide.transfer.importing_memories import MemoriesImportResult, import_memories
from omoide.transfer.records import SCHEMA, Record, from_record, to_record
from omoide.transfer.restore import ExportContents, export_contents, read_records
from omoide.transfer.restoring import RestoreResult, restore
from omoide.transfer.schema import schema

__all__ = [
    "SCHEMA",
    "ExportContents",
    "ForeignConversation",
    "ForeignExport",
    "ForeignFact",
    "ForeignMemories",
    "ForeignMessage",
    "ImportResult",
    "KeptItem",
    "MemoriesImportResult",
    "Record",
    "RestoreResult",
    "SkippedItem",
    "export",
    "export_contents",
    "from_record",
    "import_conversations",
    "import_memories",
    "read",
    "read_records",
    "read_values",
    "restore",
    "schema",
    "to_record",
]
