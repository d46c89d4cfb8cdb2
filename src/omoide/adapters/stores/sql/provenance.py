"""Whether what is to be stored rests on something that was erased while it was being made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.errors import StaleVersion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omoide.adapters.stores.sql.connection import Connection


def refuse_erased(
    connection: Connection,
    owner: int,
    what: str,
    *,
    cited: Iterable[str] = (),
    sessions: Iterable[int] = (),
) -> None:
    """Refuse words that came from what is no longer there. Only where something was erased:
    elsewhere a source that is unknown is the caller's own affair."""
    [(erasures, given)] = connection.execute(
        "SELECT erasures, sessions FROM owners WHERE id = ?", (owner,)
    )
    if not erasures:
        return
    turns, numbers = set(cited), {number for number in sessions if number <= given}
    [(found,)] = connection.execute(
        "SELECT count(*) FROM turns INDEXED BY turns_id "
        "WHERE owner = ? AND id IN (SELECT value FROM json_each(?))",
        (owner, sorted(turns)),
    )
    [(there,)] = connection.execute(
        "SELECT count(*) FROM sessions "
        "WHERE owner = ? AND number IN (SELECT value FROM json_each(?))",
        (owner, sorted(numbers)),
    )
    if found < len(turns) or there < len(numbers):
        raise StaleVersion(f"{what} rests on turns that were erased meanwhile; make it again")
