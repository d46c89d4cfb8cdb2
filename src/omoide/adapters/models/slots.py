"""Chooses the llama.cpp slot for a request when requests use different LoRA adapters.

A slot's cache is valid only for the adapter it was computed with. llama.cpp's own choice compares
the text only, and would overwrite a long conversation with a short request that begins alike.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import NamedTuple


@dataclass(frozen=True, kw_only=True)
class _Slot:
    """What a slot last computed, and with which adapter."""

    adapter: str | None = None
    prompt: str = ""
    used: int = 0
    """The sequence number of its last request; 0 if it was never used."""
    busy: bool = False


class AcquiredSlot(NamedTuple):
    """A slot for a request."""

    number: int
    shared: int
    """How many characters of the prompt it has cached."""


class Slots:
    """A fixed number of slots. Callers may not run more requests than that at a time."""

    def __init__(self, count: int) -> None:
        self._slots = [_Slot() for _ in range(count)]
        self._taken = 0
        self._lock = threading.Lock()

    def acquire(self, prompt: str, *, adapter: str | None) -> AcquiredSlot:
        """The free slot that has cached most of the prompt with that adapter. If none has, an
        unused one, else one last used with an adapter, else the least recently used."""
        with self._lock:
            free = [number for number, slot in enumerate(self._slots) if not slot.busy]
            best = max(free, key=lambda n: self._score(self._slots[n], prompt, adapter))
            self._taken += 1
            shared = self._shared(self._slots[best], prompt, adapter)
            self._slots[best] = _Slot(adapter=adapter, prompt=prompt, used=self._taken, busy=True)
            return AcquiredSlot(number=best, shared=shared)

    def release(self, number: int) -> None:
        """Mark a slot as free again."""
        with self._lock:
            self._slots[number] = replace(self._slots[number], busy=False)

    @staticmethod
    def _shared(slot: _Slot, prompt: str, adapter: str | None) -> int:
        same = slot.used > 0 and slot.adapter == adapter
        return common_prefix(slot.prompt, prompt) if same else 0

    @classmethod
    def _score(cls, slot: _Slot, prompt: str, adapter: str | None) -> tuple[int, bool, bool, int]:
        shared = cls._shared(slot, prompt, adapter)
        # A short common prefix is not worth overwriting a conversation.
        kept = shared if shared * 10 >= len(prompt) else 0
        return (kept, slot.used == 0, slot.adapter is not None, -slot.used)


def common_prefix(left: str, right: str) -> int:
    """Length of the common prefix in characters."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(left), len(right)))
