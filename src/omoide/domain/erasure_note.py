"""The note that an owner was erased: it outlives the owner and does not name them."""

from __future__ import annotations

import hmac
import json
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from omoide.domain.turn import Owner

_NEXT = timedelta(microseconds=1)


def note_name(key: bytes, owner: Owner) -> str:
    """The name of an owner's note, by the secret of the database."""
    who = json.dumps([owner.tenant, owner.user]).encode()
    return f"erased-{hmac.new(key, who, sha256).hexdigest()[:32]}"


def noted_time(at: datetime, *, before: datetime | None) -> datetime:
    """The time of an erasure: later than that of the one before, whatever the clocks say."""
    return at if before is None else max(at, before + _NEXT)
