"""The store on a PostgreSQL server, for several machines. Needs the extra `postgres`."""

from omoide.adapters.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
