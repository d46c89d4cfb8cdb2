"""What a webhook tells, and how it is signed.

The signature is that of the Standard Webhooks specification, for which libraries exist in most
languages: HMAC-SHA256 over the event's id, the time and the body.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from omoide.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

TOLERANCE = timedelta(minutes=5)
"""How old a delivery may be for `verify`: an older one may have been replayed."""
_PREFIX = "whsec_"
_AS_IT_STANDS = ("version", "facts", "by")
"""What an event tells as it is when it is delivered, which may change until it is tried again."""


class WebhookKind(StrEnum):
    """What happened."""

    MEMORY_UPDATED = "memory.updated"
    """A session was digested."""
    FACT_SUPERSEDED = "fact.superseded"
    """A fact no longer holds."""
    JOB_DEAD = "job.dead"
    """Work was given up and waits for a person."""
    PING = "ping"
    """A test of the connection."""


@dataclass(frozen=True, kw_only=True)
class WebhookEvent:
    """Something that happened to a user's memory. It has no words of the user unless the setting
    `webhook_texts` says so."""

    kind: WebhookKind
    time: datetime
    tenant: str = ""
    user: str = ""
    data: Mapping[str, object] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The same for each delivery of the same event, so that a receiver can drop repetitions."""
        named = {name: told for name, told in self.data.items() if name not in _AS_IT_STANDS}
        content = [self.kind.value, self.tenant, self.user, self.time.isoformat(), named]
        text = json.dumps(content, sort_keys=True, default=str)
        return f"evt_{hashlib.sha256(text.encode()).hexdigest()[:32]}"

    def body(self) -> bytes:
        """The event as JSON."""
        value = {
            "id": self.id,
            "type": self.kind.value,
            "timestamp": self.time.astimezone(UTC).isoformat(),
            "tenant": self.tenant,
            "user": self.user,
            "data": dict(self.data),
        }
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def signed_headers(event: WebhookEvent, *, secret: str, now: datetime) -> dict[str, str]:
    """The headers of a delivery."""
    seconds = str(int(now.timestamp()))
    signature = _signature(secret, event.id, seconds, event.body())
    return {
        "content-type": "application/json",
        "webhook-id": event.id,
        "webhook-timestamp": seconds,
        "webhook-signature": f"v1,{signature}",
    }


def verify(
    headers: Mapping[str, str],
    body: bytes,
    *,
    secret: str,
    now: datetime,
    tolerance: timedelta = TOLERANCE,
) -> bool:
    """Whether a delivery was signed with this secret, and lately. For receivers."""
    given = {name.lower(): value for name, value in headers.items()}
    id_, seconds = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not seconds.isdecimal() or len(seconds) > 12:
        return False
    if abs(now - datetime.fromtimestamp(int(seconds), UTC)) > tolerance:
        return False
    expected = f"v1,{_signature(secret, id_, seconds, body)}"
    return any(
        hmac.compare_digest(expected.encode(), one.encode())
        for one in given.get("webhook-signature", "").split(" ")
    )


def _signature(secret: str, id_: str, seconds: str, body: bytes) -> str:
    content = f"{id_}.{seconds}.".encode() + body
    return base64.b64encode(hmac.digest(_key(secret), content, "sha256")).decode()


def _key(secret: str) -> bytes:
    """The key's bytes: base64 after `whsec_`, else the text itself."""
    if not secret.startswith(_PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadInput("a webhook's secret that begins with whsec_ must go on in base64") from error
