"""The store on a PostgreSQL server, for more than one machine. Needs the extra `postgres`."""

from omoide.adapters.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
