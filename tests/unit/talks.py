"""Conversations to test with."""

from __future__ import annotations

from datetime import UTC, datetime

from omoide.domain import Speaker, Turn

NOW = datetime(2026, 1, 5, tzinfo=UTC)


def talk(*said: str, language: str = "en") -> list[Turn]:
    """Turns, the user first and then by turns."""
    return [
        Turn(
            id=f"t{i}",
            session=1,
            position=i,
            speaker=Speaker.USER if i % 2 else Speaker.ASSISTANT,
            text=text,
            time=NOW,
            language=language,
        )
        for i, text in enumerate(said, start=1)
    ]
