"""Whether what is to be stored rests on something that was erased while it was being made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.adapters.stores.sqlite.rows import array
from omoide.errors import StaleVersion

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw


def refuse_erased(
    connection: apsw.Connection,
    owner: int,
    what: str,
    *,
    cited: Iterable[str] = (),
    sessions: Iterable[int] = (),
) -> None:
    """Refuse words that came from what is no longer there. Only where something was erased:
    elsewhere a source that is unknown is the caller's own affair."""
    [(lost,)] = connection.execute(
        "SELECT erasures AND (EXISTS "
        "(SELECT 1 FROM json_each(?2) AS cited WHERE NOT EXISTS "
        "  (SELECT 1 FROM turns WHERE turns.owner = ?1 AND turns.id = cited.value)) OR EXISTS "
        "(SELECT 1 FROM json_each(?3) AS cited WHERE cited.value <= owners.sessions AND NOT EXISTS "
        "  (SELECT 1 FROM sessions AS s WHERE s.owner = ?1 AND s.number = cited.value))) "
        "FROM owners WHERE id = ?1",
        (owner, array(sorted(set(cited))), array(sorted(set(sessions)))),
    ).fetchall()
    if lost:
        raise StaleVersion(f"{what} rests on turns that were erased meanwhile; make it again")
