"""Thoughts before an answer: some models write them into it, between marks of their own."""

from __future__ import annotations

_OPENING, _CLOSING = "<think>", "</think>"


class Thoughts:
    """Leaves out the thoughts at the beginning of one answer, piece by piece as it comes."""

    def __init__(self) -> None:
        self._held = ""
        """The beginning, as long as it may be thoughts; of thoughts only their end."""
        self._thought = False
        self._over = False

    def spoken(self, piece: str) -> str:
        """What the next piece says."""
        if self._over:
            return piece
        self._held += piece
        start = self._held.lstrip()
        if _OPENING.startswith(start):  # also if nothing came yet
            return ""
        if not start.startswith(_OPENING):
            self._over = True
            return start if self._thought else self._held
        end = start.find(_CLOSING)
        if end < 0:
            self._held = _OPENING + start[len(_OPENING) :][-len(_CLOSING) :]
            return ""
        self._thought, self._held = True, ""
        return self.spoken(start[end + len(_CLOSING) :])
