"""What memory contributed to each user's latest reply, and why. The page shows it.

Kept in this process only, for replies through the proxy and through REST. Dropped when anything of
the user is erased, by this process or another.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.mechanisms.base import Contribution

MAX_USERS = 1024
"""Number of users whose latest reply is kept."""


@dataclass(frozen=True, kw_only=True)
class LatestReply:
    """The message that was answered, and what memory contributed."""

    text: str
    """The user's message."""
    time: datetime
    session: int
    contributions: tuple[Contribution, ...]


@dataclass(frozen=True, kw_only=True)
class _Entry:
    reply: LatestReply
    mark: str
    """The user's erasure mark from before the reply's memory was read."""


class LatestReplies:
    """The latest replies, by tenant and user."""

    def __init__(self) -> None:
        self._replies: OrderedDict[tuple[str, str], _Entry] = OrderedDict()

    def note(self, tenant: str, user: str, latest: LatestReply, *, mark: str) -> None:
        """Replace the user's latest reply. `mark` is the user's erasure mark from before memory was
        read for it."""
        self._replies[tenant, user] = _Entry(reply=latest, mark=mark)
        self._replies.move_to_end((tenant, user))
        while len(self._replies) > MAX_USERS:
            self._replies.popitem(last=False)

    def of(self, tenant: str, user: str, *, mark: str) -> LatestReply | None:
        """The user's latest reply; None if there was none since the server started, or if something
        was erased since, so that `mark` is another."""
        entry = self._replies.get((tenant, user))
        if entry is not None and entry.mark != mark:
            self.forget(tenant, user)
            return None
        return entry.reply if entry is not None else None

    def forget(self, tenant: str, user: str) -> None:
        """Drop the entry of a user whose data is being erased: it quotes them."""
        self._replies.pop((tenant, user), None)
