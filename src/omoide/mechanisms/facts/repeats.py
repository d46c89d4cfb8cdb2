"""What is told again: the known fact that says the same, and the days that it gets by that."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import Trust
from omoide.mechanisms.facts.days import DATED, without_days
from omoide.mechanisms.facts.operations import Action

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from omoide.domain import Fact
    from omoide.mechanisms.facts.operations import Operation


def said_already(new: Fact, known: Iterable[Fact]) -> str:
    """Id of a known fact that says the same, also of one that says besides until when; empty if
    there is none."""
    return next(
        (
            fact.id
            for fact in _alike(new, known)
            if plain(fact.text) == plain(new.text)
            or (_lasts(fact, new) and new.until in (None, fact.until))
        ),
        "",
    )


def with_other_end(new: Fact, known: Iterable[Fact]) -> str:
    """Id of a known fact that says the same with another last day, or with none."""
    return next((fact.id for fact in _alike(new, known) if _lasts(fact, new)), "")


def with_new_days(old: Fact, operation: Operation, sources: tuple[str, ...]) -> Operation | None:
    """The replacement of a fact by itself with the days that a confirmation gives, since what is
    stored is not overwritten; None if it gives none that are new."""
    if old.kind in DATED:
        told = (old.since, old.until) == (None, None) != (operation.since, operation.until)
    else:
        told = operation.until not in (None, old.until)
    if not told or not sources:
        return None
    return replace(
        operation,
        action=Action.REPLACE,
        about=old.about,
        text=without_days(old),
        kind=old.kind,
        facts=(old.id,),
        turns=sources,
        since=operation.since or old.since,
        says_days=True,
    )


def said_by_user(
    old: Fact, own: tuple[str, ...], *, said: datetime, at: datetime, session: int
) -> Fact:
    """A fact that somebody else had said, in the place of which these words of the user stand."""
    return replace(
        old,
        id=fact_id(session, old.about, old.text),
        said=said,
        learned=at,
        session=session,
        sources=own,
        trust=Trust.USER,
        supersedes=(old.id,),
    )


def with_both(earlier: Fact, again: Fact) -> Fact:
    """A fact that two entries of an answer add: it ends what either of them replaces."""
    return replace(
        earlier,
        supersedes=(*earlier.supersedes, *again.supersedes),
        reason=earlier.reason or again.reason,
        flags=tuple(dict.fromkeys((*earlier.flags, *again.flags))),
    )


def fact_id(session: int, about: str, text: str) -> str:
    """An id derived from session, person and text, so that a retry adds nothing."""
    return "f" + hashlib.sha256(f"{session}\n{about}\n{plain(text)}".encode()).hexdigest()[:20]


def plain(text: str) -> str:
    """A text as it is compared with another."""
    return " ".join(text.casefold().rstrip(" .。．").split())


def _alike(new: Fact, known: Iterable[Fact]) -> Iterator[Fact]:
    """The known facts about the same person with the same words but for days in brackets."""
    words = plain(without_days(new))
    for fact in known:
        if fact.is_about(new.about) and plain(without_days(fact)) == words:
            yield fact


def _lasts(*facts: Fact) -> bool:
    """Whether the days of all of them are how long they hold."""
    return not any(fact.kind in DATED for fact in facts)
