"""The receipt of an erasure: what was removed, and what was searched afterwards.

It is signed with a secret of the database (HMAC-SHA256), so that the same server can tell later
whether it wrote it. It contains no words of the user: only names, kinds and counts.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from omoide.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 1
"""Version of the format, which is signed too."""
NOT_ONE = "this is not a receipt of omoide: give the file as it was saved"


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What an erasure removed, what was searched afterwards, and a signature."""

    id: str
    time: datetime
    tenant: str
    user: str
    scope: str
    """What was to be erased: `user`, `session 3`, `2 turns`, `1 sentence`."""
    removed: Mapping[str, int] = field(default_factory=dict)
    """How many items were removed, by kind."""
    searched: Mapping[str, int] = field(default_factory=dict)
    """How many items were looked through afterwards, by kind."""
    found: tuple[str, ...] = ()
    """Kinds in which something was still found. Empty means clean."""
    pending: bool = False
    """Whether vectors in an external index are still to be removed by a job."""
    written_by: str = ""
    """The version of omoide."""
    signature: str = ""
    """HMAC-SHA256 of everything else, in hexadecimal."""

    @property
    def clean(self) -> bool:
        """Whether nothing that was to be erased is left."""
        return not self.found and not self.pending

    def signed(self, key: bytes) -> Receipt:
        """The receipt with its signature."""
        return replace(self, signature=self._sign(key))

    def is_genuine(self, key: bytes) -> bool:
        """Whether it was signed with this key and not changed since."""
        return hmac.compare_digest(self._sign(key), self.signature)

    def to_json(self) -> str:
        """The receipt as a JSON text."""
        return json.dumps(self._content() | {"signature": self.signature}, indent=2)

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """The receipt of a JSON text. Raises `BadInput` if it is none."""
        try:
            content = json.loads(text, object_pairs_hook=_once_each)
            known = {"format", *(f.name for f in fields(cls))}
            if content.keys() != known or content.pop("format") != FORMAT:
                raise BadInput(NOT_ONE)
            content["time"] = datetime.fromisoformat(content["time"])
            content["found"] = tuple(content["found"])
            receipt = cls(**content)
            receipt._sign(b"")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BadInput(NOT_ONE) from error
        return receipt

    def _sign(self, key: bytes) -> str:
        text = json.dumps(self._content(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()

    def _content(self) -> dict[str, object]:
        """Everything that is signed."""
        return {
            "format": FORMAT,
            "id": self.id,
            "time": self.time.astimezone(UTC).isoformat(),
            "tenant": self.tenant,
            "user": self.user,
            "scope": self.scope,
            "removed": dict(self.removed),
            "searched": dict(self.searched),
            "found": list(self.found),
            "pending": self.pending,
            "written_by": self.written_by,
        }


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object without a key that stands in it twice: a reader might see the other value."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return content
