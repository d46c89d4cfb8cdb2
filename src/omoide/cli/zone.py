"""The time zone of the times that commands print and take."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from omoide.domain.time import in_zone

if TYPE_CHECKING:
    from datetime import datetime, tzinfo


def zone() -> tzinfo | None:
    """The user's time zone, as `OMOIDE_TIMEZONE` names it; None for the machine's. Raises
    `BadInput` for a name that is none."""
    name = os.environ.get("OMOIDE_TIMEZONE", "")
    if not name:
        return None
    from omoide.engine.methods import zone_of  # late: most runs do not need it

    return zone_of(name)


def local(time: datetime) -> datetime:
    """The time in the user's time zone."""
    return in_zone(time, zone())
