"""The embedded database: one SQLite file, or memory for tests."""

from omoide.adapters.stores.sql.workers import worker_name
from omoide.adapters.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore", "worker_name"]
