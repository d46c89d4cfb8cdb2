"""What the latest reply to each user was given by memory, and why: for whoever looks at the page.

It is kept in this process only, for replies through the proxy and through REST alike, and goes
when anything of the user is erased.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.memory.mechanism import Contribution

MOST = 1024
"""Users whose latest reply is kept."""


@dataclass(frozen=True, kw_only=True)
class Latest:
    """A reply's beginning."""

    text: str
    """What the user had said."""
    time: datetime
    session: int
    contributions: tuple[Contribution, ...]


class Lately:
    """The latest replies, by tenant and user."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], Latest] = OrderedDict()

    def note(self, tenant: str, user: str, latest: Latest) -> None:
        """Keep this one, in place of the one before."""
        self._known[tenant, user] = latest
        self._known.move_to_end((tenant, user))
        while len(self._known) > MOST:
            self._known.popitem(last=False)

    def of(self, tenant: str, user: str) -> Latest | None:
        """The user's, unless there was none since the server was started."""
        return self._known.get((tenant, user))

    def forget(self, tenant: str, user: str) -> None:
        """Drop what holds words of a user of whom something is erased."""
        self._known.pop((tenant, user), None)
