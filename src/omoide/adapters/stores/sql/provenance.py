"""A check that new memory is not based on something erased while it was being made."""

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
    facts: Iterable[str] = (),
) -> None:
    """Raise `StaleVersion` if cited turns, sessions or facts no longer exist. Checked only for
    owners with erasures: otherwise an unknown source is the caller's choice."""
    [(erasures, last_session)] = connection.execute(
        "SELECT erasures, sessions FROM owners WHERE id = ?", (owner,)
    )
    if not erasures:
        return
    turns, numbers = set(cited), {number for number in sessions if number <= last_session}
    [(turns_found,)] = connection.execute(
        "SELECT count(*) FROM turns INDEXED BY turns_id "
        "WHERE owner = ? AND id IN (SELECT value FROM json_each(?))",
        (owner, sorted(turns)),
    )
    [(sessions_found,)] = connection.execute(
        "SELECT count(*) FROM sessions "
        "WHERE owner = ? AND number IN (SELECT value FROM json_each(?))",
        (owner, sorted(numbers)),
    )
    stated = {name for name in facts if name}
    [(facts_found,)] = connection.execute(
        "SELECT count(*) FROM facts INDEXED BY facts_id "
        "WHERE owner = ? AND id IN (SELECT value FROM json_each(?))",
        (owner, sorted(stated)),
    )
    if turns_found < len(turns) or sessions_found < len(numbers) or facts_found < len(stated):
        raise StaleVersion(f"{what} cites turns or facts that were erased meanwhile; make it again")


def refuse_other_mark(mark: str | None, current: str) -> None:
    """Raise `StaleVersion` if something was erased since the erasure mark was `mark`."""
    if mark not in (None, current):
        raise StaleVersion("a note quotes what was erased meanwhile")
