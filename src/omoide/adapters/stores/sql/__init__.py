"""The store in SQL that SQLite and PostgreSQL share: each side of it, statement by statement."""
