"""One conversation as a framework keeps it: every item as it was, tool calls included.

Frameworks need back exactly what they stored, so the items are kept as notes of the user beside the
turns that memory records. They are exported with the user's memory and erased with it.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide_frameworks.bridge import call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide import Utterance
    from omoide_frameworks.bridge import Flow

Item = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """The items of one conversation of one user."""

    user: str
    session: str
    framework: str

    @property
    def kind(self) -> str:
        """The kind of its notes."""
        digest = hashlib.blake2b(self.session.encode(), digest_size=16).hexdigest()
        return f"app.{self.framework}.{digest}"

    def items(self) -> Flow[list[Item]]:
        """All items, oldest first."""
        notes = yield call("notes", self.user, kind=self.kind)
        return [item for note in notes for item in json.loads(note.text)]

    def add(self, items: Sequence[Item], said: Sequence[Utterance]) -> Flow[None]:
        """Append items, and record what was said in them."""
        if said:
            yield call("record", self.user, list(said), session=self.session)
        if items:
            key = f"{time.time_ns():020d}"
            text = json.dumps(list(items), ensure_ascii=False)
            yield call("put_note", self.user, kind=self.kind, key=key, text=text)

    def pop(self) -> Flow[Item | None]:
        """Remove the newest item, and return it. What was said in it stays in memory."""
        notes = yield call("notes", self.user, kind=self.kind)
        if not notes:
            return None
        newest = notes[-1]
        *rest, last = json.loads(newest.text)
        if rest:
            text = json.dumps(rest, ensure_ascii=False)
            yield call("put_note", self.user, kind=self.kind, key=newest.key, text=text)
        else:
            yield call("remove_notes", self.user, kind=self.kind, keys=[newest.key])
        item: Item = last
        return item

    def clear(self) -> Flow[None]:
        """Remove all items, and end the session. What was said in it stays in memory."""
        yield call("remove_notes", self.user, kind=self.kind)
        sessions = yield call("sessions", self.user)
        for session in sessions:
            if session.key == self.session and session.open:
                yield call("end_session", self.user, session=session.number)
