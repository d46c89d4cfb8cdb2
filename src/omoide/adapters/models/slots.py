"""Which slot of llama.cpp a request goes into, where requests have different adapters.

What a slot has computed serves only the adapter it was computed with. Left to itself llama.cpp
looks at the words alone, and would wipe a long conversation for a short note that begins alike.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class _Slot:
    """What a slot last did, and for whom."""

    adapter: str | None = None
    prompt: str = ""
    used: int = 0
    """The number of the request; 0 if it was never used."""
    busy: bool = False


class Slots:
    """So many slots; at most as many requests may have one at a time."""

    def __init__(self, count: int) -> None:
        self._slots = [_Slot() for _ in range(count)]
        self._taken = 0
        self._lock = threading.Lock()

    def take(self, prompt: str, *, adapter: str | None) -> int:
        """The free slot that has most of the prompt already, with that adapter; else one that
        nobody misses: unused, or with what an adapter computed, or used longest ago."""
        with self._lock:
            free = [number for number, slot in enumerate(self._slots) if not slot.busy]
            best = max(free, key=lambda n: self._worth(self._slots[n], prompt, adapter))
            self._taken += 1
            self._slots[best] = _Slot(adapter=adapter, prompt=prompt, used=self._taken, busy=True)
            return best

    def give(self, number: int) -> None:
        """The request is over."""
        with self._lock:
            self._slots[number] = replace(self._slots[number], busy=False)

    @staticmethod
    def _worth(slot: _Slot, prompt: str, adapter: str | None) -> tuple[int, bool, bool, int]:
        same = slot.used > 0 and slot.adapter == adapter
        shared = _shared(slot.prompt, prompt) if same else 0
        # A few common words are not worth a conversation.
        kept = shared if shared * 10 >= len(prompt) else 0
        return (kept, slot.used == 0, slot.adapter is not None, -slot.used)


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
