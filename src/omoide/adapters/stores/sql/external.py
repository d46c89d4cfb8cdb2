"""Erasure of data stored outside the database.

No transaction spans both. So an erasure queues a job in its own transaction for what must be
removed elsewhere, and also tries to remove it at once; the job is retried until it succeeds. When a
whole owner is erased, no row is left for the job to refer to, so a placeholder owner without a
user's name takes its place until the job is done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from omoide.adapters.stores.sql.connection import Connection
    from omoide.domain import Owner

_MARK = "\x7f"
"""Not printable, so no user's name can contain it."""
_ERASED = "erased "
_VANISHING = "erasing "


def erased_owner_name(number: int) -> str:
    """The placeholder's name for the erased owner with this number."""
    return f"{_ERASED}{number}{_MARK}"


def vanishing_owner_name(number: int) -> str:
    """The name under which the rows of an erased owner are kept until all are removed."""
    return f"{_VANISHING}{number}{_MARK}"


def is_vanishing_owner(user: str) -> bool:
    """Whether this is the name of an erased owner whose rows are being removed."""
    return user.startswith(_VANISHING) and user.endswith(_MARK)


def is_erased_owner(user: str) -> bool:
    """Whether this is the name of a placeholder or of a vanishing owner, not of a user."""
    return user.endswith(_MARK)


def users_of(connection: Connection, *, tenant: str) -> list[str]:
    """The users of a tenant, without placeholders and vanishing owners."""
    rows = connection.execute(
        'SELECT "user" FROM owners WHERE tenant = ? ORDER BY "user"', (tenant,)
    )
    return [user for (user,) in rows if not is_erased_owner(user)]


def erased_owner(user: str) -> int | None:
    """The number of the erased owner, if this is the name of a placeholder."""
    if not (user.startswith(_ERASED) and user.endswith(_MARK)):
        return None
    return int(user.removesuffix(_MARK).removeprefix(_ERASED))


@dataclass(frozen=True, kw_only=True)
class ExternalErasure:
    """What an erasure has to remove outside the database."""

    owner: Owner
    number: int
    whole: bool
    awaited: bool
    """Whether a worker may be writing there now: then the job must check again later."""


class ExternalStorage(Protocol):
    """Storage outside the database."""

    def plan_erasure(
        self, connection: Connection, owner: Owner, number: int, *, whole: bool
    ) -> ExternalErasure:
        """Queue a job for the removal, in the erasure's transaction and before it removes
        anything."""

    async def remove(self, erasure: ExternalErasure) -> bool:
        """Try to remove the data now; False if that is left to the job."""
