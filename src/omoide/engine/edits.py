"""Messages that a user took back by editing them: a chat goes on from the place where they stood.

The id of a message is a hash of all that was sent before it and of its text, so that another
message at the same place of the same history is known for certain. The first message of a chat has
no such place, as every new chat begins with one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.engine.messages import history_hash, is_same, latest, message_id, text_of

if TYPE_CHECKING:
    import hashlib
    from collections.abc import Iterable, Sequence

    from omoide.domain import Turn
    from omoide.engine.messages import ChatMessage


@dataclass(frozen=True, kw_only=True)
class HistoryPlace:
    """The place of a chat where a user's message stands: what was sent before it."""

    history: hashlib.blake2b

    def taken_back(self, turns: Iterable[Turn], *, besides: str) -> tuple[Turn, ...]:
        """Those of the turns, in order, that were said here before and followed from there, without
        the turn `besides`, which stands here now."""
        gone: list[Turn] = []
        history, within = self.history, False
        for turn in turns:
            if turn.speaker is Speaker.ASSISTANT:
                if within:
                    gone.append(turn)
                    history = history_hash(history, "assistant", turn.text)
                continue
            # What follows, or another edit of the first message.
            places = (history, self.history) if history is not self.history else (history,)
            after = (history_hash(place, "user", turn.text) for place in places)
            here = (hash_ for hash_ in after if is_same(turn.id, message_id(hash_)))
            found = next(here, None) if turn.id != besides else None
            if within := found is not None:
                gone.append(turn)
                history = found
        return tuple(gone)


def place_of(messages: Sequence[ChatMessage], *, session: str | None) -> HistoryPlace | None:
    """The place of the last message; None if it is no user's, or none of the assistant's comes
    before it."""
    spoken = [m for m in latest(messages) if m.get("role") in ("user", "assistant")]
    replies = [i for i, m in enumerate(spoken) if m.get("role") == "assistant"]
    if not replies or replies[-1] == len(spoken) - 1:
        return None
    history = history_hash(None, "session", session or "")
    for message in spoken[: replies[-1] + 1]:
        history = history_hash(history, str(message["role"]), text_of(message))
    return HistoryPlace(history=history)
