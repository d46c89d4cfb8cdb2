"""The embedded database: one SQLite file, or memory for tests."""

from omoide.adapters.stores.sql.workers import worker_name
from omoide.errors import MissingExtra

try:
    from omoide.adapters.stores.sqlite.store import SqliteStore
except ModuleNotFoundError as error:
    if error.name != "apsw":
        raise
    raise MissingExtra(
        "a database file needs the module apsw, which is not installed: pip install 'apsw>=3.53', "
        "or 'apsw-sqlite3mc>=3.53' for an encrypted one"
    ) from error

__all__ = ["SqliteStore", "worker_name"]
