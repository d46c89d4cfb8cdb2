"""Checks what a caller limits recall to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import MemoryKind, Speaker
from omoide.domain.text import normal_tags, several
from omoide.domain.time import limit
from omoide.errors import BadInput
from omoide.mechanisms.search.filter import RecallFilter

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

MAX_RECALLED = 1_000
"""Most items of one recall."""


def recall_filter(
    *,
    kinds: Collection[MemoryKind | str],
    usual: frozenset[MemoryKind],
    since: datetime | None,
    until: datetime | None,
    speaker: Speaker | str | None,
    about: str | None,
    tags: Collection[str],
) -> RecallFilter:
    """The filter for these limits, as `Memory.recall` takes them; of the `usual` kinds if none are
    given. Raises `BadInput`."""
    return RecallFilter(
        kinds=checked_recall_kinds(kinds) or usual,
        since=None if since is None else limit(since, "since"),
        until=None if until is None else limit(until, "until"),
        speaker=None if speaker is None else checked_speaker(speaker, "speaker"),
        about=about,
        tags=frozenset(normal_tags(tags)),
    )


def checked_recall_kinds(kinds: Collection[MemoryKind | str]) -> frozenset[MemoryKind]:
    """The kinds to recall; none if none is given."""
    known = {kind.value: kind for kind in MemoryKind}
    named = several(kinds)
    if unknown := [kind for kind in named if kind not in known]:
        raise BadInput(f"there is no kind {unknown[0]!r}; there are {', '.join(known)}")
    return frozenset(known[kind] for kind in named)


def checked_speaker(speaker: Speaker | str, what: str) -> Speaker:
    """Who spoke, if it is one of the two."""
    if speaker not in tuple(Speaker):
        names = " or ".join(Speaker)
        raise BadInput(f"{what} must be {names}, not {speaker!r:.80}; for a person, give about=")
    return Speaker(speaker)


def checked_count(k: int) -> int:
    """How many items to recall, if it is possible."""
    if not isinstance(k, int) or not 1 <= k <= MAX_RECALLED:
        raise BadInput(f"k must be from 1 to {MAX_RECALLED:,}, not {k!r:.80}")
    return k


def checked_budget(budget: int | None) -> int | None:
    """The budget, if it is possible."""
    if budget is not None and (not isinstance(budget, int) or budget < 1):
        raise BadInput(f"budget must be at least 1 token, not {budget!r:.80}")
    return budget
