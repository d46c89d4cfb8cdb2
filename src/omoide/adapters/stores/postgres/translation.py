"""Translates the shared SQL statements for PostgreSQL (see `sql/connection.py`)."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import count

_HINT = re.compile(r" (?:INDEXED BY \w+|NOT INDEXED)\b")
_LIST = re.compile(r"IN \(SELECT value FROM json_each\((\?\d*)\)\)")
_LOCK = re.compile(r"/\* (FOR [A-Z ]+) \*/")
_PLACEHOLDER = re.compile(r"\?(\d*)")


@lru_cache(maxsize=1024)
def to_postgres(statement: str) -> str:
    """The statement in PostgreSQL's dialect.

    >>> to_postgres("SELECT id FROM t INDEXED BY i WHERE n IN (SELECT value FROM json_each(?))")
    'SELECT id FROM t WHERE n = ANY($1)'
    >>> to_postgres("SELECT ?1 FROM t WHERE owner = ?1 AND n = ?2 /* FOR UPDATE */")
    'SELECT $1 FROM t WHERE owner = $1 AND n = $2 FOR UPDATE'
    """
    statement = _LOCK.sub(r"\1", _LIST.sub(r"= ANY(\1)", _HINT.sub("", statement)))
    numbers = count(1)
    return _PLACEHOLDER.sub(lambda match: f"${match[1] or next(numbers)}", statement)
